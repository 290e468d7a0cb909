"""The page of one audited report: the report with each citation in the colour of its outcome, in one HTML file.

It needs no network and no script; a card with source and closest passage opens on hover and on focus.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiq import __version__
from aiq.citations.audit import NO_SOURCES, EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.files import AuditedReport, address, cited_outcome
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
"""Match levels, reasons and flags in a reader's words."""

OUTCOMES = ("valid", "unchecked", "duplicate", "unverifiable", "invalid", "unsafe")
"""From the best to the gravest."""

_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """What one cited number, or one URL, comes to; `entry` is the position of the entry that it points to.

    `cause` is the level of the match or the reason why there is none, `notes` what else is odd.
    """

    label: str
    outcome: str
    cause: str
    url: str = ""
    match: Match | None = None
    notes: tuple[str, ...] = ()
    entry: int | None = None

    @classmethod
    def of(cls, label: str, found: EntryFinding | UrlFinding, entry: int | None = None) -> "Target":
        url = found.target if isinstance(found, EntryFinding) else found.use.url
        cause = found.match.level if found.match and found.outcome == "valid" else found.reason or ""
        notes = (*found.flags, *((found.seen_as,) if found.seen_as else ()))
        return cls(label, found.outcome or "unchecked", cause, url, found.match, notes, entry)

    @property
    def address(self) -> str:
        """The source's URL or document, as the tool returned it."""
        return address(self.match.source) if self.match else ""


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark or a URL of the body at `start:end`, and the passages where its sources come closest, with labels.

    `words` is the place of a link's words, which stay as they are.
    """

    id: str
    start: int
    end: int
    shown: str
    targets: tuple[Target, ...]
    passages: tuple[tuple[str, CitedPassage], ...]
    words: tuple[int, int] = (0, 0)

    @property
    def outcome(self) -> str:
        """The gravest of its targets."""
        return max((target.outcome for target in self.targets), key=OUTCOMES.index, default="unchecked")

    @property
    def removed(self) -> bool:
        """Whether the verified report lacks it: a URL of the text where it is unsafe, a mark where no number stays."""
        gone = ("unsafe",) if self.id.startswith("u") else ("unsafe", "invalid", "unverifiable")
        return all(target.outcome in gone for target in self.targets)


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a reference list; `cited` are the ids of its citations, `before` the words above it in its list."""

    position: int
    finding: EntryFinding
    target: Target
    cited: tuple[str, ...]
    before: str

    @property
    def name(self) -> str:
        """A few words to know it by."""
        title = self.target.match.source.title if self.target.match else ""
        words = _ADDRESS.sub("", self.finding.entry.text).strip(" \t\r\n-–—:：.,|*").rstrip("([< ")
        return title or words[:120] or self.target.url


def audit_page(audit: AuditedReport) -> str:
    """The page as HTML."""
    templates = environment()
    templates.filters |= {"explained": explained, "pieces": _pieces_of}
    found = audit.verified.found
    citations = _citations(audit)
    entries = list(_entries(found, citations))
    macros = templates.get_template("audit_parts.html.j2").module
    page: str = templates.get_template("audit.html.j2").render(
        title=audit.case.title or "a report",
        version=__version__,
        case=audit.case,
        record=audit.record,
        report=annotated(audit.case.text, _annotations(found, citations, entries, macros)),
        entries=entries,
        citation_counts=_counts(citation.outcome for citation in citations),
        entry_counts=_counts(entry.target.outcome for entry in entries),
        style=style("style.css", "audit.css"),
    )
    return page


def explained(word: str) -> str:
    """A level, reason or flag in a reader's words, empty where there is nothing to add."""
    if word.startswith("duplicate_of_citation_"):
        return f"the same source as entry {word.rpartition('_')[2]}"
    return EXPLAINED.get(word, "")


def _counts(outcomes: Iterable[str]) -> list[tuple[str, int]]:
    found = Counter(outcomes)
    return [(outcome, found[outcome]) for outcome in OUTCOMES if found[outcome]]


