"""The page of one audited report: the report with every citation in the colour of its outcome, in one file.

Nothing of it needs a network or a script; a card with source and passage opens on hover and on focus.

What the page of an audit shows: citations as chips with a card each, entries, counts. No HTML here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiq import __version__
from aiq.citations.audit import NO_SOURCES, EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.files import AuditedReport, address, cited_outcome
from aiq.citations.links import UrlUse
from aiq.citations.match import Match
from aiq.citations.passages import CitedPassage
from aiq.site.markdown import Piece, annotated, environment, style

EXPLAINED: Mapping[str, str] = {
    "exact": "the address of the source",
    "truncation": "cut off, and only one source begins so",
    "prefix": "the beginning of only one source's address",
    "child_path": "a page below a source: the page itself was not retrieved",
    "query_subset": "a source's address without some of its parameters",
    "document": "a retrieved document",
    "url_not_in_registry": "no tool returned this address",
    "citation_key_not_in_registry": "no tool returned this document",
    "unverifiable": "neither an address that can be read nor a document",
    "dangling": "no reference list has this number",
    "unsafe_scheme": "an address that runs code, opens a local file, or is not of the web",
    "shortened_url": "a short link, which hides where it leads",
    "ip_address_url": "a bare IP address",
    "private_host": "a name that the public cannot reach",
    "truncated_url": "cut off or garbled, and no source it could mean",
    NO_SOURCES: "not checked: no sources were given",
    "mentioned": "a retrieved page mentions the address, but nobody fetched it",
    "echoed": "the address stood in the agent's own query or in an error",
    "homograph_host": "the host's name looks like another one",
}
"""What levels, reasons and flags mean, in a reader's words."""

_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_GRAVEST = ("unsafe", "invalid", "unverifiable", "duplicate", "unchecked", "valid")
OUTCOMES = _GRAVEST[::-1]


@dataclass(frozen=True, slots=True)
class Target:
    """What one number, or one URL, comes to. `cause` is the level or the reason, `notes` what else is odd."""

    label: str
    outcome: str
    cause: str
    url: str
    match: Match | None
    notes: tuple[str, ...] = ()
    entry: int | None = None

    @property
    def explained(self) -> str:
        """The cause in a reader's words."""
        if self.cause.startswith("duplicate_of_citation_"):
            return f"the same source as entry {self.cause.rpartition('_')[2]}"
        return EXPLAINED.get(self.cause, "")

    @property
    def address(self) -> str | None:
        """The source's URL or document, as the tool returned it."""
        return address(self.match.source) if self.match else None


@dataclass(frozen=True, slots=True)
class Closest:
    """Where a source comes closest to the statement that cites it; `missing` says why there is no such place."""

    label: str
    pieces: tuple[tuple[str, bool], ...]
    """The passage in pieces, each with whether the statement has its words too."""
    missing: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark or a URL of the body: where it stands, what it comes to, where its sources come closest."""

    id: str
    start: int
    end: int
    shown: str
    targets: tuple[Target, ...]
    passages: tuple[Closest, ...]
    label: tuple[int, int] = (0, 0)
    """Words of a link, which stay as they are."""

    @property
    def outcome(self) -> str:
        """The gravest of its targets."""
        return gravest(target.outcome for target in self.targets)

    @property
    def removed(self) -> bool:
        """Whether the verified report lacks it: a URL of the text where it is unsafe, a mark where no number stays."""
        if self.id.startswith("u"):
            return self.outcome == "unsafe"
        return all(target.outcome in ("unsafe", "invalid", "unverifiable") for target in self.targets)


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a reference list, with the times that it is cited."""

    position: int
    number: int
    target: Target
    finding: EntryFinding
    times: int
    first: str | None
    """The first citation that points to it."""
    before: str
    """What stands between it and the entry above, or the list's heading."""

    @property
    def name(self) -> str:
        """A few words to know it by."""
        source = self.target.match.source if self.target.match else None
        words = _ADDRESS.sub("", self.finding.entry.text).strip(" \t\r\n-–—:：.,|*").rstrip("([< ")
        return (source.title if source else "") or words[:120] or self.target.url


def gravest(outcomes: Iterator[str]) -> str:
    """The outcome that a reader should see first."""
    given = set(outcomes)
    return next((outcome for outcome in _GRAVEST if outcome in given), "unchecked")


def citations(audit: AuditedReport) -> list[Citation]:
    """The citations of the text in order."""
    found = audit.verified.found
    by_mark: dict[int, list[CitedPassage]] = {}
    by_url: dict[int, list[CitedPassage]] = {}
    for cited in audit.passages:
        for mark in cited.statement.marks:
            by_mark.setdefault(mark, []).append(cited)
        for url in cited.statement.body_urls:
            by_url.setdefault(url, []).append(cited)
    shown = [_of_mark(found, number, mark, by_mark.get(number, [])) for number, mark in enumerate(found.marks)]
    shown += [_of_url(found, number, url, by_url.get(number, [])) for number, url in enumerate(found.body_urls)]
    return sorted(shown, key=lambda citation: (citation.start, citation.end))


