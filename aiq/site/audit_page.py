"""The page of one audited report: the report with each citation in the colour of its outcome, in one HTML file.

It needs no network and no script; a card with source and closest passage opens on hover and on focus.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiq import __version__
from aiq.citations.audit import NO_SOURCES, Finding, ReportAudit
from aiq.citations.entries import Entry
from aiq.citations.files import AuditedReport
from aiq.citations.links import UrlUse
from aiq.citations.markdown import Place
from aiq.citations.marks import Mark
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
    """What one cited number, or one URL, comes to; `entry` is the position of the entry that decides."""

    label: str
    found: Finding
    entry: int | None = None

    @property
    def outcome(self) -> str:
        """One of `OUTCOMES`."""
        return self.found.outcome or "unchecked"

    @property
    def cause(self) -> str:
        """The level of the match, or the reason why it is not valid."""
        return self.found.match.level if self.found.match and self.outcome == "valid" else self.found.reason or ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is odd."""
        return (*self.found.flags, *((self.found.seen_as,) if self.found.seen_as else ()))


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
    words: Place = (0, 0)

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

    entry: Entry
    target: Target
    cited: tuple[str, ...]
    before: str

    @property
    def name(self) -> str:
        """A few words to know it by."""
        found = self.target.found
        words = _ADDRESS.sub("", self.entry.text).strip(" \t\r\n-–—:：.,|*").rstrip("([< ")
        return (found.match.source.title if found.match else "") or words[:120] or found.target


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
    found, text = audit.verified.found, audit.case.text
    passages: dict[str, list[tuple[str, CitedPassage]]] = defaultdict(list)
    for cited in audit.passages:
        label = "URL" if cited.entry is None else f"[{found.entries[cited.entry].entry.number}]"
        for name in (*(f"m{n}" for n in cited.statement.marks), *(f"u{n}" for n in cited.statement.body_urls)):
            passages[name].append((label, cited))

    def citation(name: str, place: Mark | UrlUse, shown: str, *targets: Target, words: Place = (0, 0)) -> Citation:
        sources = {id(target.found.match.source) for target in targets if target.found.match}
        closest = tuple((label, cited) for label, cited in passages[name] if id(cited.source) in sources)
        return Citation(name, place.start, place.end, shown, targets, closest, words)

    result = []
    for number, finding in enumerate(found.marks):
        mark = finding.mark
        shown = text[mark.start : mark.end]
        if "](" in shown or shown.startswith("<"):  # a link or a tag, of which a reader sees the numbers
            shown = f"[{text[slice(*mark.items)]}]"
        worths = found.cited_by(finding)
        targets = (Target(f"[{n}]", worth, None if worth is finding.url else p) for n, p, worth in worths)
        result.append(citation(f"m{number}", mark, shown, *targets))
    for number, url in enumerate(found.body_urls):
        use = url.use
        words = use.label if use.form in ("link", "image") and text[slice(*use.label)].strip() else (0, 0)
        result.append(citation(f"u{number}", use, url.target, Target("URL", url), words=words))
    return sorted(result, key=lambda citation: (citation.start, citation.end))


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
        begin = above.end if above and above.section == entry.section else found.report.lists[entry.section].start
        before = found.report.text[begin : entry.start].strip("#*_>=-|:： \t\r\n")
        yield Listed(entry, Target(f"[{entry.number}]", finding, position), tuple(cited[position]), before)
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
        own = [entry for entry in entries if entry.entry.section == number]
        yield Piece(place.start, place.end, str(macros.entry_list(own)), block=True)
    for _, end in found.uncited_paragraphs:
        yield Piece(end, end, str(macros.uncited()))
