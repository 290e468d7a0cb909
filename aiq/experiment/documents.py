"""What the questions of a run may look into: its documents are added, its collections checked and listed."""

from collections.abc import Mapping, Sequence

from aiq.core.errors import ConfigError
from aiq.core.samples import Document, Question, Sample
from aiq.core.settings import KnowledgeSettings
from aiq.core.tools import Toolbox
from aiq.tools.knowledge.adding import add_files
from aiq.tools.knowledge.store import Shelf

DATA_SOURCE = "documents"


def with_documents(samples: Sequence[Sample], settings: KnowledgeSettings) -> tuple[Sample, ...]:
    """The samples, each question listing the documents of its collection where its row lists none.

    Adds `knowledge.documents` first. Raises UserError for a file or collection, ConfigError for a setting.
    """
    _add(settings)
    listed: dict[str, tuple[Document, ...]] = {}
    for sample in samples:
        name = sample.question.collection_name or settings.collection
        if name is not None and name not in listed:
            listed[name] = _documents(name, settings)
    return tuple(sample.model_copy(update={"question": _with(sample.question, settings, listed)}) for sample in samples)


def collections_of(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The collections that questions name, each once, in order."""
    return tuple(dict.fromkeys(name for sample in samples if (name := sample.question.collection_name)))


def check_data_sources(samples: Sequence[Sample], tools: Toolbox) -> None:
    """Raises ConfigError where a question names a data source that no tool of the run serves."""
    known = {tool.data_source for tool in tools.select(None) if tool.data_source}
    for sample in samples:
        for name in sample.question.data_sources or ():
            if name not in known:
                remedy = {"papers": "; set papers.provider", DATA_SOURCE: "; set knowledge.collection"}.get(name, "")
                raise ConfigError(
                    f"sample {sample.id}: no tool of this run serves the data source '{name}' "
                    f"(there are: {', '.join(sorted(known)) or 'none'}){remedy}"
                )


def _add(settings: KnowledgeSettings) -> None:
    if not settings.documents:
        return
    if settings.collection is None:
        raise ConfigError("knowledge.documents are added to a collection; name it with knowledge.collection")
    if settings.summarizer == "model":
        raise ConfigError(
            "knowledge.summarizer=model: a run summarises by rules only; add the documents before it with "
            f"`aiq documents add FILES --collection {settings.collection} --summarizer model` and leave "
            "knowledge.documents empty"
        )
    add_files(Shelf(settings.dir).collection(settings.collection), settings.documents, settings)


def _documents(name: str, settings: KnowledgeSettings) -> tuple[Document, ...]:
    stored = Shelf(settings.dir).existing(name).documents
    return tuple(Document(file_name=document.file_name, summary=document.summary) for document in stored)


def _with(question: Question, settings: KnowledgeSettings, listed: Mapping[str, tuple[Document, ...]]) -> Question:
    """The question with its collection and documents; one that may not search documents is told of none."""
    name = question.collection_name or settings.collection
    barred = question.data_sources is not None and DATA_SOURCE not in question.data_sources
    if name is None or barred or question.documents:
        return question
    return question.model_copy(update={"documents": listed[name]})
