"""The clarifier: questions, skip words, plan, approval, feedback, rejection."""

import json
from typing import Any

import pytest

from aiq.agents.ai_q.clarifier import FALLBACK_SECTIONS, PLANNER_ROLE, ROLE, Clarifier
from aiq.agents.ai_q.settings import ClarifierSettings
from aiq.core.events import Approval, Decision
from aiq.offline.chat import ChatReply, ChatRequest

PLAN = {"title": "Orlune", "sections": ["Origins", "Today", "Outlook"]}


class ScriptedUser:
    """Answers and reviews in the order given."""

    def __init__(self, answers: list[str], reviews: list[str]) -> None:
        self._answers, self._reviews = answers, reviews

    async def answer(self, question: str) -> str:
        return self._answers.pop(0)

    async def review(self, plan: str) -> str:
        return self._reviews.pop(0)


def asking(request: ChatRequest) -> ChatReply:
    if request.role == PLANNER_ROLE:
        return ChatReply(text=json.dumps(PLAN))
    return ChatReply(text=json.dumps({"needs_clarification": True, "clarification_question": "Which period?"}))


async def brief(on_bench: Any, script: Any, user: Any = None, **settings: Any) -> tuple[Any, Any]:
    async with on_bench(script, user=user) as bench:
        found = await Clarifier(ClarifierSettings(**settings)).brief("Write a report on Orlune", bench.session)
    return found, bench


async def test_questions_end_at_max_turns_and_answers_reach_the_plan(on_bench: Any) -> None:
    user = ScriptedUser(["The last ten years", "no"], [])
    found, bench = await brief(on_bench, asking, user, max_turns=2)
    assert len(bench.endpoint.of(ROLE)) == 2
    assert "Questions left: 2" in bench.endpoint.of(ROLE)[0].last_user
    assert "A: The last ten years" in bench.endpoint.of(ROLE)[1].last_user
    assert "A: no" in bench.endpoint.of(PLANNER_ROLE)[0].last_user  # an answer, not a skip
    assert found.text.startswith("Q: Which period?\nA: The last ten years")
    assert "1. Origins\n2. Today\n3. Outlook" in found.text


@pytest.mark.parametrize("answer", ["skip", "Skip.", "", "  ", "继续"])
async def test_skip_words_end_the_questions(on_bench: Any, answer: str) -> None:
    _, bench = await brief(on_bench, asking, ScriptedUser([answer], []))
    assert len(bench.endpoint.of(ROLE)) == 1
    assert [event.kind for event in bench.logged(Approval)] == ["question"]


async def test_no_question_where_none_is_needed_or_allowed(on_bench: Any) -> None:
    def content(request: ChatRequest) -> ChatReply:
        reply = {"needs_clarification": False, "clarification_question": None}
        return ChatReply(text=json.dumps(PLAN if request.role == PLANNER_ROLE else reply))

    found, bench = await brief(on_bench, content)
    assert found.text == "Plan (not shown to the user):\nOrlune\n1. Origins\n2. Today\n3. Outlook"
    assert bench.logged(Approval) == []
    _, silent = await brief(on_bench, asking, max_turns=0)
    assert silent.endpoint.of(ROLE) == []


async def test_an_unparsable_reply_asks_about_the_topic(on_bench: Any) -> None:
    user = ScriptedUser(["skip"], [])
    _, bench = await brief(on_bench, lambda request: ChatReply(text="hm"), user)
    (event,) = bench.logged(Approval)
    assert "Write a report on Orlune" in event.prompt
    assert "skip" in event.prompt


async def test_an_unusable_plan_is_replaced(on_bench: Any) -> None:
    found, _ = await brief(on_bench, lambda request: ChatReply(text="hm"), max_turns=0)
    assert all(section in found.text for section in FALLBACK_SECTIONS)


@pytest.mark.parametrize("word", ["approve", "Approve.", "yes", "批准"])
async def test_approval(on_bench: Any, word: str) -> None:
    user = ScriptedUser([], [word])
    found, bench = await brief(on_bench, asking, user, max_turns=0, enable_plan_approval=True)
    assert not found.rejected
    assert "approved by the user" in found.text
    assert bench.logged(Approval)[0].prompt.startswith("**Research Plan Preview**")


@pytest.mark.parametrize("word", ["reject", "No", "cancel!", "取消"])
async def test_rejection(on_bench: Any, word: str) -> None:
    found, _ = await brief(on_bench, asking, ScriptedUser([], [word]), max_turns=0, enable_plan_approval=True)
    assert found.rejected


async def test_feedback_goes_into_the_next_plan(on_bench: Any) -> None:
    user = ScriptedUser([], ["yes, but shorter", "approve"])
    _, bench = await brief(on_bench, asking, user, max_turns=0, enable_plan_approval=True)
    first, second = bench.endpoint.of(PLANNER_ROLE)
    assert "<feedback>" not in first.last_user
    assert "<feedback>\nyes, but shorter\n</feedback>" in second.last_user


async def test_after_the_last_round_of_feedback_the_plan_stands(on_bench: Any) -> None:
    user = ScriptedUser([], ["more", "more still"])
    found, bench = await brief(on_bench, asking, user, max_turns=0, enable_plan_approval=True, max_plan_iterations=2)
    assert not found.rejected
    assert "approved automatically" in found.text
    assert [event.name for event in bench.logged(Decision)] == ["plan_auto_approved"]
