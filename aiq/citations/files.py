"""Audits outside of a run: reads reports and sources from disk, and makes the record of an audit for output."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from aiq.citations.audit import EntryFinding, Outcome, ReportAudit
from aiq.citations.documents import looks_like_document
from aiq.citations.metrics import metrics_of
from aiq.citations.passages import CitedPassage, Passage, cited_passages
from aiq.citations.registry import SourceRegistry
from aiq.citations.repair import Edit
from aiq.citations.sanitise import scheme_of
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import Files, jsonl_rows
from aiq.core.plugins import describe
from aiq.core.reports import MatchLevel, RemovedCitation, ValidCitation
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source, SourceKind

RowT = TypeVar("RowT", bound=BaseModel)
STDIN = "-"
_TABLES = (".json", ".csv", ".tsv")
_SOURCE_FIELDS = ("url", "citation_key", "title", "kind", "tool", "call_id", "digest")


class SourceRow(Source):
    """One row of a sources file; unknown fields are ignored, and empty ones count as absent.

    `kind` says whether a tool returned it (`retrieved`), or whether it was only `mentioned` in a
    text or `echoed` from a query or an error. `id` names the report, if the file serves several.
    """

    model_config = ConfigDict(extra="ignore")

    id: str | None = Field(default=None, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, row: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in row.items() if value not in (None, "")}

    @model_validator(mode="after")
    def _can_be_cited(self) -> Self:
        url, key = (self.url or "").strip(), (self.citation_key or "").strip()
        if not (url or key):
            raise ValueError("a source needs a url or a citation_key")
        if url and not scheme_of(url):
            raise ValueError(f"url={self.url!r} is not a URL (https://...); a document's name goes into citation_key")
        return self


class ReportRow(BaseModel):
    """One row of a Deep Research Bench file of reports (`raw_data`): a task's id and prompt, and the report."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(coerce_numbers_to_str=True)
    prompt: str = ""
    article: str


