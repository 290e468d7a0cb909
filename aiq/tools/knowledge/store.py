"""Collections of documents on disk: what was read of each file, so that an unchanged one is never read again.

`DIR/COLLECTION/collection.json` lists the documents; the text of each lies beside it as `DIGEST.json`. Both are written
under another name and renamed, so that a reader meets the old state or the new one.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import resolve
from aiq.core.plugins import describe
from aiq.tools.knowledge.reading import ReadDocument

_NAME = re.compile(r"\w[\w.-]{0,99}")

RecordT = TypeVar("RecordT", bound=BaseModel)


class StoredDocument(Record):
    """A file of a collection. `digest`: of its bytes. `summarizer`: who wrote the summary, and of what length."""

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
    """One collection of a knowledge folder; it exists once a document was added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.name

    @property
    def documents(self) -> tuple[StoredDocument, ...]:
        """By file name. Raises UserError where the listing is damaged."""
        path = self._folder / "collection.json"
        return _read(path, Listing).documents if path.exists() else ()

    def text(self, digest: str) -> ReadDocument:
        """What was read of the file with these bytes. Raises UserError where that is absent or damaged."""
        return _read(self._folder / f"{digest}.json", ReadDocument)

    def holds(self, digest: str) -> bool:
        """Whether a file with these bytes was read before."""
        return (self._folder / f"{digest}.json").exists()

    def write_text(self, digest: str, read: ReadDocument) -> None:
        _write(self._folder / f"{digest}.json", read)

    def write_listing(self, documents: tuple[StoredDocument, ...]) -> None:
        """Replace the listing and drop the texts that it no longer names."""
        ordered = tuple(sorted(documents, key=lambda document: document.file_name))
        _write(self._folder / "collection.json", Listing(documents=ordered))
        named = {f"{document.digest}.json" for document in ordered} | {"collection.json"}
        for file in self._folder.glob("*.json"):
            if file.name not in named:
                file.unlink()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make its folder and keep other commands from changing it meanwhile; waits for one that does."""
        from filelock import FileLock

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{self._folder}: {error.strerror}"
            raise UserError(f"{reason}; set knowledge.dir to a folder that can be made") from None
        with FileLock(self._folder / ".lock"):
            yield


class Collections:
    """All collections below one folder (`knowledge.dir`)."""

    def __init__(self, folder: str) -> None:
        self._folder = resolve(folder)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(file.parent.name for file in self._folder.glob("*/collection.json")))

    def collection(self, name: str) -> Collection:
        """The collection of that name, whether it exists or not. Raises UserError for what cannot be a name."""
        if not _NAME.fullmatch(name):
            raise UserError(f"collection '{name}': use letters, digits, dots, dashes and underscores for its name")
        return Collection(self._folder / name)

    def existing(self, name: str) -> Collection:
        """The collection of that name. Raises UserError naming those that there are."""
        if name not in self.names():
            there = ", ".join(self.names()) or "none yet"
            raise UserError(
                f"collection '{name}': there is none in {self._folder} (there are: {there}); "
                f"make it with `aiq documents add FILES --collection {name}`"
            )
        return self.collection(name)


def digest_of(body: bytes) -> str:
    """First 32 hex digits of the SHA-256 of a file."""
    return hashlib.sha256(body).hexdigest()[:32]


def _read(path: Path, model: type[RecordT]) -> RecordT:
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; delete its folder and add the documents again") from None
    except ValidationError as error:
        raise UserError(f"{path}: {describe(error)}; delete its folder and add the documents again") from None


def _write(path: Path, value: BaseModel) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(value.model_dump_json(indent=1), encoding="utf-8")
    new.replace(path)