def _citations(audit: AuditedReport) -> list[Citation]:
    """The citations of the text in order."""
    found, text = audit.verified.found, audit.verified.found.report.text
    passages: dict[str, list[CitedPassage]] = defaultdict(list)
    for cited in audit.passages:
        for name in (*(f"m{n}" for n in cited.statement.marks), *(f"u{n}" for n in cited.statement.body_urls)):
            passages[name].append(cited)
    result = []
    for number, mark in enumerate(found.marks):
        name, place, targets = f"m{number}", mark.mark, tuple(_targets(found, mark))
        shown = text[place.start : place.end]
        if "](" in shown or shown.startswith("<"):  # a link or a tag, of which a reader sees the numbers
            shown = f"[{text[slice(*place.items)]}]"
        closest = _closest(found, passages[name], targets)
        result.append(Citation(name, place.start, place.end, shown, targets, closest))
    for number, url in enumerate(found.body_urls):
        name, use, targets = f"u{number}", url.use, (Target.of("URL", url),)
        words = use.label if use.kind in ("link", "image") and text[slice(*use.label)].strip() else (0, 0)
        closest = _closest(found, passages[name], targets)
        result.append(Citation(name, use.start, use.end, use.url, targets, closest, words))
    return sorted(result, key=lambda citation: (citation.start, citation.end))


def _targets(found: ReportAudit, mark: MarkFinding) -> Iterator[Target]:
    for number, position in zip(mark.mark.numbers, mark.entries, strict=True):
        label = f"[{number}]"
        if position is not None and not mark.url_decides:
            entry = found.entries[position]
            yield Target.of(f"[{entry.entry.number}]", entry, position)
        elif mark.url:
            yield Target.of(label, mark.url)
        else:
            outcome, reason = cited_outcome(mark, None)
            yield Target(label, outcome or "unchecked", reason or "")


def _closest(
    found: ReportAudit, cited: Iterable[CitedPassage], targets: Sequence[Target]
) -> tuple[tuple[str, CitedPassage], ...]:
    """The passages of the targets' sources, each with the label of its entry."""
    sources = [target.match.source for target in targets if target.match]
    return tuple(
        ("URL" if one.entry is None else f"[{found.entries[one.entry].entry.number}]", one)
        for one in cited
        if any(one.source is source for source in sources)
    )


def _pieces_of(cited: CitedPassage) -> Iterator[tuple[str, bool]]:
    """A passage in pieces, each with whether the statement has its words too."""
    if cited.passage is not None:
        text, at = cited.passage.text, 0
        for start, end in cited.passage.shared:
            yield text[at:start], False
            yield text[start:end], True
            at = end
        yield text[at:], False


def _entries(found: ReportAudit, citations: Sequence[Citation]) -> Iterator[Listed]:
    """The entries of all reference lists in order."""
    cited: dict[int | None, list[str]] = defaultdict(list)
    for citation in citations:
        for target in citation.targets:
            cited[target.entry].append(citation.id)
    above = None
    for position, finding in enumerate(found.entries):
        entry = finding.entry
        begin = above.place.end if above and above.section == entry.section else found.report.lists[entry.section].start
        before = found.report.text[begin : entry.place.start].strip("#*_>=-|:： \t\r\n")
        target = Target.of(f"[{entry.number}]", finding, position)
        yield Listed(position, finding, target, tuple(cited[position]), before)
        above = entry


def _annotations(
    found: ReportAudit, citations: Sequence[Citation], entries: Sequence[Listed], macros: Any
) -> Iterator[Piece]:
    """What is put in place of citations and reference lists, and at the end of paragraphs that cite nothing."""
    for citation in citations:
        if citation.words == (0, 0):
            yield Piece(citation.start, citation.end, str(macros.chip(citation)))
        else:
            yield Piece(citation.start, citation.words[0], str(macros.chip_start(citation)))
            yield Piece(citation.words[1], citation.end, str(macros.chip_end(citation)))
    for number, place in enumerate(found.report.lists):
        own = [entry for entry in entries if entry.finding.entry.section == number]
        yield Piece(place.start, place.end, str(macros.entry_list(own)), block=True)
    for _, end in found.uncited_paragraphs:
        yield Piece(end, end, str(macros.uncited()))
