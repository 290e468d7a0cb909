"""The page of one audited report: one HTML file with each citation in the colour of its outcome.

It needs no network and no script; a card with source and closest passage opens on hover and on focus.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from aiq import __version__
from aiq.citations.audit import EntryFinding, Finding, Outcome, ReportAudit
from aiq.citations.files import AuditedReport
from aiq.citations.links import UrlUse
from aiq.citations.markdown import Place
from aiq.citations.marks import Mark
from aiq.citations.passages import CitedPassage
from aiq.site.markdown import TEMPLATES, Piece, annotated, environment

OUTCOMES: tuple[Outcome | None, ...] = ("valid", None, "duplicate", "unverifiable", "invalid", "unsafe")
"""From the best to the worst; None: not checked."""

EXPLAINED: Mapping[str, str] = {
    "exact": "the address of the source",
    "truncation": "cut off, and only one source begins like this",
    "prefix": "the beginning of only one source's address",
    "child_path": "a page below a source: the page itself was not retrieved",
    "query_subset": "a source's address without some of its parameters",
    "document": "a retrieved document",
    "url_not_in_registry": "no tool returned this address",
    "citation_key_not_in_registry": "no tool returned this document",
    "unverifiable": "neither an address that can be read nor a document",
    "dangling": "no reference list has this number",
    "unsafe_scheme": "an address that runs code, opens a local file, or is not on the web",
    "shortened_url": "a short link, which hides where it leads",
    "ip_address_url": "a bare IP address",
    "private_host": "a name that the public cannot reach",
    "truncated_url": "cut off or garbled, and no source that it could mean",
    "no_sources": "not checked: no sources were given",
    "mentioned": "a retrieved page mentions the address, but nobody fetched it",
    "echoed": "the address was in the agent's own query or in an error",
    "homograph_host": "the host's name looks like another one",
}
"""Match levels, reasons and flags in plain words."""

SHEETS = (TEMPLATES.parent / "static/site.css", TEMPLATES / "audit.css")
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark or a URL in the body, what each of its numbers refers to, and the closest passages of its sources.

    `targets` and `passages` begin with a label. `words` is the place of a link's text, which remains as it is.
    """

    id: str
    place: Mark | UrlUse
    shown: str
    targets: tuple[tuple[str, Finding], ...]
    passages: tuple[tuple[str, CitedPassage], ...]
    words: Place = (0, 0)

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of its targets."""
        return max((finding.outcome for _, finding in self.targets), key=OUTCOMES.index, default=None)

    @property
    def removed(self) -> bool:
        """Whether the verified report lacks it: a URL in the text if it is unsafe, a mark if no number remains."""
        outcomes = ("unsafe",) if self.id.startswith("u") else ("unsafe", "invalid", "unverifiable")
        return all(finding.outcome in outcomes for _, finding in self.targets)


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a reference list; `cited` are the ids of its citations, `before` the text above it in its list."""

    position: int
    found: EntryFinding
    cited: tuple[str, ...]
    before: str

    @property
    def name(self) -> str:
        """A few words to recognize it by."""
        words = _ADDRESS.sub("", self.found.entry.text).strip(" \t\r\n-–—:：.,|*").rstrip("([< ")
        return (self.found.match.source.title if self.found.match else "") or words[:120] or self.found.target


def audit_page(audit: AuditedReport) -> str:
    """The page as HTML."""
    templates = environment()
    templates.globals |= {"cause": cause, "explanation": explanation, "EXPLAINED": EXPLAINED}
    findings = audit.verified.found
    citations = citations_of(audit)
    parts = templates.get_template("audit_parts.html.j2").module
    counters = [Counter(c.outcome for c in citations), Counter(entry.outcome for entry in findings.entries)]
    page: str = templates.get_template("audit.html.j2").render(
        title=audit.case.title or "a report",
        version=__version__,
        case=audit.case,
        record=audit.record,
        report=annotated_report(audit, citations, parts.chip_start, parts.chip_end, parts.entry_list, parts.uncited()),
        entries=list(entries_of(findings)),
        counts=[[(outcome, count[outcome]) for outcome in OUTCOMES if count[outcome]] for count in counters],
        style="\n".join(sheet.read_text(encoding="utf-8") for sheet in SHEETS),
    )
    return page


