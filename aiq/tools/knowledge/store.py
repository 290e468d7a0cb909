"""Collections of documents on disk: the text of each file, so that an unchanged one is never read again.

`DIR/COLLECTION/collection.json` lists the documents; the text of each is beside it as `DIGEST.json`. Both are written
under another name and renamed, so that a reader sees either the old state or the new one.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import resolve
from aiq.core.plugins import describe
from aiq.tools.knowledge.reading import SUFFIXES, ReadDocument, read_document
from aiq.tools.knowledge.summaries import summarise_by_rules

_NAME = re.compile(r"\w[\w.-]{0,99}")

RecordT = TypeVar("RecordT", bound=BaseModel)


class StoredDocument(Record):
    """A file of a collection. `digest`: of its bytes. `summary_chars`: the length that the summary was limited to."""

    file_name: str
    title: str
    digest: str
    page_count: int | None
    summary: str
    summarizer: Literal["rules", "model"]
    summary_chars: int


class Listing(Record):
    """`collection.json`: the documents by file name."""

    schema_version: Literal[1] = 1
    documents: tuple[StoredDocument, ...] = ()


class Collection:
    """One collection of a knowledge folder; it exists once a document has been added."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._folder = folder
        self._listing = folder / "collection.json"

    @property
    def documents(self) -> tuple[StoredDocument, ...]:
        """By file name. Raises UserError if the listing is damaged."""
        return _read(self._listing, Listing).documents if self._listing.exists() else ()

    def text(self, digest: str) -> ReadDocument:
        """The text of the file with this digest. Raises UserError if it is missing or damaged."""
        return _read(self._text(digest), ReadDocument)

    def add(self, paths: Sequence[str], summary_chars: int) -> dict[str, bool]:
        """Add files and the readable files of folders, summarised by rules; by name, whether each had to be read.

        A file replaces the one of the same name. Raises UserError naming a bad file, before anything is written.
        """
        with self._changing():
            stored = {document.file_name: document for document in self.documents}
            digests, texts = {}, {}
            for path, body in _bodies(paths).items():
                old, digest = stored.get(path.name), hashlib.sha256(body).hexdigest()[:32]
                digests[path.name] = digest
                if old is None or old.digest != digest or not self._text(digest).exists():
                    texts[digest] = read_document(path, body)
            for digest, text in texts.items():
                _write(self._text(digest), text)
            self._put(self._entry(stored.get(name), name, digests[name], summary_chars) for name in digests)
        return {name: digest in texts for name, digest in digests.items()}

    async def summarise(self, write: Callable[[str, str, int], Awaitable[str]], chars: int) -> tuple[str, ...]:
        """Summarise the documents by `write`, given title, text and maximum length; returns the names of those done.

        The listing is written after each, so that no summary is paid for twice.
        """
        updated = []
        for document in self.documents:
            if (document.summarizer, document.summary_chars) != ("model", chars):
                summary = await write(document.title, self.text(document.digest).whole, chars)
                update = {"summary": summary, "summarizer": "model", "summary_chars": chars}
                with self._changing():
                    self._put([document.model_copy(update=update)])
                updated.append(document.file_name)
        return tuple(updated)

    def _entry(self, old: StoredDocument | None, name: str, digest: str, chars: int) -> StoredDocument:
        """The document's entry; an unchanged file keeps its summary unless that is by rules and of another length."""
        if old is not None and old.digest == digest and (old.summarizer == "model" or old.summary_chars == chars):
            return old
        text = self.text(digest)
        return StoredDocument(
            file_name=name,
            title=text.title,
            digest=digest,
            page_count=text.page_count,
            summary=summarise_by_rules(text.title, text.whole, chars),
            summarizer="rules",
            summary_chars=chars,
        )

    def _put(self, documents: Iterable[StoredDocument]) -> None:
        """List these, each replacing the one of its name, and delete the texts that are no longer listed."""
        stored = {document.file_name: document for document in self.documents}
        updated = stored | {document.file_name: document for document in documents}
        if updated == stored:
            return
        _write(self._listing, Listing(documents=tuple(updated[name] for name in sorted(updated))))
        current_files = {self._listing, *(self._text(document.digest) for document in updated.values())}
        for file in self._folder.glob("*.json"):
            if file not in current_files:
                file.unlink()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Create the folder and keep other commands from changing it meanwhile; waits for one that is doing so."""
        from filelock import FileLock

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{self._folder}: {error.strerror}"
            raise UserError(f"{reason}; set knowledge.dir to a folder that can be created") from None
        with FileLock(self._folder / ".lock"):
            yield

    def _text(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"


class Collections:
    """All collections below one folder (`knowledge.dir`)."""

    def __init__(self, folder: str) -> None:
        self._folder = resolve(folder)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(file.parent.name for file in self._folder.glob("*/collection.json")))

    def collection(self, name: str) -> Collection:
        """The collection of that name, whether it exists or not. Raises UserError for an invalid name."""
        if not _NAME.fullmatch(name):
            raise UserError(f"collection '{name}': use letters, digits, dots, dashes and underscores for its name")
        return Collection(self._folder / name)

    def existing(self, name: str) -> Collection:
        """The collection of that name. Raises UserError naming the existing ones if there is none."""
        if name not in self.names():
            available = ", ".join(self.names()) or "none yet"
            raise UserError(
                f"collection '{name}': there is none in {self._folder} (there are: {available}); "
                f"create it with `aiq documents add FILES --collection {name}`"
            )
        return self.collection(name)


def _bodies(paths: Sequence[str]) -> dict[Path, bytes]:
    """The bytes of each file. Raises UserError for two different files of the same name."""
    by_name: dict[str, tuple[Path, bytes]] = {}
    for path in (file for text in paths for file in _files(resolve(text))):
        try:
            body = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror}); check the name") from None
        first_path, first_body = by_name.setdefault(path.name, (path, body))
        if first_body != body:
            raise UserError(f"{path}: {first_path} has the same name, and documents are cited by name; rename one")
    return dict(by_name.values())


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise UserError(f"{path}: the folder holds no {', '.join(SUFFIXES)} file")
    return files


def left_out(paths: Sequence[str]) -> Counter[str]:
    """How many files of these folders have a suffix that cannot be read, by suffix; hidden ones are not counted."""
    files = (file.relative_to(folder) for folder in map(resolve, paths) for file in folder.rglob("*") if file.is_file())
    visible = (file for file in files if not any(part.startswith(".") for part in file.parts))
    return Counter(file.suffix.lower() or file.name for file in visible if file.suffix.lower() not in SUFFIXES)


def _read(path: Path, model: type[RecordT]) -> RecordT:
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = describe(error) if isinstance(error, ValidationError) else error.strerror
        raise UserError(f"{path}: {reason}; delete its folder and add the documents again") from None


def _write(path: Path, value: BaseModel) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(value.model_dump_json(indent=1), encoding="utf-8")
    temporary.replace(path)
