"""The clarifier within the chat graph: questions, the search nudge, skip words; the plan, its approval and feedback."""

import json
from typing import Any

import pytest

from aiq.agents.ai_q.clarifier import JSON_ONLY, NUDGE, PLANNER_ROLE, ROLE, next_question
from aiq.agents.ai_q.states import FALLBACK, Plan
from aiq.core.errors import AgentError
from aiq.core.events import Approval, Decision, StageChanged, ToolReturned
from aiq.core.samples import Document, Question, Turn
from aiq.core.session import ApprovingUser
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.conftest import agent, fenced, on_bench
from tests.agents.replies import ADMITS, PLAN, REPORT, TASK, ScriptedUser, asks, calls, chat, results, search


async def clarified(
    clarifier: Any, user: Any = None, question: Question | None = None, **settings: Any
) -> tuple[Any, Any]:
    """(report, bench) of a run through the whole chat graph with this clarifier model."""
    script = chat(roles={ROLE: clarifier, "aiq.orchestrator": lambda request: ChatReply(text=REPORT)})
    async with on_bench(script, user=user or ApprovingUser()) as bench:
        return await agent(clarifier=settings).research(question or Question(text=TASK), bench.session), bench


def asking(request: ChatRequest) -> ChatReply:
    return asks()


def content(request: ChatRequest) -> ChatReply:
    return asks(None)


def searching(*queries: str, then: str | None = None) -> Any:
    """A clarifier that searches first."""
    return lambda request: asks(then) if results(request) else search(*queries)


def briefing(bench: Any) -> str:
    """What the orchestrator's prompt says was settled."""
    return str(bench.endpoint.of("aiq.orchestrator")[0].system)


@pytest.mark.parametrize(("clarifier", "settings", "asked"), [(content, {}, 1), (asking, {"max_turns": 0}, 0)])
async def test_no_question_where_none_is_needed_or_allowed(clarifier: Any, settings: Any, asked: int) -> None:
    _, bench = await clarified(clarifier, **settings)
    assert len(bench.endpoint.of(ROLE)) == asked  # and no nudge to search without need
    assert bench.logged(Approval) == bench.search.queries == []
    assert "Plan (not shown to the user):\nOrlune\n1. Origins\n2. People" in briefing(bench)


async def test_remaining_questions_count_down_to_max_turns() -> None:
    user = ScriptedUser(["The last ten years", "Trade"], [])
    _, bench = await clarified(asking, user, max_turns=2, max_searches=0)
    first, second = bench.endpoint.of(ROLE)  # with none left the clarifier ends without a call
    assert "Questions left: 2" in first.last_user
    assert first.tool_names == ()  # since there is no search budget
    assert "Questions left: 1" in second.last_user
    assert "Q: Which period?\nA: The last ten years" in second.last_user
    prompt = bench.endpoint.of(PLANNER_ROLE)[0].last_user
    assert "A: The last ten years\nQ: Which period?\nA: Trade" in prompt
    assert "A: The last ten years\nQ: Which period?\nA: Trade\n\nPlan (" in briefing(bench)


async def test_no_is_an_answer_and_unlike_skip_does_not_end_the_questions() -> None:
    user = ScriptedUser(["No.", " Skip. "], [])
    _, bench = await clarified(asking, user)
    assert user.shown == ["Which period?"] * 2
    assert [event.answer for event in bench.logged(Approval) if event.kind == "question"] == ["No.", "Skip."]
    prompt = bench.endpoint.of(PLANNER_ROLE)[0].last_user
    assert "A: No." in prompt
    assert "Skip" not in prompt


async def test_a_question_asked_without_searching_is_nudged_once_and_the_nudge_is_not_kept() -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        return search("orlune") if request.last_user == NUDGE else asks("Which?" if results(request) else "What?")

    user = ScriptedUser(["Upper", "skip"], [])
    _, bench = await clarified(clarifier, user)
    hasty, nudged, searched, last = bench.endpoint.of(ROLE)
    assert NUDGE not in [message.text for message in hasty.messages]
    assert nudged.last_user == NUDGE
    assert "web_search_tool" in nudged.tool_names
    for later in (searched, last):  # results and a format reminder, but neither nudge nor hasty question
        assert later.last_user == JSON_ONLY
        assert [message.role for message in later.messages] == ["system", "user", "assistant", "tool", "user"]
        assert "orlune is well described" in later.messages[3].text
    assert user.shown == ["Which?"] * 2
    assert bench.search.queries == ["orlune"]


