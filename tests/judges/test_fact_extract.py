"""Who finds a report's citations: a model, the rules, or both compared; the official forms of citation."""

import json
from typing import Any

import pytest

from aiq.judges.fact_extract import By, Extracted, Extractor, agreement, alike
from aiq.judges.fact_questions import questions
from aiq.judges.statements import Citation

A, B = "https://a.example/x", "https://b.example/y"
LISTED = f"\n\n## References\n\n[1] A - {A}\n[2] B - {B}"


def citation(statement: str, url: str, reference: int | None = None) -> Citation:
    return Citation(statement=statement, reference=reference, url=url)


def extractor(by: By) -> Extractor:
    return Extractor(by, questions(None), tries=1, max_chunk_chars=12_000, concurrency=2)


async def extracted(scripted: Any, by: By, text: str, *told: tuple[str, int | None, str]) -> tuple[Extracted, Any]:
    answer = json.dumps({"citations": [{"statement": s, "reference": n, "url": u} for s, n, u in told]})
    async with scripted([answer]) as (session, endpoint):
        return await extractor(by).extract(text, "en", session), endpoint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Tessmark has 12 ships [1].{LISTED}", [("Tessmark has 12 ships.", 1, A)]),
        (f"Tessmark has 12 ships【2†L10-L12】.{LISTED}", [("Tessmark has 12 ships.", 2, B)]),
        (f"Tessmark has 12 ships [1]({A}).", [("Tessmark has 12 ships.", 1, A)]),
        (f"[Tessmark]({A}) has 12 ships.", [("Tessmark has 12 ships.", None, A)]),
        (f"Tessmark has 12 ships ({A}).", [("Tessmark has 12 ships.", None, A)]),
    ],
)
async def test_the_forms_of_citation_by_rules_and_offline(
    scripted: Any, offline: Any, text: str, expected: list[tuple[str, int | None, str]]
) -> None:
    found, endpoint = await extracted(scripted, "rules", text)
    assert [(c.statement, c.reference, c.url) for c in found.citations] == expected
    assert endpoint.got == []
    async with offline() as session:
        by_model = await extractor("model").extract(text, "en", session)
    assert [c.url for c in by_model.citations] == [url for _, _, url in expected]
    assert alike(by_model.citations[0].statement, expected[0][0])


async def test_both_judges_what_the_model_found_and_says_what_the_rules_had(scripted: Any) -> None:
    text = f"It has 12 ships [1]. It is old [1]. It is rich [2]. Population is 900 15.{LISTED}"
    told = (
        ("The port of Tessmark has 12 ships.", 1, A),
        ("Tessmark is rich.", 2, B),
        ("The population of Tessmark is 900.", 1, A),
        ("Made up.", 9, "https://nowhere.example/"),
    )
    found, _ = await extracted(scripted, "both", text, *told)
    assert [c.statement for c in found.citations] == [statement for statement, _, _ in told[:3]]
    assert found.invented == 1
    assert found.agreement is not None
    assert found.agreement.model_dump() == {"model": 3, "rules": 3, "model_in_rules": 2, "rules_in_model": 2}


async def test_a_report_without_urls_is_shown_to_no_model(scripted: Any) -> None:
    found, endpoint = await extracted(scripted, "both", "Just words.")
    assert found.citations == ()
    assert found.agreement is not None
    assert (found.agreement.model, found.agreement.rules) == (0, 0)
    assert endpoint.got == []


def test_agreement_counts_by_url_and_by_words() -> None:
    model = [citation("Tessmark has 12 ships.", A), citation("Tessmark is a port.", B)]
    rules = [citation("It has 12 ships", A), citation("Tessmark is a port.", A), citation("Nothing of the kind.", B)]
    found = agreement(model, rules)
    assert (found.model, found.rules, found.model_in_rules, found.rules_in_model) == (2, 3, 1, 1)
    assert agreement([], []).model_dump() == {"model": 0, "rules": 0, "model_in_rules": 0, "rules_in_model": 0}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It grew by 5% in 2024.", "The port of Tessmark grew by 5% in 2024.", True),
        ("该港口有12艘船。", "泰斯马克港口有12艘船。", True),
        ("该港口有12艘船。", "人口为九百万人左右。", False),
        ("The port has ships.", "Its mayor was elected in May.", False),
        ("", "", False),
        ("?!", "?!", False),
    ],
)
def test_two_wordings_of_one_statement(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
    assert alike(other, one) is same
