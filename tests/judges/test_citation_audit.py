"""The citation audit judge: rates and counts from the audit of verification."""

from typing import Any

import pytest

from aiq.core.reports import Audit, MatchLevel, RemovedCitation, Score, ValidCitation
from aiq.judges.base import NoSettings
from aiq.judges.citation_audit import CitationAudit
from tests.judges.parts import TASK, as_report, scripted


def valid(level: MatchLevel = "exact") -> ValidCitation:
    return ValidCitation(number=1, original_number=1, target="t", source="s", level=level)


def removed(*reasons: str) -> tuple[RemovedCitation, ...]:
    return tuple(RemovedCitation(number=9, target="t", reason=reason) for reason in reasons)


async def score(audit: Audit | None) -> list[Score]:
    async with scripted(["never asked"]) as (session, endpoint):
        scores = await CitationAudit(NoSettings()).score(TASK, as_report("x", audit=audit), session)
    assert endpoint.got == []
    assert [score.metric for score in scores] == [metric.name for metric in CitationAudit.metrics]
    return scores


@pytest.mark.parametrize(
    ("kept", "reasons", "rates"),
    [
        # duplicates are in neither rate
        ([valid(), valid(), valid("prefix")], ["url_not_in_registry", *["duplicate_of_citation_1"] * 2], [3, 4, 2, 4]),
        ([], [], "the report has no citations"),
        ([], ["duplicate_of_citation_1"], "every reference repeats another one"),
    ],
)
async def test_rates_and_counts(kept: list[ValidCitation], reasons: list[str], rates: Any) -> None:
    scores = await score(Audit(valid_citations=tuple(kept), removed_citations=removed(*reasons), dangling=(3,)))
    if isinstance(rates, str):
        assert [row.not_applicable for row in scores[:2]] == [rates] * 2
    else:
        assert [part for row in scores[:2] for part in (row.numerator, row.denominator)] == rates
    assert [row.value for row in scores[2:]] == [len(kept), len(reasons)]


async def test_the_detail_counts_levels_and_reasons_and_a_missing_audit_is_the_reason() -> None:
    audit = Audit(
        valid_citations=(valid("prefix"), valid(), valid()),
        removed_citations=removed("url_not_in_registry", "duplicate_of_citation_1", "duplicate_of_citation_2"),
    )
    (rate, *_) = await score(audit)
    assert rate.detail == {
        "levels": {"exact": 2, "prefix": 1},
        "removed": {"duplicate": 2, "url_not_in_registry": 1},
    }
    assert {row.not_applicable for row in await score(None)} == {"the agent's citations were not verified"}
