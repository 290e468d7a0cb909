"""The clarifier within the chat graph: questions, the search nudge, skip words, replies that cannot be read."""

from typing import Any

import pytest

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.clarifier import JSON_ONLY, NUDGE, PLANNER_ROLE, ROLE, next_question
from aiq.agents.ai_q.settings import AiqSettings
from aiq.core.errors import AgentError
from aiq.core.events import Approval, ToolCalled
from aiq.core.samples import Document, Question, Turn
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.ai_q.clarifier_stack import TASK, ScriptedUser, asks, briefing, clarified, plain, search


async def test_no_question_where_none_is_needed(on_bench: Any) -> None:
    _, bench = await clarified(on_bench, lambda request: asks(None))
    assert len(bench.endpoint.of(ROLE)) == 1  # and no nudge to search for nothing
    assert bench.logged(Approval) == bench.search.queries == []
    assert "Plan (not shown to the user):\nOrlune\n1. Origins\n2. People" in briefing(bench)


async def test_max_turns_0_asks_nothing_and_calls_nothing(on_bench: Any) -> None:
    _, bench = await clarified(on_bench, lambda request: asks(), max_turns=0)
    assert bench.endpoint.of(ROLE) == []
    assert "5. Outlook" in briefing(bench)


async def test_remaining_questions_count_down_to_max_turns(on_bench: Any) -> None:
    user = ScriptedUser(["The last ten years", "Trade"], [])
    _, bench = await clarified(on_bench, lambda request: asks(), user, max_turns=2, max_searches=0)
    first, second = bench.endpoint.of(ROLE)  # at none left it completes without a call
    assert "Questions left: 2" in first.last_user
    assert "Questions left: 1" in second.last_user
    assert "Q: Which period?\nA: The last ten years" in second.last_user
    planned = bench.endpoint.of(PLANNER_ROLE)[0].last_user
    assert "A: The last ten years\nQ: Which period?\nA: Trade" in planned
    assert "A: The last ten years\nQ: Which period?\nA: Trade\n\nPlan (" in briefing(bench)


@pytest.mark.parametrize("answer", ["no", "n", "No."])
async def test_no_may_be_the_true_answer_and_does_not_end_the_dialogue(on_bench: Any, answer: str) -> None:
    user = ScriptedUser([answer, "skip"], [])
    _, bench = await clarified(on_bench, lambda request: asks("Is trade meant too?"), user)
    assert f"A: {answer}" in bench.endpoint.of(PLANNER_ROLE)[0].last_user
    assert len(user.shown) == 2


@pytest.mark.parametrize("answer", ["skip", "Skip.", "", "  ", "done", "继续", "跳過。"])
async def test_skip_words_end_the_questions(on_bench: Any, answer: str) -> None:
    user = ScriptedUser([answer], [])
    _, bench = await clarified(on_bench, lambda request: asks(), user)
    assert user.shown == ["Which period?"]
    assert [(event.kind, event.answer) for event in bench.logged(Approval)] == [("question", answer.strip())]
    assert "Q:" not in bench.endpoint.of(PLANNER_ROLE)[0].last_user


async def test_a_question_asked_without_searching_is_nudged_once_and_the_nudge_is_not_kept(on_bench: Any) -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        if request.last_user == NUDGE:
            return search("orlune")
        searched = any(message.role == "tool" for message in request.messages)
        return asks("Upper or lower Orlune?" if searched else "What?")

    user = ScriptedUser(["Upper", "skip"], [])
    _, bench = await clarified(on_bench, clarifier, user)
    hasty, nudged, searched, again = bench.endpoint.of(ROLE)
    assert NUDGE not in [message.text for message in hasty.messages]
    assert nudged.last_user == NUDGE
    assert "web_search_tool" in nudged.tool_names
    for later in (searched, again):  # with the results, a reminder of the form, and no trace of nudge or hasty question
        assert later.last_user == JSON_ONLY
        assert [message.role for message in later.messages] == ["system", "user", "assistant", "tool", "user"]
        assert "orlune is well described" in later.messages[3].text
    assert user.shown == ["Upper or lower Orlune?"] * 2
    assert bench.search.queries == ["orlune"]


async def test_a_model_that_does_not_search_when_nudged_may_ask(on_bench: Any) -> None:
    user = ScriptedUser(["Ten years", "skip"], [])
    _, bench = await clarified(on_bench, lambda request: asks(), user)
    assert [request.last_user == NUDGE for request in bench.endpoint.of(ROLE)] == [False, True, False]
    assert user.shown == ["Which period?"] * 2


