"""The audit judge: rates and counts from what verification left behind."""

from typing import Any

from aiq.core.reports import Audit, MatchLevel, RemovedCitation, ValidCitation
from aiq.core.samples import Question, Sample
from aiq.judges.base import NoSettings
from aiq.judges.citation_audit import CitationAudit
from tests.judges.parts import as_report, scripted

SAMPLE = Sample(id="1", question=Question(text="?"))
JUDGE = CitationAudit(NoSettings())


def valid(number: int, level: MatchLevel = "exact") -> ValidCitation:
    return ValidCitation(number=number, original_number=number, target="t", source="s", level=level)


def cut_off(*, marked: bool) -> ValidCitation:
    return valid(7, "truncation").model_copy(update={"marked": marked})


def removed(reason: str) -> RemovedCitation:
    return RemovedCitation(number=9, target="t", reason=reason)


async def score(audit: Audit | None) -> dict[str, Any]:
    async with scripted(["never asked"]) as (session, endpoint):
        given = as_report("x").model_copy(update={"audit": audit})
        scores = await JUDGE.score(SAMPLE, given, session)
    assert endpoint.got == []
    return {found.metric: found for found in scores}


async def test_rates_leave_repetitions_out() -> None:
    audit = Audit(
        valid_citations=(valid(1), valid(2), valid(3, "prefix")),
        removed_citations=(
            removed("url_not_in_registry"),
            removed("duplicate_of_citation_1"),
            removed("duplicate_of_citation_2"),
        ),
    )
    scores = await score(audit)
    assert (scores["citations.valid_rate"].numerator, scores["citations.valid_rate"].denominator) == (3, 4)
    assert (scores["citations.exact_rate"].numerator, scores["citations.exact_rate"].denominator) == (2, 4)
    assert scores["citations.kept"].value == 3.0
    assert scores["citations.removed"].value == 3.0
    assert scores["citations.valid_rate"].detail == {
        "levels": {"exact": 2, "prefix": 1},
        "removed": {"duplicate": 2, "url_not_in_registry": 1},
    }


async def test_without_an_audit_there_is_a_reason() -> None:
    scores = await score(None)
    assert {found.not_applicable for found in scores.values()} == {"the agent's citations were not verified"}
    assert len(scores) == 4


async def test_without_citations_there_is_no_rate_but_a_count_of_zero() -> None:
    scores = await score(Audit(dangling=(3,)))
    rates = {scores["citations.valid_rate"].not_applicable, scores["citations.exact_rate"].not_applicable}
    assert rates == {"the report has no citations"}
    assert (scores["citations.kept"].value, scores["citations.removed"].value) == (0.0, 0.0)


async def test_all_removed_is_a_rate_of_zero() -> None:
    scores = await score(Audit(removed_citations=(removed("unverifiable"),)))
    assert (scores["citations.valid_rate"].numerator, scores["citations.valid_rate"].denominator) == (0, 1)
    assert scores["citations.kept"].value == 0.0


async def test_a_cut_off_url_is_exact_where_the_report_marked_the_cut() -> None:
    audit = Audit(valid_citations=(cut_off(marked=True), cut_off(marked=False), valid(1, "document")))
    scores = await score(audit)
    assert (scores["citations.exact_rate"].numerator, scores["citations.exact_rate"].denominator) == (2, 3)
    assert scores["citations.valid_rate"].numerator == 3
