"""The plan of a run, made and checked before anything is spent: agent, judges, samples and their documents."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from aiq.agents.base import Agent
from aiq.agents.external.perturbations import PERTURBATIONS
from aiq.core.errors import ConfigError
from aiq.core.run_settings import KnowledgeSettings, RunSettings
from aiq.core.samples import Document, Keys, Question, Sample
from aiq.core.settings import Plugin
from aiq.core.tools import Toolbox
from aiq.experiment.provenance import digest_of, models_of_role
from aiq.experiment.recording import without_keys
from aiq.experiment.resources import check_models
from aiq.judges.base import Judge, make_judge
from aiq.runs.manifest import JudgeSpec, RunSpec, SweepPlace
from aiq.tools.knowledge.store import Collections

if TYPE_CHECKING:
    from aiq.datasets import Dataset

DATA_SOURCE: Final = "documents"


@dataclass(frozen=True)
class JudgePlan:
    """A judge, ready to work, with what it declares. `model`: all models that it asks; None if it asks none."""

    judge: Judge
    spec: JudgeSpec
    model: str | None


@dataclass(frozen=True)
class RunPlan:
    """Everything a run needs that costs no money and opens no connection."""

    settings: RunSettings
    overrides: tuple[str, ...]
    agent: Agent
    agent_settings: Any
    judges: tuple[JudgePlan, ...]
    dataset: "Dataset"
    sweep: SweepPlace | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """The config option at each place of the config; see `compose.compose_with_options`."""

    @cached_property
    def spec(self) -> RunSpec:
        """The rules of the run, with every key, sample by sample."""
        keys = Keys(self.dataset.samples.ids, self.settings.epochs)
        judges = tuple(planned.spec for planned in self.judges)
        return RunSpec(keys, judges, self.settings.runner, self.settings.intervals)


def make_plan(
    settings: RunSettings,
    overrides: Sequence[str] = (),
    sweep: SweepPlace | None = None,
    options: Mapping[str, str] | None = None,
) -> RunPlan:
    """Load and check the parts. Raises ConfigError or DatasetError, in one line."""
    with without_keys(settings):
        return _make_plan(settings, overrides, sweep, options)


def _make_plan(
    settings: RunSettings, overrides: Sequence[str], sweep: SweepPlace | None, options: Mapping[str, str] | None
) -> RunPlan:
    from aiq import datasets

    settings.runner.launcher.validated("runner.launcher")
    agent, agent_settings = settings.agent.make("agent")
    if not inspect.iscoroutinefunction(getattr(agent, "research", None)):
        raise ConfigError(f"agent.target: {settings.agent.target} has no `async def research(question, session)`")
    judges = tuple(_plan_judge(name, plugin, settings) for name, plugin in settings.judge.items())
    owners: dict[str, str] = {}
    perturbations = settings.dataset.given.get("perturbations")
    known = dict.fromkeys((*PERTURBATIONS, *perturbations) if perturbations else ())
    for name, metric in [(planned.spec.name, metric) for planned in judges for metric in planned.spec.metrics]:
        if owners.setdefault(metric.name, name) != name:
            raise ConfigError(f"judge: {owners[metric.name]} and {name} both yield {metric.name}; keep one of them")
        if known and (unknown := {*(metric.notices or ())} - known.keys()):
            raise ConfigError(
                f"judge.{name}: {metric.name} claims to notice {min(unknown)}, which is not a perturbation; "
                f"correct `notices` where the judge declares it (known: {', '.join(known)})"
            )
    dataset = datasets.load(settings.dataset, seed=settings.seed, limit=settings.limit)
    if not dataset.samples:
        raise ConfigError(f"dataset {dataset.name}: the filters leave none of its {dataset.size} samples")
    if settings.knowledge.documents or settings.knowledge.collection or dataset.collections:
        dataset = replace(dataset, samples=datasets.Samples(with_documents(dataset.samples, settings.knowledge)))
    for planned in judges:
        planned.judge.check(dataset.samples)
    return RunPlan(settings, tuple(overrides), agent, agent_settings, judges, dataset, sweep, options or {})


def _plan_judge(name: str, plugin: Plugin, run_settings: RunSettings) -> JudgePlan:
    """The judge, with a hash of all that determines its scores except the reports."""
    judge, settings = make_judge(name, plugin)
    llm = run_settings.llm
    inputs: dict[str, Any] = {
        "target": plugin.target,
        "settings": settings.model_dump(mode="json"),
        "version": judge.version,
        "prompt": judge.prompt_hash,
        "models": {role: llm.setup(role) for role in judge.roles},
    }
    inputs |= {"endpoint": llm.endpoint} if judge.roles else {}
    inputs |= {"web": web_of(run_settings)} if judge.reads_web else {}
    for members in judge.panels.values():
        check_models(llm, f"judge.{name}.panel", members)
    models = {model for role in judge.roles for model in models_of_role(judge, llm, role)}
    spec = JudgeSpec(name=name, version=judge.version, hash=digest_of(inputs), metrics=judge.metrics)
    return JudgePlan(judge, spec, ", ".join(sorted(models)) or None)


def web_of(settings: RunSettings) -> tuple[str, str | None]:
    """Where pages come from: the kind of web, and the corpus if that is the kind."""
    return settings.web.kind, settings.search.corpus if settings.web.kind == "corpus" else None


def blank_question(settings: KnowledgeSettings, thread: str | None = None) -> Question:
    """A question without text, but with a conversation's thread and the documents that its agent may search."""
    question = Question(text="", thread_id=thread, collection_name=settings.collection)
    return with_documents((Sample(id="blank", question=question),), settings)[0].question


