"""What an audit finds, with places in the text as given. Data only."""

from dataclasses import dataclass
from typing import Literal

from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.matching import Match
from aiq.citations.parsing import Entry, ParsedReport

Outcome = Literal["valid", "invalid", "duplicate", "unsafe", "unverifiable"]
NO_SOURCES = "no_sources"
"""The reason where an audit was given no sources and finds nothing else wrong; there is no outcome then."""


@dataclass(frozen=True, slots=True)
class UrlFinding:
    """A URL and what it means. `reason` is None where it is valid, else what is wrong with it.

    `flags` are warnings that decide nothing (`homograph_host`). `seen_as` says of a URL that was not
    retrieved how the run met it all the same.
    """

    use: UrlUse
    outcome: Outcome | None
    reason: str | None = None
    match: Match | None = None
    flags: tuple[str, ...] = ()
    seen_as: Literal["mentioned", "echoed"] | None = None

    @property
    def kept(self) -> bool:
        """Whether it may stand where only sources do."""
        return self.outcome in ("valid", None)

    @property
    def unsafe(self) -> bool:
        """Whether it breaks a sanitising rule, and so may stand nowhere."""
        return self.outcome == "unsafe"


@dataclass(frozen=True, slots=True)
class EntryFinding:
    """A reference entry and its outcome, as that of a URL.

    `target` is the URL or document as the report has it, `chosen` the URL that decided, `others`
    the rest of its URLs.
    """

    entry: Entry
    outcome: Outcome | None
    target: str
    reason: str | None = None
    match: Match | None = None
    chosen: UrlFinding | None = None
    others: tuple[UrlFinding, ...] = ()
    duplicate_of: int | None = None
    """Position in `ReportAudit.entries` of the entry that this one repeats."""
    seen_as: Literal["mentioned", "echoed"] | None = None

    @property
    def kept(self) -> bool:
        """Whether the verified report has it."""
        return self.outcome in ("valid", None)

    @property
    def flags(self) -> tuple[str, ...]:
        return self.chosen.flags if self.chosen else ()


@dataclass(frozen=True, slots=True)
class MarkFinding:
    """An inline mark: for each of its numbers the position of the entry it points to, None where there is none.

    `url` is what a mark written as a link leads to.
    """

    mark: Mark
    entries: tuple[int | None, ...]
    url: UrlFinding | None = None

    @property
    def url_decides(self) -> bool:
        """Whether its own URL says what it is worth, whatever its entries are: a source's, or an unsafe one."""
        return self.url is not None and (self.url.outcome == "valid" or self.url.unsafe)


@dataclass(frozen=True)
class ReportAudit:
    """Everything found in one report; nothing in it is changed."""

    report: ParsedReport
    entries: tuple[EntryFinding, ...]
    marks: tuple[MarkFinding, ...]
    body_urls: tuple[UrlFinding, ...]
    dangling: tuple[int, ...]
    """Numbers that marks cite and no list has."""
    unused: tuple[int, ...]
    """Positions of the entries that no mark points to."""
    uncited_paragraphs: tuple[tuple[int, int], ...]
    """Paragraphs of the body in which neither a mark nor a URL stands."""
    with_sources: bool = True
