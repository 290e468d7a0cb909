"""What a check of a claim says. Data only."""

from dataclasses import dataclass
from typing import Literal

from aiq.core.sources import Source

Verdict = Literal["supported", "unsupported", "unknown"]


@dataclass(frozen=True, slots=True)
class Passage:
    """The stretch `start:end` of the source's text that speaks most for the statement; offsets in code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Support:
    """What a source's text says of a statement.

    `score` (0 to 1) grows with the evidence found; `verdict` is what the thresholds of `rules.toml`
    make of it. `unknown`: the text is nothing that could be read for it. `reasons` are short plain
    sentences. `passage` is None where the verdict is `unknown`, or nothing of the statement was found.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A sentence, list item or table cell of a report that carries citations.

    `start:end` is its place in the report, `text` what it says: without marks, URLs and emphasis.
    `marks` and `body_urls` are positions in `ParsedReport.marks` and `ParsedReport.body_urls`.
    """

    start: int
    end: int
    text: str
    marks: tuple[int, ...]
    body_urls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One statement against one source that it validly cites.

    `entry` is the position of the cited entry in `ReportAudit.entries`; None where a link or a URL in
    the text leads to the source. `mark` or `body_url` says which citation of the statement it was.
    """

    statement: CitedStatement
    source: Source
    support: Support
    entry: int | None = None
    mark: int | None = None
    body_url: int | None = None
