"""FACT's arithmetic: turns verdicts per page into counts and the official statistics.

As Deep Research Bench defines it: a page whose validation ended in an error is skipped, `unknown` counts nowhere,
and the ratio is taken once over all citations of all reports.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from aiq.core.base import Record
from aiq.core.errors import ToolErrorKind
from aiq.core.reports import Caveat

Verdict = Literal["supported", "unsupported", "unknown"]


class Judged(Record):
    """A statement of the report and the verdict on it by the cited page."""

    statement: str
    verdict: Verdict


class CitedPage(Record):
    """One cited URL with its judged statements, or the `error` that prevented judging. `digest`: of the page as read.

    `unread`: why it could not be fetched, as `kind: message`. `cited`: how many statements an error leaves unjudged.
    """

    url: str
    judged: tuple[Judged, ...] = ()
    error: str | None = None
    unread: str | None = None
    cited: int = 0
    digest: str | None = None

    @property
    def unusable(self) -> bool:
        """Whether it has no verdicts because the model gave no usable answer."""
        return self.error is not None and self.error != self.unread

    @property
    def missing(self) -> str | None:
        """Why it is worth another try, in a word or two; None if it is not, as for a page that does not exist."""
        kind = (self.unread or "").partition(":")[0]
        return "without a usable answer" if self.unusable else None if kind in ("", ToolErrorKind.NOT_FOUND) else kind


class Counts(Record):
    """The verdicts of one report. `citations` counts those with one of the two verdicts that matter.

    `unjudged`: statements of pages with an error. `failed_pages`: pages not fetched or without verdicts.
    """

    supported: int = 0
    unsupported: int = 0
    unknown: int = 0
    unjudged: int = 0
    failed_pages: int = 0

    @property
    def citations(self) -> int:
        return self.supported + self.unsupported

    @property
    def statements(self) -> int:
        return self.citations + self.unknown + self.unjudged


def count(pages: Sequence[CitedPage]) -> Counts:
    verdicts = [judged.verdict for page in pages if page.error is None for judged in page.judged]
    return Counts(
        supported=verdicts.count("supported"),
        unsupported=verdicts.count("unsupported"),
        unknown=verdicts.count("unknown"),
        unjudged=sum(page.cited for page in pages if page.error is not None),
        failed_pages=sum(page.error is not None or page.unread is not None for page in pages),
    )


def unread_text(reason: str) -> str:
    """The text that is judged, as officially, instead of a page that could not be fetched."""
    return f"This page could not be fetched: {reason}"


def caveat(pages: Sequence[CitedPage]) -> Caveat:
    """The pages that were not read, or not judged."""
    missing = [(page.missing, page.unread or page.error) for page in pages if page.missing]
    reasons = Counter(reason for reason, _ in missing)
    first = next((str(why) for _, why in missing), "")
    return Caveat(what="cited pages not read and judged", of=len(pages), reasons=reasons, first=first)


def official(reports: Sequence[Sequence[CitedPage]]) -> dict[str, float]:
    """The three official figures: reports without citations are in no denominator; 0 if nothing counts."""
    counts = [count(pages) for pages in reports if pages]
    supported = sum(report.supported for report in counts)
    citations = sum(report.citations for report in counts)
    return {
        "total_citations": citations / max(1, len(counts)),
        "total_valid_citations": supported / max(1, len(counts)),
        "valid_rate": supported / max(1, citations),
    }
