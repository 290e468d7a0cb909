"""An audit as it is written to a file: each citation, entry, passage and edit with its place in the report as given."""

from collections.abc import Iterator, Sequence

from aiq.citations.documents import looks_like_document
from aiq.citations.edits import Edit
from aiq.citations.findings import EntryFinding, MarkFinding, Outcome, ReportAudit
from aiq.citations.metrics import metrics_of
from aiq.citations.passages import CitedPassage
from aiq.citations.verify import Verified
from aiq.core.audit import MatchLevel, RemovedCitation, ValidCitation
from aiq.core.base import Record
from aiq.core.sources import Source, SourceKind


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
    for mark in found.marks:
        for number, position in zip(mark.mark.numbers, mark.entries, strict=True):
            entry = None if position is None else found.entries[position]
            outcome, reason = cited_outcome(mark, entry)
            yield CitationRow(
                start=mark.mark.start,
                end=mark.mark.end,
                form=mark.mark.form,
                entry=entry.entry.number if entry else None,
                number=number,
                outcome=outcome,
                reason=reason,
            )
    for url in found.body_urls:
        yield CitationRow(
            start=url.use.start,
            end=url.use.end,
            form=url.use.form,
            entry=None,
            number=None,
            outcome=url.outcome,
            reason=url.reason,
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
        passage=PassageText(start=closest.start, end=closest.end, text=closest.text, shared=closest.shared)
        if closest
        else None,
    )


def _sources(found: ReportAudit) -> Iterator[CitedSource]:
    """The sources that anything in the report means, each once, in order of the report."""
    matches = [*(e.match for e in found.entries), *(u.match for u in found.body_urls)]
    matches += [mark.url.match for mark in found.marks if mark.url]
    cited = {id(match.source): match.source for match in matches if match}
    for source in cited.values():
        yield CitedSource(
            url=source.url,
            citation_key=source.citation_key,
            title=source.title,
            kind=source.kind,
            tool=source.tool,
            call_id=source.call_id,
            digest=source.digest,
        )


def address(source: Source) -> str:
    """A source's URL, or the key of a document."""
    return source.url or source.citation_key or ""
