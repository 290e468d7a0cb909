"""The plan before deep research, within the chat graph: its making, approval, feedback, rejection."""

import json
from typing import Any

import pytest

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.clarifier import FALLBACK, PLANNER_ROLE
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.states import Plan
from aiq.core.events import Approval, Decision, StageChanged
from aiq.core.samples import Question
from aiq.core.session import ApprovingUser, FeedbackUser, RejectingUser
from aiq.offline.chat import ChatReply, ChatRequest
from tests.agents.ai_q.clarifier_stack import PLAN, TASK, ScriptedUser, asks, briefing, clarified, plain
from tests.agents.conftest import fenced


@pytest.mark.parametrize(("repaired", "used"), [(PLAN, Plan.model_validate(PLAN)), ({"title": "T"}, FALLBACK)])
async def test_an_unusable_plan_is_repaired_once_or_replaced(on_bench: Any, repaired: Any, used: Plan) -> None:
    replies = [json.dumps(repaired), '{"title": "T", "sections": ["One", " "]}']

    def script(request: ChatRequest) -> ChatReply:
        is_plan = request.role == PLANNER_ROLE
        return ChatReply(text=replies.pop()) if is_plan else plain(lambda request: asks(None))(request)

    async with on_bench(script) as bench:
        await AiqAgent(AiqSettings()).research(Question(text=TASK), bench.session)
    assert f"Plan (not shown to the user):\n{used.text()}" in briefing(bench)
    assert fenced(bench.endpoint.of(PLANNER_ROLE)[1], "bad_reply") == '{"title": "T", "sections": ["One", " "]}'
    assert FALLBACK.sections == ["Introduction", "Background", "Analysis", "Findings", "Conclusion"]


async def test_the_planner_is_asked_for_a_title_and_5_to_8_sections(on_bench: Any) -> None:
    _, bench = await clarified(on_bench, lambda request: asks(None))
    (request,) = bench.endpoint.of(PLANNER_ROLE)
    assert "5 to 8 sections" in request.system
    assert request.json_schema is not None
    assert set(request.json_schema["required"]) == {"title", "sections"}


@pytest.mark.parametrize(
    "word", ["approve", "Approve.", "yes", "y", "“approve”", "`ok`", "ＯＫ", "批准", "好的！", "「同意」"]
)
async def test_approval(on_bench: Any, word: str) -> None:
    user = ScriptedUser([], [word])
    report, bench = await clarified(on_bench, lambda request: asks(None), user, enable_plan_approval=True)
    assert report.route == "deep"
    assert "Plan (approved by the user):\nOrlune\n1. Origins" in briefing(bench)
    assert user.shown[0].startswith("**Research Plan Preview**\n\nOrlune\n1. Origins")
    assert "**approve**" in user.shown[0]
    assert "**reject**" in user.shown[0]


@pytest.mark.parametrize("word", ["reject", "No", "n", "cancel!", "ｎｏ", "取消", "不行。", "拒絕"])
async def test_rejection_ends_the_run_as_such(on_bench: Any, word: str) -> None:
    report, bench = await clarified(
        on_bench, lambda request: asks(None), ScriptedUser([], [word]), enable_plan_approval=True
    )
    assert (report.route, report.outcome) == ("rejected", "rejected")
    assert bench.endpoint.of("aiq.orchestrator") == []


async def test_feedback_goes_into_the_next_plan_all_of_it(on_bench: Any) -> None:
    user = ScriptedUser([], ["yes, but shorter", "add prices", "approve"])
    _, bench = await clarified(on_bench, lambda request: asks(None), user, enable_plan_approval=True)
    first, second, third = (request.last_user for request in bench.endpoint.of(PLANNER_ROLE))
    assert "<feedback>" not in first
    assert "<feedback>\nyes, but shorter\n</feedback>" in second
    assert third.index("yes, but shorter") < third.index("add prices")


async def test_after_max_plan_iterations_the_plan_stands_with_the_last_feedback_in_it(on_bench: Any) -> None:
    user = ScriptedUser([], ["more", "more still"])
    report, bench = await clarified(
        on_bench, lambda request: asks(None), user, enable_plan_approval=True, max_plan_iterations=2
    )
    assert report.route == "deep"
    assert "approved automatically after the last round of feedback" in briefing(bench)
    assert "more still" in bench.endpoint.of(PLANNER_ROLE)[2].last_user
    (decision,) = (event for event in bench.logged(Decision) if event.name == "plan_auto_approved")
    assert decision.cause == "clarifier.max_plan_iterations=2"


@pytest.mark.parametrize(
    ("user", "route", "reviews"),
    [
        pytest.param(ApprovingUser(), "deep", ["approve"], id="approve"),
        pytest.param(RejectingUser(), "rejected", ["reject"], id="reject"),
        pytest.param(FeedbackUser(["shorter", "longer"]), "deep", ["shorter", "longer", "approve"], id="feedback"),
    ],
)
async def test_users_of_evaluations(on_bench: Any, user: Any, route: str, reviews: list[str]) -> None:
    report, bench = await clarified(on_bench, lambda request: asks(), user, enable_plan_approval=True)
    assert report.route == route
    answers = [(event.kind, event.answer) for event in bench.logged(Approval)]
    assert answers == [("question", "skip"), *(("plan", review) for review in reviews)]


async def test_the_stage_is_logged_once_however_often_the_user_is_asked(on_bench: Any) -> None:
    user = ScriptedUser(["a", "b", "c"], ["more", "approve"])
    _, bench = await clarified(on_bench, lambda request: asks(), user, enable_plan_approval=True)
    assert [event.stage for event in bench.logged(StageChanged)].count("clarifier") == 1
    assert [event.kind for event in bench.logged(Approval)] == ["question"] * 3 + ["plan"] * 2