async def test_a_model_that_does_not_search_when_nudged_may_ask() -> None:
    user = ScriptedUser(["Ten years", "skip"], [])
    _, bench = await clarified(asking, user)
    assert [request.last_user == NUDGE for request in bench.endpoint.of(ROLE)] == [False, True, False]
    assert user.shown == ["Which period?"] * 2


async def test_an_unprompted_search_needs_no_nudge_and_searches_over_budget_are_not_made() -> None:
    _, bench = await clarified(searching("a", "b", "c", then="Which?"), ScriptedUser(["skip"], []), max_searches=2)
    assert NUDGE not in [request.last_user for request in bench.endpoint.of(ROLE)]
    last = bench.endpoint.of(ROLE)[1]
    assert bench.search.queries == ["a", "b"]
    assert [source.url for source in bench.session.sources.all()] == ["https://pages.test/a", "https://pages.test/b"]
    assert results(last)[2].startswith("Error: over budget")
    assert last.tool_names == ()


async def test_a_tool_that_was_not_offered_is_not_run() -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        return asks(None) if results(request) else calls(call("think", thought="hm"))

    _, bench = await clarified(clarifier)
    assert "think is not a valid tool" in results(bench.endpoint.of(ROLE)[1])[0]
    assert [event.error for event in bench.logged(ToolReturned)] == ["unknown_tool"]


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ('{"needs_clarification": true, "clarification_question": "When?"}', "When?"),
        ('Well: {"needs_clarification": false} and so on', None),
        ('{"needs_clarification": false, "clarification_question": "When?"}', None),
        *((bad, "(type 'skip'") for bad in ("hm", '{"needs_clarification": "?"}', '{"needs_clarification": true}')),
    ],
)
def test_an_unusable_reply_leads_to_a_general_question_about_the_topic(reply: str, question: str | None) -> None:
    task = "A report on rivers " * 20
    result = next_question(reply, task)
    assert result == question or (str(question) in str(result) and f'"{task[:80]}"' in str(result))


async def test_history_and_documents_reach_the_prompt() -> None:
    history = (Turn(speaker="user", text="Hello"), Turn(speaker="assistant", text="Hi, what about rivers?"))
    question = Question(text=TASK, history=history, documents=(Document(file_name="map.pdf", summary="A map."),))
    _, bench = await clarified(content, question=question)
    prompt = bench.endpoint.of(ROLE)[0].last_user
    assert "User: Hello\nAssistant: Hi, what about rivers?" in prompt
    assert "map.pdf: A map." in prompt


@pytest.mark.parametrize("enable_clarifier", [True, False])
@pytest.mark.parametrize(
    ("sources", "tools", "says"),
    [((), None, r"data_sources=\[\] and agent.deep.tools=None"), (None, ("think",), r"agent.deep.tools=\('think',\)")],
)
async def test_without_research_tools_there_is_an_error_before_any_question(
    sources: Any, tools: Any, says: str, enable_clarifier: bool
) -> None:
    settings = {"deep": {"tools": tools}, "enable_clarifier": enable_clarifier}
    async with on_bench(chat(shallow=ADMITS)) as bench:
        with pytest.raises(AgentError, match=rf"no research tool: .*{says}"):
            await bench.ask(agent(**settings), TASK, data_sources=sources)
        report = await bench.ask(agent(**settings), "Who is the mayor?", data_sources=sources)
    assert (report.route, report.extras["escalation"]["cause"]) == ("shallow", "no research tool")
    assert [request.role for request in bench.endpoint.requests if request.role == ROLE] == []


# The plan.


