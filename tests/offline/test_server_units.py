"""The stack's parts without a process: completions, schemas, mistakes."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline import mistakes, programs, shapes
from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.completion import completion, stream_events, tokens
from aiq.offline.faults import Faults
from aiq.offline.wire import ApiError, read_request

REPORT = """## Findings
As of March 2026, the mayor of Tessmark is Ilan Corvey [1]. The city has 41,200 inhabitants [2].

## References
[1] Tessmark - https://atlas.offline.example/tessmark
[2] Census - https://atlas.offline.example/census
"""


def request(**values: Any) -> ChatRequest:
    return ChatRequest.model_validate({"model": "offline-1", "messages": [{"role": "user", "content": "x"}], **values})


def test_parallel_calls_are_cut_to_the_first_where_the_request_says_so() -> None:
    reply = ChatReply(tool_calls=(call("f", a=1), call("f", a=2)))
    both = completion(request(), reply, "d")["choices"][0]["message"]
    assert len({c["id"] for c in both["tool_calls"]}) == 2
    assert both["content"] is None
    one = completion(request(parallel_tool_calls=False), reply, "d")["choices"][0]["message"]
    assert one["tool_calls"] == both["tool_calls"][:1]


def test_words_where_json_was_asked_for_are_a_refusal() -> None:
    asks_json = request(response_format={"type": "json_object"})
    assert programs.refuses(asks_json, ChatReply(text="I was not told the form."))
    assert not programs.refuses(asks_json, ChatReply(text="{}"))
    assert not programs.refuses(request(), ChatReply(text="words"))
    answer = completion(asks_json, ChatReply(text="no form"), "d", refused=True)
    message = answer["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "no form")
    deltas = [json.loads(e[6:])["choices"][0]["delta"] for e in stream_events(answer, usage=False)[:-1]]
    assert "".join(delta.get("refusal") or "" for delta in deltas) == "no form"


def test_equal_requests_have_equal_digests_whatever_their_key_order() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "seed": 1}
    digests = {read_request(json.dumps(b).encode(), "a.b", "0")[1] for b in (body, dict(reversed(body.items())))}
    assert len(digests) == 1
    assert read_request(json.dumps(body).encode(), "a.c", "0")[1] not in digests
    assert read_request(json.dumps({**body, "seed": 2}).encode(), "a.b", "0")[1] not in digests


@given(st.binary(max_size=100))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        read_request(body, "", "")
    assert caught.value.status == 400


def test_nulls_mean_left_out() -> None:
    message = {"role": "assistant", "content": "x", "tool_calls": None, "refusal": None}
    body = {"model": "m", "messages": [message], "tools": None, "tool_choice": None, "stop": None}
    assert read_request(json.dumps(body).encode(), "", "")[0].tools == ()


def test_body_cannot_name_a_role_or_attempt() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "role": "judge.race", "attempt": 9}
    chat, _ = read_request(json.dumps(body).encode(), "", "")
    assert (chat.role, chat.attempt) == ("", 0)


@given(st.text(), st.integers(1, 20))
def test_cut_text_has_at_most_the_asked_tokens(text: str, limit: int) -> None:
    answer = completion(request(max_tokens=limit), ChatReply(text=text), "d")
    assert tokens(answer["choices"][0]["message"]["content"]) <= limit
    assert text.startswith(answer["choices"][0]["message"]["content"])
    assert (answer["choices"][0]["finish_reason"] == "length") == (tokens(text) > limit)


@given(st.text())
def test_stream_carries_the_whole_text(text: str) -> None:
    events = stream_events(completion(request(), ChatReply(text=text), "d"), usage=False)
    assert events[-1] == "data: [DONE]\n\n"
    deltas = [json.loads(event[6:])["choices"][0]["delta"] for event in events[:-1]]
    assert "".join(delta.get("content") or "" for delta in deltas) == text


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer", "minimum": 1, "maximum": 5},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["a", "b"]},
            {"const": 3},
            {"type": ["string", "null"]},
            {"$ref": "#/$defs/Point"},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda s: {"type": "array", "items": s}, inner),
        st.builds(lambda s: {"anyOf": [s, {"type": "null"}]}, inner),
        st.builds(
            lambda parts: {
                "type": "object",
                "properties": parts,
                "required": list(parts),
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("pqr"), inner, min_size=1),
        ),
    ),
    max_leaves=6,
)


@given(SCHEMAS, st.text(max_size=10))
def test_filled_values_fit_their_schema(schema: Any, text: str) -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    whole = {"type": "object", "properties": {"v": schema}, "required": ["v"], "$defs": {"Point": point}}
    value = shapes.fill(whole, text)
    assert shapes.fits(whole, value)
    assert not shapes.fits(whole, {})
    assert shapes.fits({"type": "integer"}, True) is False


@pytest.mark.parametrize("name", ["wrong_fact", "fabricated_citation", "garbled_citation", "unsupported_claim"])
def test_each_mistake_changes_what_it_says(name: str) -> None:
    for seed in range(20):
        spoiled = mistakes.make(name, REPORT, "", seed)
        assert spoiled == mistakes.make(name, REPORT, "", seed)
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


@given(
    st.text(),
    st.text(),
    st.integers(0, 99),
    st.sampled_from(["wrong_fact", "fabricated_citation", "garbled_citation", "unsupported_claim"]),
)
def test_mistakes_take_any_text(text: str, asked: str, seed: int, name: str) -> None:
    assert isinstance(mistakes.make(name, text, asked, seed), str)


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        (
            "It is Ulrick. The coach of Drosvale was born in Ulrick [1].",
            "Where was the coach of Drosvale born?",
            "Ulrick",
        ),
        ("Ransen. Talvey was born in Ransen [2].", "Where was Talvey born?", "Ransen"),
        ("The answer is 446,240. In May 2026 Weswold had 446,240 inhabitants [1].", "", "446,240"),
        ("截至2026年，人口为446,240人。 [1]", "", None),
    ],
)
def test_a_wrong_fact_is_the_answer_and_consistent(text: str, asked: str, answer: str | None) -> None:
    for seed in range(10):
        spoiled = mistakes.make("wrong_fact", text, asked, seed)
        assert spoiled != text
        assert spoiled.count("[") == text.count("[")
        if answer is not None:
            assert answer not in spoiled
            assert "Drosvale" in spoiled or "Drosvale" not in text


def test_content_faults_leave_judges_and_json_alone() -> None:
    faults = Faults({"wrong_fact": 1.0}, seed=0)
    reply = ChatReply(text=REPORT)
    assert faults.spoil(request(), reply, "d") != reply
    assert faults.spoil(request(role="judge.fact_extract"), reply, "d") == reply
    assert faults.spoil(request(response_format={"type": "json_object"}), reply, "d") == reply


def test_rates_are_met() -> None:
    faults = Faults({"slow": 0.2}, seed=1)
    hits = sum(faults.hits("slow", 0, f"digest {i}") for i in range(2000))
    assert 340 < hits < 460
    assert not Faults({}, seed=1).hits("slow", 0, "x")
    draws = [[Faults({"slow": 0.5}, seed).hits("slow", 0, str(i)) for i in range(50)] for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
