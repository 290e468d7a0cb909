"""Reads reports and sources from disk, for people who audit on their own, and writes what comes out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from aiq.citations.registry import SourceRegistry
from aiq.citations.sanitise import scheme_of
from aiq.core.errors import UserError
from aiq.core.files import Files
from aiq.core.plugins import describe
from aiq.core.rows import jsonl_rows
from aiq.core.sources import Source, SourceKind

RowT = TypeVar("RowT", bound=BaseModel)
STDIN = "-"
_NO_TEXT = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "an office document or a zip archive",
    b"\x1f\x8b": "a gzip file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
"""How files begin that people take for reports."""


class SourceRow(BaseModel):
    """One row of a sources file; fields that only other readers know are ignored.

    `kind` says whether a tool returned it (`retrieved`), or whether it was only `mentioned` in a
    text or `echoed` from a query or an error.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str | None = None
    citation_key: str | None = None
    title: str | None = None
    text: str | None = None
    published: str | None = None
    tool: str = ""
    call_id: str = ""
    kind: SourceKind = "retrieved"

    @model_validator(mode="after")
    def _can_be_cited(self) -> Self:
        if not ((self.url or "").strip() or (self.citation_key or "").strip()):
            raise ValueError("a source needs a url or a citation_key")
        if (url := (self.url or "").strip()) and not scheme_of(url):
            raise ValueError(f"url={self.url!r} is no URL (https://...); a document's name goes into citation_key")
        return self

    def source(self) -> Source:
        """The row as a tool would declare it."""
        return Source(
            url=self.url or None,
            citation_key=self.citation_key or None,
            title=self.title or "",
            text=self.text or "",
            published=self.published,
            tool=self.tool,
            call_id=self.call_id,
            kind=self.kind,
        )


class ReportRow(BaseModel):
    """One row of a Deep Research Bench file of reports (`raw_data`): a task's id and prompt, and the report."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    prompt: str = ""
    article: str

    @field_validator("id", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def read_report(name: str) -> str:
    """A report's text, line ends as they are; of `-` from standard input. Raises UserError where there is none."""
    if name.endswith(".json"):
        raise UserError(f"{name} is JSON; a report is Markdown, and a file of reports is JSONL (.jsonl, .jsonl.gz)")
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise UserError(f"{name}: cannot read the report ({error.strerror}); check the path") from None
    shown = "standard input" if name == STDIN else name
    if kind := next((kind for begin, kind in _NO_TEXT.items() if data.startswith(begin)), None):
        raise UserError(f"{shown} is {kind}; a report is Markdown, saved as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{shown}: the report is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    if "\x00" in text[:1000]:
        raise UserError(f"{shown}: this is no text (it holds zero bytes); name a report in Markdown")
    if not text.strip():
        raise UserError(f"{shown}: the report is empty; there is nothing to audit")
    return text


def read_sources(path: Path) -> tuple[Source, ...]:
    """The sources of a JSONL file, gzipped or not, each once and of every kind, as a run's registry holds them.

    Raises UserError that names the row.
    """
    registry = SourceRegistry()
    for number, row in enumerate(_rows(SourceRow, path, "--sources")):
        registry.add(row.source(), (number,))
    return registry.known()


def read_reports(path: Path) -> tuple[ReportRow, ...]:
    """The reports of a Deep Research Bench file, gzipped or not. Raises UserError that names the row."""
    rows = tuple(_rows(ReportRow, path, "REPORT"))
    if not rows:
        raise UserError(f"{path} has no rows; a file of reports has rows with id, prompt and article")
    return rows


def _rows(model: type[RowT], path: Path, setting: str) -> Iterator[RowT]:
    for row in jsonl_rows(Files().text(path, setting), str(path)):
        try:
            yield model.model_validate(row.values)
        except ValidationError as error:
            raise UserError(f"{row.where}: {describe(error)}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file, line ends as they are; half a surrogate pair becomes `?`. Raises UserError where that cannot be."""
    try:
        path.write_bytes(text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


def as_json(value: Any) -> str:
    """Plain data as readable JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