@pytest.mark.parametrize(("repaired", "used"), [(PLAN, Plan.model_validate(PLAN)), ({"title": "T"}, FALLBACK)])
async def test_an_unusable_plan_is_repaired_once_or_replaced(repaired: Any, used: Plan) -> None:
    broken = '{"title": "T", "sections": ["One", " "]}'
    replies = [json.dumps(repaired), broken]
    async with on_bench(chat(roles={PLANNER_ROLE: lambda request: ChatReply(text=replies.pop())})) as bench:
        await bench.ask(agent(), TASK)
    assert f"Plan (not shown to the user):\n{used.text()}" in briefing(bench)
    assert fenced(bench.endpoint.of(PLANNER_ROLE)[1], "bad_reply") == broken


async def test_all_feedback_reaches_the_next_plan_which_is_approved_after_max_plan_iterations() -> None:
    user = ScriptedUser([], ["yes, but shorter", "add prices"])
    report, bench = await clarified(content, user, enable_plan_approval=True, max_plan_iterations=2)
    first, second, third = (request.last_user for request in bench.endpoint.of(PLANNER_ROLE))
    assert "<feedback>" not in first
    assert "<feedback>\nyes, but shorter\n</feedback>" in second
    assert third.index("yes, but shorter") < third.index("add prices")
    assert report.route == "deep"
    assert "approved automatically after the last round of feedback" in briefing(bench)
    (decision,) = (event for event in bench.logged(Decision) if event.name == "plan_auto_approved")
    assert decision.cause == "clarifier.max_plan_iterations=2"
    assert [event.stage for event in bench.logged(StageChanged)].count("clarifier") == 1  # though it ran three times


async def test_an_ambiguous_reply_is_asked_again_without_another_plan() -> None:
    user = ScriptedUser([], ["skip", "", "Looks good, go ahead!"])
    report, bench = await clarified(content, user, enable_plan_approval=True)
    assert report.route == "deep"
    assert len(bench.endpoint.of(PLANNER_ROLE)) == 1
    first, second, third = user.shown
    assert second == f'"skip" can be understood both ways: **approve** or **reject**?\n\n{first}'
    assert third == first


async def test_a_refusal_ends_the_turn_however_it_is_worded() -> None:
    report, bench = await clarified(content, ScriptedUser([], ["取消吧"]), enable_plan_approval=True)
    assert (report.route, report.outcome) == ("rejected", "rejected")
    assert len(bench.endpoint.of(PLANNER_ROLE)) == 1


async def test_a_new_question_replaces_the_plan_once_the_user_confirms_it() -> None:
    user = ScriptedUser(["skip", "yes"], ["Who is the mayor?"])
    report, bench = await clarified(asking, user, enable_plan_approval=True)
    assert report.route == "shallow"
    assert bench.endpoint.of("aiq.orchestrator") == []
    assert 'Replace the plan by this new question? "Who is the mayor?"' in user.shown[-1]
    _, second = bench.endpoint.of("aiq.intent_classifier")
    assert "<question>\nWho is the mayor?\n</question>" in second.last_user
    assert [event.name for event in bench.logged(Decision)].count("plan_replaced") == 1


@pytest.mark.parametrize(("says", "feedback"), [("no", []), ("", []), ("only his name", ["only his name"])])
async def test_what_the_user_does_not_confirm_as_a_new_question_is_feedback(says: str, feedback: list[str]) -> None:
    user = ScriptedUser([says], ["Who is the mayor?", "approve"])
    report, bench = await clarified(content, user, enable_plan_approval=True)
    assert report.route == "deep"
    prompt = bench.endpoint.of(PLANNER_ROLE)[1].last_user
    assert all(f"<feedback>\n{remark}\n</feedback>" in prompt for remark in ("Who is the mayor?", *feedback))
    assert prompt.count("</feedback>") == 1 + len(feedback)


async def test_replies_of_an_automatic_user_are_only_feedback() -> None:
    user = ApprovingUser(["Who is the mayor?"])
    report, bench = await clarified(content, user, enable_plan_approval=True)
    assert (report.route, len(bench.endpoint.of(PLANNER_ROLE))) == ("deep", 2)
