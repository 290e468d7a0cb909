"""Adding files to a collection: those that are new or changed are read, and summarised by rules or by a model.

A summary is shown beside the file's name in the agents' prompts, so that they know what to look for in it.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import resolve
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current
from aiq.core.settings import KnowledgeSettings
from aiq.tools.knowledge.reading import SUFFIXES, read_document
from aiq.tools.knowledge.store import Collection, StoredDocument, digest_of

Summarise = Callable[[str, str, int], Awaitable[str]]
"""Title, text and the most characters to a summary."""

ROLE = "knowledge.summarizer"

MOST_READ = 12_000
"""Characters of a document that the model sees."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+|[-*+]\s+|>\s*)", re.MULTILINE)


class Added(Record):
    """What became of the files: names in order of the command; `summarised` are those that got a new summary."""

    read: tuple[str, ...]
    unchanged: tuple[str, ...]
    summarised: tuple[str, ...]


class _Incoming(Record):
    file_name: str
    digest: str
    body: bytes
    path: Path


def add_files(collection: Collection, paths: Sequence[str], settings: KnowledgeSettings) -> Added:
    """Read new and changed files into the collection, with summaries by rules.

    A file replaces the one of the same name. All are read before anything is written, so that a bad
    file changes nothing. Raises UserError naming the file.
    """
    with collection.changing():
        known = {document.file_name: document for document in collection.documents}
        incoming = _incoming(paths)
        read = {file.digest: read_document(file.path, file.body) for file in incoming if _new(collection, file, known)}
        for digest, text in read.items():
            collection.write_text(digest, text)
        kept = {file.file_name: _document(collection, file, known, settings) for file in incoming}
        if {**known, **kept} != known:
            collection.write_listing(tuple({**known, **kept}.values()))
    return Added(
        read=tuple(file.file_name for file in incoming if file.digest in read),
        unchanged=tuple(file.file_name for file in incoming if file.digest not in read),
        summarised=tuple(name for name, document in kept.items() if document != known.get(name)),
    )


async def summarise(collection: Collection, write: Summarise, settings: KnowledgeSettings) -> tuple[str, ...]:
    """Have a model summarise every document that it has not summarised yet; the names of these, in order.

    The listing is written after each, so that no summary is paid for twice.
    """
    done: list[str] = []
    for document in collection.documents:
        if (document.summarizer, document.summary_chars) == ("model", settings.summary_chars):
            continue
        summary = await write(document.title, collection.text(document.digest).whole, settings.summary_chars)
        update = {"summary": summary, "summarizer": "model", "summary_chars": settings.summary_chars}
        with collection.changing():
            others = [other for other in collection.documents if other.file_name != document.file_name]
            collection.write_listing((*others, document.model_copy(update=update)))
        done.append(document.file_name)
    return tuple(done)


def _incoming(paths: Sequence[str]) -> list[_Incoming]:
    """The files and the readable files of folders, each with its bytes; no two of the same name."""
    found: dict[str, _Incoming] = {}
    for path in (file for text in paths for file in _files(resolve(text))):
        try:
            body = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}; check the name") from None
        other = found.get(path.name)
        if other is not None and other.digest != digest_of(body):
            raise UserError(f"{path}: {other.path} has the same name, and documents are cited by name; rename one")
        found.setdefault(path.name, _Incoming(file_name=path.name, digest=digest_of(body), body=body, path=path))
    return list(found.values())


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not inside:
        raise UserError(f"{path}: the folder holds no {', '.join(SUFFIXES)} file")
    return inside


def _new(collection: Collection, file: _Incoming, known: dict[str, StoredDocument]) -> bool:
    same = known.get(file.file_name)
    return same is None or same.digest != file.digest or not collection.holds(file.digest)


def _document(
    collection: Collection, file: _Incoming, known: dict[str, StoredDocument], settings: KnowledgeSettings
) -> StoredDocument:
    """The listing's entry; the summary of unchanged bytes stays, unless it is by rules and of another length."""
    same = known.get(file.file_name)
    if (
        same is not None
        and same.digest == file.digest
        and (same.summarizer == "model" or same.summary_chars == settings.summary_chars)
    ):
        return same
    text = collection.text(file.digest)
    return StoredDocument(
        file_name=file.file_name,
        title=text.title,
        digest=file.digest,
        page_count=text.page_count,
        summary=by_rules(text.title, text.whole, settings.summary_chars),
        summarizer="rules",
        summary_chars=settings.summary_chars,
    )


def by_rules(title: str, text: str, max_chars: int) -> str:
    """Title and first sentences, as many as fit `max_chars`; at least the title."""
    title = " ".join(title.split())
    summary = title[:max_chars]
    for sentence in _SENTENCE.split(_MARKUP.sub("", text)):
        sentence = " ".join(sentence.split())
        if not sentence or sentence.casefold() in summary.casefold():
            continue
        longer = f"{summary} {sentence}" if summary[-1:] in ".!?。！？" else f"{summary}. {sentence}"
        if len(longer) > max_chars:
            break
        summary = longer
    return summary


async def by_model(title: str, text: str, max_chars: int) -> str:
    """What the model of the role `knowledge.summarizer` says, at most `max_chars` characters.

    Works inside a session; raises ModelError. An empty reply gives the summary by rules.
    """
    prompts = Prompts(Path(__file__).parent / "prompts")
    request = prompts.render("summary.j2", title=title, text=text[:MOST_READ], max_chars=max_chars)
    reply = await current().models.complete(ROLE, [Message(role="user", content=request)])
    said = " ".join(reply.text.split())
    return said[:max_chars] or by_rules(title, text, max_chars)
