"""Structured output of judge models: strict JSON, tries with other seeds, and an error that says what is wrong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import JudgeError
from aiq.core.events import Event, EventLog, Recovery
from aiq.experiment.stores import AnswerStore, SharedAnswers
from aiq.judges.structured import SharedQuestion, Unusable, ask
from aiq.judges.wording import TextWording
from aiq.runs.folder import RunFolder
from tests.judges.parts import scripted
from tests.judges.test_answers import READERS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
PROSE = st.text().filter(lambda text: not set("{[") & set(text) and "<think>" not in text)


def loud(answer: str) -> str:
    if not answer.isupper():
        raise Unusable("it is not in capitals")
    return answer


async def test_an_unusable_answer_is_asked_again_with_another_seed() -> None:
    events: list[Event] = []
    async with scripted(["no", "no", "YES"]) as (session, endpoint):
        with_log = replace(session, events=EventLog(events.append))
        assert await ask(with_log, "judge.x", "Say yes.", loud, tries=3) == ("YES", 3)
    detail = "judge.x: asking again: it is not in capitals; the last answer began 'no'"
    assert [event.detail for event in events if isinstance(event, Recovery)] == [detail, detail]
    assert len({request["seed"] for request in endpoint.got}) == 3
    assert [request["messages"] for request in endpoint.got] == [[{"role": "user", "content": "Say yes."}]] * 3


async def test_an_answer_of_one_endpoint_is_not_reused_for_another(tmp_path: Path) -> None:
    store, answers, seeds = AnswerStore(RunFolder(tmp_path)), [], []
    question = SharedQuestion("judge.x", {"en": TextWording("Say yes.")}, tries=1)
    for base_url, answer in (("http://a.example/v1", "A"), ("http://b.example/v1", "B"), ("http://a.example/v1/", "-")):
        async with scripted([answer], base_url=base_url) as (session, endpoint):
            stored = replace(session, answers=SharedAnswers(store))
            answers.append(await question.ask(stored, "en", loud, {}))
            seeds += [request["seed"] for request in endpoint.got]
    assert answers == ["A", "B", "A"]
    assert seeds[0] == seeds[1]  # the same seed, so that the two endpoints can be compared


async def test_an_answer_that_was_cut_off_says_so() -> None:
    async with scripted(["no"], finish="length") as (session, _):
        with pytest.raises(JudgeError, match=r"in capitals; the token limit .* \(finish_reason length\); the last"):
            await ask(session, "judge.x", "Say yes.", loud, tries=1)


async def test_the_last_try_ends_in_one_clear_line_and_no_two_share_a_seed() -> None:
    async with scripted([*["first"] * 4, "second\n\nand more"]) as (session, endpoint):
        for vote in range(4):
            with pytest.raises(JudgeError) as failure:
                await ask(session, "judge.x", "Say yes.", loud, tries=5, vote=vote)
    assert len({request["seed"] for request in endpoint.got}) == len(endpoint.got) == 20
    assert str(failure.value) == (
        "judge.x: no usable answer in 5 tries: it is not in capitals; the last answer began 'second and more'"
    )


@pytest.mark.parametrize("escape", [r"\q", r"\u12"])
def test_an_escape_that_json_does_not_have_is_named(escape: str) -> None:
    broken = f'{{"a": "{escape}"}}'
    with pytest.raises(Unusable, match=r"^its JSON cannot be read: Invalid \\.*: line 1 column "):
        READERS["object"](broken)
    assert READERS["object"](f'{{"a": 1}} and {broken}') == {"a": 1}


@given(st.dictionaries(st.text(), JSON, max_size=5), PROSE, PROSE)
def test_an_object_is_found_within_fences_and_words(value: dict[str, Any], before: str, after: str) -> None:
    text = json.dumps(value)
    assert READERS["object"](text) == value
    assert READERS["object"](f"{before}\n```json\n{text}\n```\n{after}") == value
    assert READERS["object"](json.dumps(value, indent=2, ensure_ascii=False) + after) == value
