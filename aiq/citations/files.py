"""Reads a report and a file of sources from disk, for people who audit on their own."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from aiq.core.errors import UserError
from aiq.core.sources import Source


class SourceRow(BaseModel):
    """One row of a sources file; fields that only other readers know are ignored.

    `kind` says whether a tool returned it (`retrieved`), or whether it was only `mentioned` in a
    text or `echoed` from a query or an error: these two verify nothing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str | None = None
    citation_key: str | None = None
    title: str | None = None
    text: str | None = None
    published: str | None = None
    tool: str = ""
    call_id: str = ""
    kind: Literal["retrieved", "mentioned", "echoed"] = "retrieved"

    @model_validator(mode="after")
    def _can_be_cited(self) -> Self:
        if not (self.url or self.citation_key):
            raise ValueError("needs a url or a citation_key")
        return self

    def source(self) -> Source:
        """The row as the registry holds it."""
        return Source(
            url=self.url or None,
            citation_key=self.citation_key or None,
            title=self.title or "",
            text=self.text or "",
            published=self.published,
            tool=self.tool,
            call_id=self.call_id,
        )


def read_report(path: Path) -> str:
    """A report's text, line ends as they are. Raises UserError where there is none to read."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot read the report ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: the report is not UTF-8 (byte {error.start})") from None


def read_sources(path: Path) -> tuple[Source, ...]:
    """The retrieved sources of a JSONL file, gzipped or not. Raises UserError that names the row."""
    rows = (_row(path, number, line) for number, line in _lines(path))
    return tuple(row.source() for row in rows if row.kind == "retrieved")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot read the sources ({error.strerror or error})") from None
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: the sources are not UTF-8 lines of JSON ({error})") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _row(path: Path, number: int, line: str) -> SourceRow:
    try:
        return SourceRow.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{path}, line {number}: {where + ': ' if where else ''}{message}") from None


def write_report(path: Path, text: str) -> None:
    """Write a report, line ends as they are. Raises UserError where that cannot be."""
    try:
        path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    except OSError as error:
        raise UserError(f"{path}: cannot write the report ({error.strerror})") from None