def read_report(name: str) -> str:
    """A report's text, with its line ends and byte order mark; `-` reads standard input.

    Raises UserError if it is not a text.
    """
    if name.removesuffix(".gz").endswith(_TABLES):
        kind = "JSON" if ".json" in name else "a table"
        raise UserError(f"{name} is {kind}; a report is Markdown, and a file of reports is JSONL (.jsonl, .jsonl.gz)")
    try:
        text = sys.stdin.buffer.read().decode() if name == STDIN else Files().text(Path(name), "REPORT", "utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"standard input is not UTF-8 text (byte {error.start}); save the report as UTF-8") from None
    if not text.lstrip("\ufeff").strip() or "\x00" in text[:1000]:
        raise UserError(f"{name} is empty or not text; a report is Markdown, saved as UTF-8")
    return text


def read_sources(path: Path, *, by_report: bool) -> dict[str | None, tuple[Source, ...]]:
    """The sources of a JSONL file, gzipped or not, each once and of every kind, as a run's registry holds them.

    With `by_report` the keys are the reports that rows name (or None), else only None. Raises UserError with the row.
    """
    registries = defaultdict[str | None, SourceRegistry](SourceRegistry)
    for number, row in enumerate(_rows(SourceRow, path, "--sources")):
        registries[row.id if by_report else None].add(row, (number,))
    return {report: registry.known() for report, registry in registries.items()}


def read_reports(path: Path) -> tuple[ReportRow, ...]:
    """The reports of a Deep Research Bench file, gzipped or not. Raises UserError, which names the row."""
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


@dataclass(frozen=True, slots=True)
class CitationRow:
    """One number that a mark cites, or one URL of the body, at `start:end`.

    `entry` is the number of the entry it points to, None if there is none (`number` dangles, or it is
    a URL of the body). `reason` is None if the citation is valid.
    """

    start: int
    end: int
    form: str
    entry: int | None
    number: int | None
    outcome: Outcome | None
    reason: str | None


class EntryRow(Record):
    """A reference entry at `start:end`, with its URL or document as written in the report.

    Only valid entries have `level` and `source` (as the tool returned it). `new_number` is its
    number in the verified report, None if it is removed.
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


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A cited statement at `start:end` and the closest passage of one source that it cites.

    `entry` is None if a URL cites the source, `passage` is None if statement and source share no word.
    """

    start: int
    end: int
    statement: str
    entry: int | None
    source: str
    passage: Passage | None


class AuditRecord(Record):
    """The whole audit of one report. Offsets are code points of the report as given.

    `dangling` and `unused` are numbers of the report as given. Unless `with_sources`, only safety and
    structure were checked. `passages` is empty if they were not requested. `sources` are those that the
    report cites, without their text.
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
    sources: tuple[dict[str, str | None], ...]
    with_sources: bool

    @property
    def clean(self) -> bool:
        """Whether the audit found nothing to remove and no dangling citation."""
        return not (self.removed_citations or self.dangling)


@dataclass(frozen=True)
class AuditCase:
    """A report to audit. `sources` are of every kind, or None if they are unknown; `title` is for display."""

    text: str
    sources: Sequence[Source] | None
    settings: CitationSettings
    sample_id: str | None = None
    epoch: int | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """Sample (or title) and epoch, as shown in a row of a table."""
        return f"{self.sample_id or self.title}{f'.{self.epoch}' if self.epoch and self.epoch > 1 else ''}"


@dataclass(frozen=True)
class AuditedReport:
    """A case and its audit: the verified report, the passages closest to its statements, and the record."""

    case: AuditCase
    verified: Verified
    passages: tuple[CitedPassage, ...]
    record: AuditRecord


def audited(case: AuditCase, *, passages: bool = True) -> AuditedReport:
    """Audit a report; nothing is written. With `passages` the sources' texts are read, which takes most of the time."""
    if case.sources is None:
        verified = verify_against(case.text, None)
    else:
        verified = verify(case.text, case.sources, case.settings)
    report_audit, audit = verified.found, verified.audit
    closest = cited_passages(report_audit) if passages else ()
    findings = [*report_audit.entries, *report_audit.body_urls, *(mark.url for mark in report_audit.marks if mark.url)]
    sources = {id(finding.match.source): finding.match.source for finding in findings if finding.match}
    record = AuditRecord(
        citations=tuple(sorted(_citations(report_audit), key=lambda row: (row.start, row.end))),
        entries=tuple(_entry(finding, verified.numbers.get(p)) for p, finding in enumerate(report_audit.entries)),
        removed_citations=audit.removed_citations,
        valid_citations=audit.valid_citations,
        edits=verified.edits,
        metrics=metrics_of(audit, with_sources=report_audit.with_sources),
        dangling=audit.dangling,
        unused=tuple(report_audit.entries[position].entry.number for position in report_audit.unused),
        uncited_paragraphs=report_audit.uncited_paragraphs,
        passages=tuple(
            PassageRow(statement.start, statement.end, statement.text, cited.entry, cited.source.address, cited.passage)
            for cited in closest
            for statement in (cited.statement,)
        ),
        sources=tuple({name: getattr(source, name) for name in _SOURCE_FIELDS} for source in sources.values()),
        with_sources=report_audit.with_sources,
    )
    return AuditedReport(case, verified, closest, record)


def _citations(audit: ReportAudit) -> Iterator[CitationRow]:
    for finding in audit.marks:
        mark = finding.mark
        for number, position, deciding in audit.cited_by(finding):
            entry = None if position is None else audit.entries[position].entry.number
            yield CitationRow(mark.start, mark.end, mark.form, entry, number, deciding.outcome, deciding.reason)
    for url in audit.body_urls:
        yield CitationRow(url.use.start, url.use.end, url.use.form, None, None, url.outcome, url.reason)


def _entry(finding: EntryFinding, new_number: int | None) -> EntryRow:
    match = finding.match if finding.outcome == "valid" else None
    url = finding.chosen.target if finding.chosen else None
    is_document = url is None and (match is not None or looks_like_document(finding.target))
    return EntryRow(
        number=finding.entry.number,
        new_number=new_number,
        url=url,
        citation_key=finding.target if is_document else None,
        outcome=finding.outcome,
        level=match.level if match else None,
        source=match.source.address if match else None,
        reason=finding.reason,
        start=finding.entry.start,
        end=finding.entry.end,
        text=finding.entry.text,
        marked=match.marked if match else False,
        flags=finding.flags,
        seen_as=finding.seen_as,
    )


def total(audits: Sequence[AuditedReport]) -> dict[str, float | int | None]:
    """The metrics of several reports together: at least one, and either all with sources or all without."""
    verified_audits = (audit.verified.audit for audit in audits)
    return metrics_of(*verified_audits, with_sources=audits[0].record.with_sources)