def _of_mark(found: ReportAudit, number: int, mark: MarkFinding, passages: Sequence[CitedPassage]) -> Citation:
    place = mark.mark
    targets = []
    for cited, position in zip(place.numbers, mark.entries, strict=True):
        entry = None if position is None else found.entries[position]
        outcome, reason = cited_outcome(mark, entry)
        if entry is not None and not mark.url_decides:
            targets.append(_entry_target(entry, position))
        else:
            target = Target(f"[{cited}]", outcome or "unchecked", reason or "", "", None)
            targets.append(_url_target(f"[{cited}]", mark.url) if mark.url else target)
    sources = [target.match.source for target in targets if target.match]
    closest = tuple(_closest(found, cited) for cited in passages if any(cited.source is source for source in sources))
    text = found.report.text
    shown = text[place.start : place.end]
    if "](" in shown or shown.startswith("<"):  # a link or a tag, of which a reader sees the numbers
        shown = f"[{text[slice(*place.items)]}]"
    return Citation(f"m{number}", place.start, place.end, shown, tuple(targets), closest)


def _of_url(found: ReportAudit, number: int, url: UrlFinding, passages: Sequence[CitedPassage]) -> Citation:
    use = url.use
    match = url.match
    closest = tuple(_closest(found, cited) for cited in passages if match is not None and cited.source is match.source)
    target = _url_target("URL", url)
    return Citation(f"u{number}", use.start, use.end, use.url, (target,), closest, _words(found.report.text, use))


def _words(text: str, use: UrlUse) -> tuple[int, int]:
    return use.label if use.kind in ("link", "image") and text[slice(*use.label)].strip() else (0, 0)


def _entry_target(entry: EntryFinding, position: int | None) -> Target:
    match = entry.match if entry.kept or entry.duplicate_of is not None else None
    cause = match.level if match and entry.outcome == "valid" else entry.reason or ""
    notes = (*entry.flags, *((entry.seen_as,) if entry.seen_as else ()))
    label = f"[{entry.entry.number}]"
    return Target(label, entry.outcome or "unchecked", cause, entry.target, match, notes, position)


def _url_target(label: str, url: UrlFinding) -> Target:
    cause = url.match.level if url.match else url.reason or ""
    notes = (*url.flags, *((url.seen_as,) if url.seen_as else ()))
    return Target(label, url.outcome or "unchecked", cause, url.use.url, url.match, notes)


def _closest(found: ReportAudit, cited: CitedPassage) -> Closest:
    label = f"[{found.entries[cited.entry].entry.number}]" if cited.entry is not None else "URL"
    if cited.passage is None:
        why = "it shares no word with the sentence" if cited.source.text.strip() else "no text of it was kept"
        return Closest(label, (), why)
    text, at = cited.passage.text, 0
    pieces: list[tuple[str, bool]] = []
    for start, end in cited.passage.shared:
        pieces += [(text[at:start], False), (text[start:end], True)]
        at = end
    return Closest(label, (*pieces, (text[at:], False)), "")


def listed(audit: AuditedReport, shown: Sequence[Citation]) -> list[Listed]:
    """The entries of all reference lists in order."""
    found = audit.verified.found
    cited: dict[int, list[str]] = {}
    for citation in shown:
        for target in citation.targets:
            if target.entry is not None:
                cited.setdefault(target.entry, []).append(citation.id)
    result = []
    for position, entry in enumerate(found.entries):
        result.append(
            Listed(
                position=position,
                number=entry.entry.number,
                target=_entry_target(entry, position),
                finding=entry,
                times=len(cited.get(position, ())),
                first=next(iter(cited.get(position, ())), None),
                before=_before(found, position),
            )
        )
    return result


def _before(found: ReportAudit, position: int) -> str:
    """The words above an entry that belong to its list, without signs of Markdown around them."""
    entry, text = found.entries[position].entry, found.report.text
    above = found.entries[position - 1].entry if position else None
    same = above is not None and above.section == entry.section
    start = above.place.end if above is not None and same else found.report.lists[entry.section].start
    return text[start : entry.place.start].strip("#*_>=-|:： \t\r\n")


def counts(outcomes: Iterator[str]) -> list[tuple[str, int]]:
    """How often each outcome occurs, in one order."""
    found = Counter(outcomes)
    return [(outcome, found[outcome]) for outcome in OUTCOMES if found[outcome]]


def audit_page(audit: AuditedReport) -> str:
    """The page as HTML."""
    templates = environment()
    templates.filters["explained"] = lambda word: EXPLAINED.get(word, word)
    shown = citations(audit)
    entries = listed(audit, shown)
    macros = templates.get_template("audit_parts.html.j2").module
    page: str = templates.get_template("audit.html.j2").render(
        title=audit.case.title or "a report",
        version=__version__,
        case=audit.case,
        record=audit.record,
        checked=audit.verified.found.with_sources,
        report=annotated(audit.case.text, _pieces(audit.verified.found, shown, entries, macros)),
        entries=entries,
        citation_counts=counts(citation.outcome for citation in shown),
        entry_counts=counts(entry.target.outcome for entry in entries),
        style=style("style.css", "audit.css"),
    )
    return page


def _pieces(found: ReportAudit, shown: Sequence[Citation], entries: Sequence[Listed], macros: Any) -> Iterator[Piece]:
    """What stands in place of citations and reference lists, and at the end of paragraphs that cite nothing."""
    for citation in shown:
        if citation.label == (0, 0):
            yield Piece(citation.start, citation.end, str(macros.chip(citation)))
        else:
            yield Piece(citation.start, citation.label[0], str(macros.chip_start(citation)))
            yield Piece(citation.label[1], citation.end, str(macros.chip_end(citation)))
    for number, place in enumerate(found.report.lists):
        own = [entry for entry in entries if entry.finding.entry.section == number]
        yield Piece(place.start, place.end, str(macros.entry_list(own)), block=True)
    for _, end in found.uncited_paragraphs:
        yield Piece(end, end, str(macros.uncited()))
