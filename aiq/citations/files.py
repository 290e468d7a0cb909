"""Audits on their own: reports and sources read from disk, and the audit as a record that can be written."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from aiq.citations.audit import EntryFinding, MarkFinding, Outcome, ReportAudit
from aiq.citations.documents import looks_like_document
from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.metrics import CitationMetrics, metrics_of
from aiq.citations.passages import CitedPassage, cited_passages
from aiq.citations.registry import SourceRegistry
from aiq.citations.repair import Edit
from aiq.citations.sanitise import scheme_of
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import Files, jsonl_rows
from aiq.core.plugins import describe
from aiq.core.reports import MatchLevel, RemovedCitation, ValidCitation
from aiq.core.settings import CitationSettings
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
        return Source(**{name: value for name, value in self.model_dump().items() if value})


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


class CitationRow(Record):
    """One number that a mark cites, or one URL of the body, at `start:end`.

    `entry` is the number of the entry it points to, None where there is none (`number` dangles, or a
    URL points to no list). `reason` is None where the citation is valid.
    """

    start: int
    end: int
    form: str
    entry: int | None
    number: int | None
    outcome: Outcome | None
    reason: str | None


class EntryRow(Record):
    """A reference entry at `start:end`, with its URL or document as the report has it.

    `level` and `source` (as the tool returned it) are those of valid entries. `new_number` is its
    number in the verified report, None where it is removed.
    """

    number: int
    new_number: int | None
    url: str | None
    citation_key: str | None
    outcome: Outcome | None
    level: MatchLevel | None
    source: str | None
    reason: str | None
    start: int
    end: int
    text: str
    marked: bool = False
    flags: tuple[str, ...] = ()
    seen_as: SourceKind | None = None


class PassageText(Record):
    """`start:end` of a source's text; `shared` are the places in `text` of the words that the statement has too."""

    start: int
    end: int
    text: str
    shared: tuple[tuple[int, int], ...]


class PassageRow(Record):
    """A cited statement at `start:end` and the closest passage of one source that it cites.

    `entry` is None where a URL cites it, `passage` where statement and source share no word.
    """

    start: int
    end: int
    statement: str
    entry: int | None
    source: str
    passage: PassageText | None


class CitedSource(Record):
    """A source that the report cites, without its text."""

    url: str | None
    citation_key: str | None
    title: str
    kind: SourceKind
    tool: str
    call_id: str
    digest: str


class AuditRecord(Record):
    """All that an audit says of one report. Offsets are code points of the report as given.

    `dangling` and `unused` are numbers of the report as given. Without sources (`with_sources`) only
    safety and structure were checked. `passages` is empty where they were not asked for.
    """

    citations: tuple[CitationRow, ...]
    entries: tuple[EntryRow, ...]
    removed_citations: tuple[RemovedCitation, ...]
    valid_citations: tuple[ValidCitation, ...]
    edits: tuple[Edit, ...]
    metrics: dict[str, float | int | None]
    dangling: tuple[int, ...]
    unused: tuple[int, ...]
    uncited_paragraphs: tuple[tuple[int, int], ...]
    passages: tuple[PassageRow, ...]
    sources: tuple[CitedSource, ...]
    with_sources: bool

    @property
    def clean(self) -> bool:
        """Whether the audit found nothing to remove, and nothing cited that no list has."""
        return not (self.removed_citations or self.dangling)


def record_of(verified: Verified, passages: Sequence[CitedPassage]) -> AuditRecord:
    """The audit of a report and the passages that are closest to its statements as one record."""
    found = verified.found
    return AuditRecord(
        citations=tuple(sorted(_citations(found), key=lambda row: (row.start, row.end))),
        entries=tuple(_entry(finding, verified.numbers.get(p)) for p, finding in enumerate(found.entries)),
        removed_citations=verified.audit.removed_citations,
        valid_citations=verified.audit.valid_citations,
        edits=verified.edits,
        metrics=metrics_of(verified.audit, with_sources=found.with_sources).by_name(),
        dangling=verified.audit.dangling,
        unused=tuple(found.entries[position].entry.number for position in found.unused),
        uncited_paragraphs=found.uncited_paragraphs,
        passages=tuple(_passage(found, cited) for cited in passages),
        sources=tuple(_sources(found)),
        with_sources=found.with_sources,
    )


def _citations(found: ReportAudit) -> Iterator[CitationRow]:
    for finding in found.marks:
        mark = finding.mark
        for number, position in zip(mark.numbers, finding.entries, strict=True):
            entry = None if position is None else found.entries[position]
            outcome, reason = cited_outcome(finding, entry)
            listed = entry.entry.number if entry else None
            yield _citation(mark, outcome, reason, entry=listed, number=number)
    for url in found.body_urls:
        yield _citation(url.use, url.outcome, url.reason)


