"""Faults and mistakes as functions of a reply."""

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.faults import CONTENT, Faults, mistaken
from tests.cases import table

each = table(__file__)

REPORT = """## Findings
As of March 2026, the mayor of Tessmark is Ilan Corvey [1]. The city has 41,200 inhabitants [2].

## References
[1] Tessmark - https://atlas.offline.example/tessmark
[2] Census - https://atlas.offline.example/census
"""


def request(**values: Any) -> ChatRequest:
    return ChatRequest.model_validate({"model": "offline-1", "messages": [{"role": "user", "content": "x"}], **values})


@pytest.mark.parametrize("name", CONTENT)
def test_each_mistake_changes_what_it_claims_to(name: str) -> None:
    for seed in range(20):
        spoiled = mistaken(name, REPORT, "", Random(seed))
        assert spoiled == mistaken(name, REPORT, "", Random(seed))
        assert spoiled != REPORT
        body, _, references = spoiled.partition("## References")
        old_body, _, old_references = REPORT.partition("## References")
        cited = set(re.findall(r"\[(\d+)\]", body))
        urls = re.findall(r"https\S+", references)
        match name:
            case "wrong_fact":
                assert references == old_references
                assert cited == {"1", "2"}
            case "fabricated_citation":
                assert cited == {"1", "2", "3"}
                assert len(urls) == 3
                assert urls[2] not in REPORT
            case "garbled_citation":
                assert body == old_body
                assert len(set(urls) & set(re.findall(r"https\S+", REPORT))) == 1
                assert all(url.startswith("https://atlas.offline.example/") for url in urls)
            case "unsupported_claim":
                assert references == old_references
                assert len(body) > len(old_body)
                assert cited == {"1", "2"}


@given(st.text(), st.text(), st.integers(0, 99), st.sampled_from(CONTENT))
def test_mistakes_take_any_text(text: str, asked: str, seed: int, name: str) -> None:
    assert isinstance(mistaken(name, text, asked, Random(seed)), str)


@each("wrong")
def test_a_wrong_fact_is_the_answer_and_consistent(text: str, asked: str, answer: str | None) -> None:
    for seed in range(10):
        spoiled = mistaken("wrong_fact", text, asked, Random(seed))
        assert spoiled != text
        assert spoiled.count("[") == text.count("[")
        if answer is not None:
            assert answer not in spoiled
            assert "Drosvale" in spoiled or "Drosvale" not in text


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply(text="comment: The response names Ilan Corvey [1], as accepted.\nevaluation: correct"),
        ChatReply(text='{"facts": [["The mayor is Ilan Corvey", 1, "https://atlas.offline.example/tessmark"]]}'),
        ChatReply(text='```json\n["https://atlas.offline.example/tessmark", "supported"]\n```'),
        ChatReply(text='<json_output>\n{"url": "https://atlas.offline.example/tessmark"}\n</json_output>'),
        ChatReply(text=REPORT, tool_calls=(call("web_search", query="Tessmark"),)),
        ChatReply(refusal="Nothing at https://atlas.offline.example/tessmark says so."),
    ],
)
def test_content_faults_strike_answers_with_sources_and_nothing_else(reply: ChatReply) -> None:
    faults = Faults(dict.fromkeys(CONTENT, 1.0), seed=0)
    assert faults.spoil(request(), reply, "d") == reply
    report = ChatReply(text=REPORT)
    assert faults.spoil(request(), report, "d") != report
    assert faults.spoil(request(role="judge.fact_extract"), report, "d") == faults.spoil(request(), report, "d")
    assert faults.spoil(request(response_format={"type": "json_object"}), report, "d") == report


def test_rates_are_met() -> None:
    faults = Faults({"slow": 0.2}, seed=1)
    hits = sum(faults.hits("slow", 0, f"digest {i}") for i in range(2000))
    assert 340 < hits < 460
    assert not Faults({}, seed=1).hits("slow", 0, "x")
    draws = [[Faults({"slow": 0.5}, seed).hits("slow", 0, str(i)) for i in range(50)] for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