async def test_a_model_that_searches_of_its_own_accord_is_not_nudged(on_bench: Any) -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        return asks() if any(message.role == "tool" for message in request.messages) else search("orlune")

    _, bench = await clarified(on_bench, clarifier, ScriptedUser(["skip"], []))
    assert NUDGE not in [request.last_user for request in bench.endpoint.of(ROLE)]


async def test_searches_beyond_the_budget_are_answered_in_order_without_being_made(on_bench: Any) -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        return asks(None) if any(message.role == "tool" for message in request.messages) else search("a", "b", "c")

    _, bench = await clarified(on_bench, clarifier, max_searches=2)
    results = [message.text for message in bench.endpoint.of(ROLE)[1].messages if message.role == "tool"]
    assert bench.search.queries == ["a", "b"]
    assert results[2].startswith("Error: over budget")
    assert bench.endpoint.of(ROLE)[1].tool_names == ()


async def test_a_tool_that_was_not_offered_is_not_run(on_bench: Any) -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        searched = any(message.role == "tool" for message in request.messages)
        return asks(None) if searched else ChatReply(tool_calls=(call("think", thought="hm"),))

    _, bench = await clarified(on_bench, clarifier)
    assert "think is not a valid tool" in bench.endpoint.of(ROLE)[1].messages[3].text
    assert [event.tool for event in bench.logged(ToolCalled)] == []


async def test_without_a_budget_for_searches_there_are_no_tools_and_no_nudge(on_bench: Any) -> None:
    _, bench = await clarified(on_bench, lambda request: asks(), ScriptedUser(["skip"], []), max_searches=0)
    (request,) = bench.endpoint.of(ROLE)
    assert request.tool_names == ()


async def test_what_was_found_is_a_source_before_those_of_deep_research(on_bench: Any) -> None:
    def clarifier(request: ChatRequest) -> ChatReply:
        return asks(None) if any(message.role == "tool" for message in request.messages) else search("orlune")

    _, bench = await clarified(on_bench, clarifier)
    assert [source.url for source in bench.session.sources.all()] == ["https://pages.test/orlune"]


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        pytest.param('{"needs_clarification": true, "clarification_question": "When?"}', "When?", id="whole-text"),
        pytest.param(
            '```json\n{"needs_clarification": true, "clarification_question": "When?"}\n```', "When?", id="fence"
        ),
        pytest.param(
            'First {"x": 1}, then {"needs_clarification": true, "clarification_question": "When?"}',
            "When?",
            id="object-with-the-key",
        ),
        pytest.param('Well: {"needs_clarification": false} and so on', None, id="first-object"),
        pytest.param('{"needs_clarification": false, "clarification_question": "When?"}', None, id="not-needed"),
    ],
)
def test_parse_attempts(reply: str, question: str | None) -> None:
    assert next_question(reply, TASK) == question


@pytest.mark.parametrize("reply", ["hm", "", '{"needs_clarification": "perhaps"}', '{"needs_clarification": true}'])
def test_an_unusable_reply_asks_about_the_topic(reply: str) -> None:
    asked = next_question(reply, "Rivers " * 40)
    assert asked is not None
    assert ("Rivers " * 40)[:80] in asked
    assert ("Rivers " * 40)[:81] not in asked
    assert "'skip'" in asked


async def test_an_unparsable_reply_reaches_the_user_as_the_fallback_question(on_bench: Any) -> None:
    user = ScriptedUser(["skip"], [])
    await clarified(on_bench, lambda request: ChatReply(text="hm"), user)
    assert TASK in user.shown[0]


async def test_history_and_documents_reach_the_prompt(on_bench: Any) -> None:
    history = (Turn(speaker="user", text="Hello"), Turn(speaker="assistant", text="Hi, what about rivers?"))
    question = Question(text=TASK, history=history, documents=(Document(file_name="map.pdf", summary="A map."),))
    _, bench = await clarified(on_bench, lambda request: asks(None), question=question)
    asked = bench.endpoint.of(ROLE)[0].last_user
    assert "User: Hello\nAssistant: Hi, what about rivers?" in asked
    assert "map.pdf: A map." in asked


async def test_without_research_tools_nobody_is_asked_about_deep_research(on_bench: Any) -> None:
    async with on_bench(plain(lambda request: asks())) as bench:
        with pytest.raises(AgentError, match=r"no research tool: data_sources=\[\]"):
            await AiqAgent(AiqSettings()).research(Question(text=TASK, data_sources=()), bench.session)
    assert bench.endpoint.of(ROLE) == []