def _citation(
    place: Mark | UrlUse,
    outcome: Outcome | None,
    reason: str | None,
    *,
    entry: int | None = None,
    number: int | None = None,
) -> CitationRow:
    return CitationRow(
        start=place.start,
        end=place.end,
        form=place.form,
        entry=entry,
        number=number,
        outcome=outcome,
        reason=reason,
    )


def cited_outcome(mark: MarkFinding, entry: EntryFinding | None) -> tuple[Outcome | None, str | None]:
    """What a citation is worth: its entry, or the URL it leads to; a number without either dangles."""
    if mark.url is not None and (entry is None or mark.url_decides):
        return mark.url.outcome, mark.url.reason
    return (entry.outcome, entry.reason) if entry else ("invalid", "dangling")


def _entry(finding: EntryFinding, new_number: int | None) -> EntryRow:
    match = finding.match if finding.outcome == "valid" else None
    url = finding.chosen.use.url if finding.chosen else None
    named = url is None and (match is not None or looks_like_document(finding.target))
    return EntryRow(
        number=finding.entry.number,
        new_number=new_number,
        url=url,
        citation_key=finding.target if named else None,
        outcome=finding.outcome,
        level=match.level if match else None,
        source=address(match.source) if match else None,
        reason=finding.reason,
        start=finding.entry.place.start,
        end=finding.entry.place.end,
        text=finding.entry.text,
        marked=match.marked if match else False,
        flags=finding.flags,
        seen_as=finding.seen_as,
    )


def _passage(found: ReportAudit, cited: CitedPassage) -> PassageRow:
    closest = cited.passage
    return PassageRow(
        start=cited.statement.start,
        end=cited.statement.end,
        statement=cited.statement.text,
        entry=found.entries[cited.entry].entry.number if cited.entry is not None else None,
        source=address(cited.source),
        passage=PassageText.model_validate(closest, from_attributes=True) if closest else None,
    )


def _sources(found: ReportAudit) -> Iterator[CitedSource]:
    """The sources that anything in the report means, each once, in order of the report."""
    urls = [*found.body_urls, *(mark.url for mark in found.marks if mark.url)]
    matches = [*(entry.match for entry in found.entries), *(url.match for url in urls)]
    cited = {id(match.source): match.source for match in matches if match}
    for source in cited.values():
        yield CitedSource.model_validate(source, from_attributes=True)


def address(source: Source) -> str:
    """A source's URL, or the key of a document."""
    return source.url or source.citation_key or ""


@dataclass(frozen=True)
class AuditCase:
    """`sources` are of every kind; None where nobody knows what was retrieved. `title` is for people."""

    text: str
    sources: Sequence[Source] | None
    settings: CitationSettings
    sample_id: str | None = None
    epoch: int | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """Sample and epoch, as a line of a table names them."""
        return f"{self.sample_id or self.title}{f'.{self.epoch}' if self.epoch and self.epoch > 1 else ''}"


@dataclass(frozen=True)
class AuditedReport:
    """A case and its audit: what was found, the passages closest to what it states, its record and its metrics."""

    case: AuditCase
    verified: Verified
    passages: tuple[CitedPassage, ...]
    record: AuditRecord
    metrics: CitationMetrics


def audited(case: AuditCase, *, passages: bool = True) -> AuditedReport:
    """Audit a report; nothing is written. Without `passages` no source's text is read, which is all that costs time."""
    if case.sources is None:
        verified = verify_against(case.text, None)
    else:
        verified = verify(case.text, case.sources, case.settings)
    closest = cited_passages(verified.found) if passages else ()
    metrics = metrics_of(verified.audit, with_sources=verified.found.with_sources)
    return AuditedReport(case, verified, closest, record_of(verified, closest), metrics)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What stays of one audit among many."""

    sample_id: str | None
    epoch: int | None
    name: str
    record: AuditRecord
    metrics: CitationMetrics

    @classmethod
    def of(cls, audit: AuditedReport) -> "AuditLine":
        case = audit.case
        return cls(case.sample_id, case.epoch, case.name, audit.record, audit.metrics)


def total(lines: Sequence[AuditLine]) -> CitationMetrics:
    """The metrics of several reports together; there is at least one."""
    return reduce(add, (line.metrics for line in lines))


def lines_json(lines: Sequence[AuditLine]) -> dict[str, Any]:
    """Several audits as plain data: each under `reports`, and the metrics of all together."""
    reports = [
        {"sample_id": line.sample_id, "epoch": line.epoch, **line.record.model_dump(mode="json")} for line in lines
    ]
    return {"reports": reports, "metrics": total(lines).by_name()}
