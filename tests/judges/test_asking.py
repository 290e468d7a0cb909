"""Asking a judge model: strict JSON, tries with other seeds, and an error that says what was wrong."""

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import JudgeError
from aiq.experiment.stores import AnswerStore, SharedAnswers
from aiq.judges.structured import Unusable, ask, ask_once, each_bounded, read_object
from aiq.runs.folder import RunFolder

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


async def test_an_unusable_answer_is_asked_again_with_another_seed(scripted: Any) -> None:
    async with scripted(["no", "no", "YES"]) as (session, endpoint):
        assert await ask(session, "judge.x", "Say yes.", loud, tries=3) == ("YES", 3)
    assert len({request["seed"] for request in endpoint.got}) == 3
    assert [request["messages"] for request in endpoint.got] == [[{"role": "user", "content": "Say yes."}]] * 3


async def test_what_one_endpoint_answered_is_not_taken_for_another_ones_answer(scripted: Any, tmp_path: Path) -> None:
    store, told, seeds = AnswerStore(RunFolder(tmp_path)), [], []
    for base_url, answer in (("http://a.example/v1", "A"), ("http://b.example/v1", "B"), ("http://a.example/v1/", "-")):
        async with scripted([answer], base_url=base_url) as (session, endpoint):
            kept = replace(session, answers=SharedAnswers(store))
            told.append(await ask_once(kept, "judge.x", "Say yes.", loud, tries=1))
            seeds += [request["seed"] for request in endpoint.got]
    assert told == ["A", "B", "A"]
    assert seeds[0] == seeds[1]  # the same question, so that the two can be compared


async def test_votes_and_tries_never_share_a_seed(scripted: Any) -> None:
    async with scripted(["no"] * 20) as (session, endpoint):
        for vote in range(4):
            with pytest.raises(JudgeError):
                await ask(session, "judge.x", "Say yes.", loud, tries=5, vote=vote)
    assert len({request["seed"] for request in endpoint.got}) == 20


async def test_the_last_try_ends_in_one_clear_line(scripted: Any) -> None:
    async with scripted(["first", "second\n\nand more"]) as (session, endpoint):
        with pytest.raises(JudgeError) as failure:
            await ask(session, "judge.x", "Say yes.", loud, tries=2)
    assert str(failure.value) == (
        "judge.x: no usable answer in 2 tries: it is not in capitals; the last answer began 'second and more'"
    )
    assert len(endpoint.got) == 2


@given(st.dictionaries(st.text(), JSON, max_size=5), PROSE, PROSE)
def test_an_object_is_found_within_fences_and_words(value: dict[str, Any], before: str, after: str) -> None:
    raw = json.dumps(value)
    assert read_object(raw) == value
    assert read_object(f"{before}\n```json\n{raw}\n```\n{after}") == value
    assert read_object(json.dumps(value, indent=2, ensure_ascii=False) + after) == value


def test_reasoning_before_the_answer_is_passed_over() -> None:
    assert read_object('<think>maybe {"a": 2}?</think>\n{"a": 1}') == {"a": 1}


def test_brackets_of_prose_hide_no_answer() -> None:
    assert read_object('As [1] and [see 2] say {more or less}: {"a": [1]}. [End') == {"a": [1]}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I'm sorry, I can't help with that.",
        "[1, 2]",
        '"text"',
        '{"a": 1',
        '{"a": }',
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": 1} {"a": 2}',
        '{"a": 1}\nor rather\n{"b": 2}',
        '{"a": ' + "9" * 5000 + "}",
        "{" * 100_000,
        '{"a":' * 5000,
        "{\x00}",
        '{"a": {"verdicts": []}',
        '{"a": {"verdicts": []} and so on',
        '{"a": "he said {"verdicts": []}',
        '[{"a": 1}, {"b": ',
        "{" * 300 + '{"a": 1}',
    ],
)
def test_what_would_have_to_be_guessed_is_refused(answer: str) -> None:
    with pytest.raises(Unusable):
        read_object(answer)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(Unusable):
        assert isinstance(read_object(text), dict)


async def test_work_is_bounded_and_keeps_its_order() -> None:
    running, most = 0, 0

    async def work(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (5 - item))
        running -= 1
        return item

    assert await each_bounded(range(5), work, 2) == [0, 1, 2, 3, 4]
    assert most == 2


async def test_the_first_error_ends_the_rest() -> None:
    ended: list[int] = []

    async def work(item: int) -> None:
        if item == 0:
            raise JudgeError("first")
        try:
            await asyncio.sleep(10)
        finally:
            ended.append(item)

    with pytest.raises(JudgeError, match="first"):
        await each_bounded([0, 1], work, 2)
    await asyncio.sleep(0)
    assert ended == [1]


async def test_what_an_error_ends_has_ended_when_it_is_raised() -> None:
    ended: list[str] = []

    async def work(item: str) -> None:
        try:
            await asyncio.sleep(0 if item == "bad" else 60)
            raise JudgeError("bad")
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.append(item)
            raise

    with pytest.raises(JudgeError):
        await each_bounded(["bad", "slow"], work, 2)
    assert ended == ["slow"]
