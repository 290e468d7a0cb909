"""FACT offline: hand-written statements about pages; extraction and de-duplication."""

import json
from typing import Any

import pytest

from aiq.judges.wording import PROMPTS
from tests.offline.judging.cases import ask, cases


@pytest.mark.parametrize("case", cases("statements"), ids=lambda case: case["statement"][:60])
def test_hand_written_statements(case: dict[str, Any]) -> None:
    text = PROMPTS.render(
        "fact_validate.j2",
        support="part" if case.get("part") else "whole",
        page=case["page"],
        statements=f"1. {case['statement']}",
    )
    assert json.loads(ask(text)) == {"verdicts": [{"statement": 1, "verdict": case["verdict"]}]}


def test_one_verdict_for_every_statement() -> None:
    page = "Nordal Lines has five ships. It was founded by Erik Moe in 1920. The company does not carry cars."
    statements = "1. Nordal Lines has 5 ships.\n2. Nordal Lines carries cars.\n3. Erik Moe founded Nordal Lines."
    reply = json.loads(ask(PROMPTS.render("fact_validate.j2", support="whole", page=page, statements=statements)))
    assert [entry["verdict"] for entry in reply["verdicts"]] == ["supported", "unsupported", "supported"]


def test_citations_are_resolved_by_the_list_and_pronouns_by_the_text() -> None:
    part = "Nordal has five ships [1]. It was founded in 1920 [1][2]. See [the page](https://c.example/z).\n\nIt grew."
    references = "[1] A - https://a.example/x\n[2] B - https://b.example/y"
    citations = json.loads(ask(PROMPTS.render("fact_extract.j2", reference_list=references, report_part=part)))[
        "citations"
    ]
    assert [(entry["reference"], entry["url"]) for entry in citations] == [
        (1, "https://a.example/x"),
        (1, "https://a.example/x"),
        (2, "https://b.example/y"),
        (None, "https://c.example/z"),
    ]
    assert citations[1]["statement"] == "Nordal was founded in 1920."


def test_statements_that_differ_in_a_value_or_a_negation_stay_separate() -> None:
    texts = ["Nordal has 5 ships.", "Nordal has 5 ships today.", "Nordal has 7 ships.", "Nordal does not have 5 ships."]
    text = PROMPTS.render("fact_dedup.j2", statements="\n".join(f"{n}. {s}" for n, s in enumerate(texts, 1)))
    assert json.loads(ask(text)) == {"groups": [[1, 2], [3], [4]]}
