"""What an audit finds, with places in the text as given. Data only."""

from dataclasses import dataclass
from typing import Literal

from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.matching import Match
from aiq.citations.parsing import Entry, ParsedReport

Outcome = Literal["valid", "invalid", "duplicate", "unsafe", "unverifiable"]


@dataclass(frozen=True, slots=True)
class UrlFinding:
    """A URL and what it means: its source, or the sanitising rule it breaks, or neither (not retrieved)."""

    use: UrlUse
    match: Match | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class EntryFinding:
    """A reference entry and its outcome.

    `target` is the URL or document as the report has it, `chosen` the URL that decided, `others`
    the rest of its URLs. `reason` is None for a valid entry.
    """

    entry: Entry
    outcome: Outcome
    target: str
    reason: str | None = None
    match: Match | None = None
    chosen: UrlFinding | None = None
    others: tuple[UrlFinding, ...] = ()
    duplicate_of: int | None = None
    """Position in `ReportAudit.entries` of the entry that this one repeats."""


@dataclass(frozen=True, slots=True)
class MarkFinding:
    """An inline mark: for each of its numbers the position of the entry it points to, None where there is none.

    `url` is what a mark written as a link leads to.
    """

    mark: Mark
    entries: tuple[int | None, ...]
    url: UrlFinding | None = None


@dataclass(frozen=True)
class ReportAudit:
    """Everything found in one report; nothing in it is changed."""

    report: ParsedReport
    entries: tuple[EntryFinding, ...]
    marks: tuple[MarkFinding, ...]
    body_urls: tuple[UrlFinding, ...]
    dangling: tuple[int, ...]
    """Numbers that marks cite and no list has."""