def with_documents(samples: Iterable[Sample], settings: KnowledgeSettings) -> tuple[Sample, ...]:
    """The samples, each question listing the documents of its collection if its row lists none.

    Questions that may not search documents list none. Adds `knowledge.documents` to the collection first. Raises
    UserError for a file or collection, ConfigError for a setting.
    """
    _add_documents(settings)

    @cache
    def documents_in(collection: str) -> tuple[Document, ...]:
        entries = Collections(settings.dir).existing(collection).documents
        return tuple(Document(file_name=document.file_name, summary=document.summary) for document in entries)

    def with_list(sample: Sample) -> Sample:
        question = sample.question
        name = question.collection_name or settings.collection
        documents = documents_in(name) if name is not None else ()
        is_barred = question.data_sources is not None and DATA_SOURCE not in question.data_sources
        if is_barred or question.documents or not documents:
            return sample
        return sample.model_copy(update={"question": question.model_copy(update={"documents": documents})})

    return tuple(map(with_list, samples))


def _add_documents(settings: KnowledgeSettings) -> None:
    if not settings.documents:
        return
    if settings.collection is None:
        raise ConfigError("knowledge.documents needs a collection to add them to; name it with knowledge.collection")
    if settings.summarizer == "model":
        raise ConfigError(
            "knowledge.summarizer=model: a run summarises by rules only; add the documents beforehand with "
            f"`aiq documents add FILES --collection {settings.collection} --summarizer model` and leave "
            "knowledge.documents empty"
        )
    Collections(settings.dir).collection(settings.collection).add(settings.documents, settings.summary_chars)


def collections_of(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The collections that questions name, without repetition, in order."""
    return tuple(dict.fromkeys(name for sample in samples if (name := sample.question.collection_name)))


def check_data_sources(samples: Sequence[Sample], tools: Toolbox) -> None:
    """Raises ConfigError if a question names a data source that no tool of the run serves."""
    known = {tool.data_source for tool in tools.select(None) if tool.data_source}
    requests = ((sample.id, name) for sample in samples for name in sample.question.data_sources or ())
    for sample, name in requests:
        if name not in known:
            remedy = {"papers": "; set papers.provider", DATA_SOURCE: "; set knowledge.collection"}.get(name, "")
            raise ConfigError(
                f"sample {sample}: no tool of this run serves the data source '{name}' "
                f"(there are: {', '.join(sorted(known)) or 'none'}){remedy}"
            )
