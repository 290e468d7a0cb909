"""FACT's arithmetic: verdicts per page in, counts and the official statistics out.

As Deep Research Bench defines it: a page whose validation ended in an error is skipped, `unknown` counts nowhere,
and the ratio is taken once over all citations of all reports.
"""

from collections.abc import Sequence
from typing import Literal

from aiq.core.base import Record

Verdict = Literal["supported", "unsupported", "unknown"]


class Judged(Record):
    """A statement of the report and what the cited page says to it."""

    statement: str
    verdict: Verdict


class CitedPage(Record):
    """One cited URL with its statements judged; or `error`, why they could not be. `digest`: of the page as read."""

    url: str
    judged: tuple[Judged, ...] = ()
    error: str | None = None
    digest: str | None = None


class Counts(Record):
    """Verdicts of one report. `citations` are those that got one of the two verdicts that count."""

    supported: int = 0
    unsupported: int = 0
    unknown: int = 0
    failed_pages: int = 0

    @property
    def citations(self) -> int:
        return self.supported + self.unsupported


def count(pages: Sequence[CitedPage]) -> Counts:
    verdicts = [judged.verdict for page in pages if page.error is None for judged in page.judged]
    return Counts(
        supported=verdicts.count("supported"),
        unsupported=verdicts.count("unsupported"),
        unknown=verdicts.count("unknown"),
        failed_pages=sum(page.error is not None for page in pages),
    )


def official(reports: Sequence[Sequence[CitedPage]]) -> dict[str, float]:
    """The three official figures: reports without citations count in no denominator; 0 where nothing counts."""
    counts = [count(pages) for pages in reports if pages]
    supported = sum(one.supported for one in counts)
    citations = sum(one.citations for one in counts)
    return {
        "total_citations": citations / max(1, len(counts)),
        "total_valid_citations": supported / max(1, len(counts)),
        "valid_rate": supported / max(1, citations),
    }