def explanation(found: Finding) -> str:
    """Why a target has its outcome, in plain words."""
    if found.outcome == "duplicate":
        return f"the same source as entry {cause(found).rpartition('_')[2]}"
    return EXPLAINED[cause(found)]


def cause(found: Finding) -> str:
    """The match level of a valid target, else what is wrong with it."""
    return found.match.level if found.outcome == "valid" and found.match else found.reason or ""


def citations_of(audit: AuditedReport) -> list[Citation]:
    """The citations in the text, in order."""
    findings, text = audit.verified.found, audit.case.text
    passages: dict[str, list[tuple[str, CitedPassage]]] = defaultdict(list)
    for cited in audit.passages:
        label = "URL" if cited.entry is None else f"[{cited.entry}]"
        for name in (*(f"m{n}" for n in cited.statement.marks), *(f"u{n}" for n in cited.statement.body_urls)):
            passages[name].append((label, cited))

    def citation(
        name: str, place: Mark | UrlUse, shown: str, *targets: tuple[str, Finding], words: Place = (0, 0)
    ) -> Citation:
        sources = {id(target.match.source) for _, target in targets if target.match}
        closest = tuple((label, cited) for label, cited in passages[name] if id(cited.source) in sources)
        return Citation(name, place, shown, targets, closest, words)

    citations = []
    for number, finding in enumerate(findings.marks):
        mark = finding.mark
        shown = text[mark.start : mark.end]
        if "](" in shown or shown.startswith("<"):  # a link or a tag, of which readers see only the numbers
            shown = f"[{text[slice(*mark.items)]}]"
        targets = ((f"[{n}]", target) for n, _, target in findings.cited_by(finding))
        citations.append(citation(f"m{number}", mark, shown, *targets))
    for number, url in enumerate(findings.body_urls):
        use = url.use
        words = use.label if use.form in ("link", "image") and text[slice(*use.label)].strip() else (0, 0)
        citations.append(citation(f"u{number}", use, url.target, ("URL", url), words=words))
    return sorted(citations, key=lambda citation: (citation.place.start, citation.place.end))


def entries_of(found: ReportAudit) -> Iterator[ListedEntry]:
    """The entries of all reference lists in order."""
    cited: dict[int | None, list[str]] = defaultdict(list)
    for number, mark in enumerate(found.marks):
        for _, position, target in found.cited_by(mark):
            if target is not mark.url:
                cited[position].append(f"m{number}")
    last = None
    for position, finding in enumerate(found.entries):
        entry = finding.entry
        begin = last.end if last and last.section == entry.section else found.report.lists[entry.section].start
        before = found.report.text[begin : entry.start].strip("#*_>=-|:： \t\r\n")
        yield ListedEntry(position, finding, tuple(cited[position]), before)
        last = entry


def annotated_report(
    audit: AuditedReport,
    citations: Iterable[Citation],
    before: Callable[[Citation], str],
    after: Callable[[Citation], str],
    entry_list: Callable[[Sequence[ListedEntry]], str],
    uncited: str,
) -> str:
    """The report as safe HTML, with the given HTML around its citations, instead of its reference lists, and at the end
    of paragraphs that cite nothing.
    """
    findings, pieces = audit.verified.found, []
    for cite in citations:
        place, (begin, end) = cite.place, cite.words
        if (begin, end) == (0, 0):
            pieces.append(Piece(place.start, place.end, f"{before(cite)}{escape(cite.shown)}{after(cite)}"))
        else:
            pieces += [Piece(place.start, begin, before(cite)), Piece(end, place.end, after(cite))]
    entries = list(entries_of(findings))
    for number, listed in enumerate(findings.report.lists):
        section = [entry for entry in entries if entry.found.entry.section == number]
        pieces.append(Piece(listed.start, listed.end, entry_list(section), block=True))
    pieces += [Piece(end, end, uncited) for _, end in findings.uncited_paragraphs]
    return annotated(audit.case.text, pieces)
