"""Conversations on a checkpointer: follow-ups, waiting for a user, what a thread holds, no leaks."""

import asyncio
import logging
import re
from contextlib import suppress
from typing import Any

import pytest

from aiq.agents.ai_q.agent import REJECTED, AiqAgent
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.base import Resumable
from aiq.agents.toolkit.conversation import ConversationMemory, Thread
from aiq.core.errors import AgentError
from aiq.core.events import Decision
from aiq.core.samples import Document, Question, Turn
from aiq.core.session import ApprovingUser, RejectingUser
from aiq.offline.chat import ChatReply, ChatRequest
from tests.agents.conftest import EACH_SAVER, IN_A_FILE, agent, fenced, on_bench
from tests.agents.replies import (
    ADMITS,
    APPROVAL,
    FOUND,
    MADE_UP,
    REFERENCES,
    SHORT,
    TASK,
    ScriptedUser,
    absent,
    asks,
    chat,
)
from tests.settings import configured

CLASSIFIER = "aiq.intent_classifier"
BLANK = Question(text="", thread_id="t")
CITED = f"The mayor is Ilan Corvey [1][2].\n\n{REFERENCES}\n[2] made up - {MADE_UP}"


def shallow(request: ChatRequest) -> ChatReply | None:
    """`Lost?` finds nothing, `Blank?` says nothing, `Again?` cites without a search."""
    text = {"Lost?": ADMITS, "Blank?": " ", "Again?": SHORT}.get(request.last_user)
    return None if text is None else ChatReply(text=text)


SCRIPT = chat(shallow=CITED, report=f"# Orlune\n\n{CITED} " + "Long. " * 90, roles={"aiq.shallow_researcher": shallow})


def config(thread: str = "t") -> Any:
    return {"configurable": {"thread_id": thread}}


async def threads(saver: Any) -> list[str]:
    """The threads that a saver holds, each once."""
    return sorted({item.config["configurable"]["thread_id"] async for item in saver.alist(None)})


async def stored_messages(saver: Any) -> list[tuple[str, str]]:
    """The (type, text) of each message in the thread `t`, as another process would read them."""
    state = await agent()._threads.graph(saver).aget_state(config())
    assert state.next == ()
    return [(message.type, message.text) for message in state.values["messages"]]


async def test_a_follow_up_is_classified_and_researched_with_the_conversation_so_far(saver: Any) -> None:
    chat_agent = agent()
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        await bench.ask(chat_agent, TASK, thread_id="t")
        report = await bench.ask(chat_agent, "And its mayor?", thread_id="t")
        await bench.ask(chat_agent, "Who?", thread_id="u")
    assert report.route == "shallow"
    follow_up, stranger = bench.endpoint.of(CLASSIFIER)[1:]
    assert f"User: {TASK}\nAssistant: # Orlune" in follow_up.last_user
    assert "Orlune" not in stranger.last_user
    turn = [request for request in bench.endpoint.of("aiq.shallow_researcher") if request.last_user == "And its mayor?"]
    assert turn[0].messages[1].text == TASK
    assert await threads(saver) == ["t", "u"]


async def test_a_new_turn_starts_clean(saver: Any) -> None:
    """No state of the first turn, such as its plan, reaches the second."""
    made = agent()
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        await bench.ask(made, TASK, thread_id="t", user_info={"name": "Ada"})
        await bench.ask(made, "Again?", thread_id="t")
        state = (await made._threads.graph(saver).aget_state(config())).values
    assert state["clarifier_result"] is state["final_report"] is state["user_info"] is None
    assert state["original_query"] == "Again?"


async def test_a_later_turn_may_cite_what_its_thread_found(saver: Any) -> None:
    chat_agent = agent()
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        for question, thread in ((TASK, "t"), ("Who is the mayor?", "t"), ("Again?", "t"), ("Again?", "u")):
            report = await bench.ask(agent() if question == "Again?" else chat_agent, question, thread_id=thread)
            audit, in_thread = report.audit, thread == "t"
            assert [citation.source for citation in audit.valid_citations] == [FOUND] * in_thread
            assert len(audit.removed_citations) == (question != "Again?" or not in_thread)
        messages = (await chat_agent._threads.graph(saver).aget_state(config())).values["messages"]
    stored = [message.response_metadata.get("sources") for message in messages if message.type == "ai"]
    assert [[source["url"] for source in sources] for sources in stored] == [[FOUND], [], []]
    assert all("text" not in source for sources in stored for source in sources)


@IN_A_FILE
async def test_a_plan_waits_until_its_user_returns(saver: Any) -> None:
    user = ScriptedUser([], ["approve"])
    async with on_bench(SCRIPT, user=absent(), checkpointer=saver) as bench:
        with pytest.raises(EOFError, match="Research Plan Preview"):
            await bench.ask(agent(**APPROVAL), TASK, thread_id="t", documents=(Document(file_name="a.pdf"),))
        assert bench.endpoint.of("aiq.orchestrator") == []
        restarted = AiqAgent(configured(AiqSettings, **APPROVAL))  # as in a new process
        assert isinstance(restarted, Resumable)
        report = await bench.resume(restarted, "t", user)
        assert await bench.resume(restarted, "t") is None
    assert report.route == "deep"
    assert user.shown[0].startswith("**Research Plan Preview**\n\nOrlune\n1. Origins")
    assert all(f"**{word}**" in user.shown[0] for word in ("approve", "reject"))
    assert len(bench.endpoint.of("aiq.clarifier_planner")) == 1
    first = bench.endpoint.of("aiq.orchestrator")[0]
    assert "Plan (approved by the user):\nOrlune\n1. Origins" in first.system
    assert "a.pdf" in first.system


async def test_a_new_question_replaces_a_waiting_plan(saver: Any) -> None:
    chat_agent = agent(**APPROVAL)
    async with on_bench(SCRIPT, user=absent(), checkpointer=saver) as bench:
        with pytest.raises(EOFError):
            await bench.ask(chat_agent, TASK, thread_id="t")
        report = await bench.ask(chat_agent, "Who is the mayor?", thread_id="t")
        assert await bench.resume(chat_agent, "t") is None
    assert report.route == "shallow"


@EACH_SAVER
async def test_threads_and_epochs_do_not_leak_into_each_other(saver: Any) -> None:
    """With three conversations of two turns in two epochs at once, no request mentions another conversation."""
    chat_agent, marks = agent(), [f"mark{number}" for number in range(3)]

    async def converse(bench: Any, mark: str, epoch: int) -> None:
        for turn in ("Who rules", "And who ruled before"):
            await bench.ask(chat_agent, f"{turn} {mark} in {epoch}?", thread_id=mark, epoch=epoch)
            await asyncio.sleep(0)

    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        await asyncio.gather(*(converse(bench, mark, epoch) for mark in marks for epoch in (1, 2)))
        assert await threads(saver) == sorted([*marks, *(f"{mark}.2" for mark in marks)])
    assert chat_agent._threads.graph(saver) is chat_agent._threads.graph(saver)  # compiled only once
    for request in bench.endpoint.requests:
        text = "\n".join(message.text for message in request.messages)
        assert len(set(re.findall(r"mark\d in \d", text))) <= 1
    for mark in marks:  # and each has its own history
        requests = [r for r in bench.endpoint.of(CLASSIFIER) if f"ruled before {mark} in 2" in r.last_user]
        assert f"User: Who rules {mark} in 2?" in requests[0].last_user


@EACH_SAVER
async def test_a_question_without_a_thread_gets_a_temporary_one(saver: Any) -> None:
    """Nothing reaches the run's saver, so a `kill -9` leaves nothing behind, and memory does not fill up."""
    plain, reviewing = agent(), agent(**APPROVAL)
    threads_seen: list[list[str]] = []

    class Watching(ApprovingUser):
        async def review(self, plan: str) -> str:
            threads_seen.append(await threads(saver))
            return "approve"

    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        await asyncio.gather(*(bench.ask(plain, "Who?", epoch=epoch) for epoch in (1, 1, 2)))
        await bench.ask(reviewing, TASK, user=Watching())
        with pytest.raises(EOFError):
            await bench.ask(reviewing, TASK, user=absent())
    assert (threads_seen, await threads(saver)) == ([[]], [])
    for chat_agent in (plain, reviewing):
        memory: Any = chat_agent._threads.graph(None).checkpointer
        assert await threads(memory) == []
    assert all("Who?" not in (fenced(r, "conversation") or "") for r in bench.endpoint.of(CLASSIFIER))


@EACH_SAVER
async def test_the_checkpointer_knows_every_type(saver: Any, caplog: pytest.LogCaptureFixture) -> None:
    chat_agent, documents = agent(**APPROVAL), (Document(file_name="a.pdf"),)
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        with caplog.at_level(logging.WARNING, logger="langgraph"):
            for text in (TASK, "Who?", "Another report"):
                await bench.ask(chat_agent, text, thread_id="t", documents=documents)
        state = await chat_agent._threads.graph(saver).aget_state(config())
    assert [record.message for record in caplog.records if record.name.startswith("langgraph")] == []
    assert state.values["available_documents"] == list(documents)
    assert state.values["depth_decision"].decision == "deep"


async def test_history_given_with_a_question_is_used_only_to_start_a_thread(saver: Any) -> None:
    history = (Turn(speaker="user", text="Hello"), Turn(speaker="assistant", text="Hi"))
    chat_agent = agent()
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        for text in ("Who?", "When?"):
            await bench.ask(chat_agent, text, thread_id="t", history=history)
    second = fenced(bench.endpoint.of(CLASSIFIER)[1], "conversation") or ""
    assert second.count("User: Hello") == 1
    assert second.startswith("User: Hello\nAssistant: Hi\nUser: Who?")


# What a thread holds: the questions as written and the answers as users saw them.


@pytest.mark.parametrize(("question", "route"), [("Hello", "meta"), ("Who?", "shallow"), ("Lost?", "escalated")])
async def test_a_thread_holds_what_its_user_saw(saver: Any, question: str, route: str) -> None:
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        report = await bench.ask(agent(), question, thread_id="t")
    assert report.route == route
    assert MADE_UP not in report.text
    assert await stored_messages(saver) == [("human", question), ("ai", report.text)]


@pytest.mark.parametrize(("question", "comes_back"), [(TASK, True), ("Lost?", False)])
async def test_an_interrupted_turn_holds_its_question_once_and_the_answer_shown_later(
    saver: Any, question: str, comes_back: bool
) -> None:
    """Nobody saw what the interrupted turn had written, such as a shallow answer."""
    chat_agent = agent(**APPROVAL)
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        with pytest.raises(EOFError):
            await bench.ask(chat_agent, question, user=absent(), thread_id="t")
        rejects = RejectingUser()
        turn = bench.resume(chat_agent, "t", rejects) if comes_back else bench.ask(chat_agent, question, thread_id="t")
        report = await turn
    assert (report.text == REJECTED) is comes_back
    assert MADE_UP not in report.text
    if not comes_back:
        assert (fenced(bench.endpoint.of(CLASSIFIER)[1], "conversation") or "") == ""
    assert await stored_messages(saver) == [("human", question), ("ai", report.text)]


async def test_a_failed_question_stays_unanswered_in_its_thread(saver: Any) -> None:
    chat_agent = agent(enable_escalation=False)
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        with pytest.raises(AgentError, match="empty"):
            await bench.ask(chat_agent, "Blank?", thread_id="t")
        report = await bench.ask(chat_agent, "Who?", thread_id="t")
    assert await stored_messages(saver) == [("human", "Blank?"), ("human", "Who?"), ("ai", report.text)]


# An interrupted turn: a killed process leaves the same thread as an error does.


async def interrupted(saver: Any, role: str, user: Any = None, text: str = TASK, epoch: int = 1) -> Any:
    """Do a turn that fails because the endpoint refuses this role; return the requests made."""
    script = chat(roles={role: lambda request: 500, "aiq.clarifier": lambda request: asks()})
    async with on_bench(script, user=user or ApprovingUser(), checkpointer=saver) as bench:
        with pytest.raises(Exception, match="500"):
            await bench.ask(agent(**APPROVAL), text, thread_id="t", epoch=epoch)
    return bench.endpoint.requests


@pytest.mark.parametrize(
    ("role", "text", "stage", "again"),
    [
        ("aiq.intent_classifier", "Who?", "intent_classifier", "aiq.intent_classifier"),
        ("aiq.shallow_researcher", "Who?", "shallow_research", "aiq.shallow_researcher"),
        ("aiq.orchestrator", TASK, "deep_research", "aiq.orchestrator"),
    ],
)
async def test_an_interrupted_turn_resumes_at_its_stage(
    saver: Any, role: str, text: str, stage: str, again: str
) -> None:
    await interrupted(saver, role, ScriptedUser(["skip"], ["looks good"]), text)
    restarted = AiqAgent(configured(AiqSettings, **APPROVAL))  # as in a new process
    open_turn = await restarted._threads.find("t", saver)
    assert (open_turn.stage, open_turn.asks, open_turn.unanswered) == (stage, None, text)
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        report = await bench.resume(restarted, "t", absent())  # the user is not asked again
        assert await bench.resume(restarted, "t") is None
    assert bench.endpoint.requests[0].role == again
    assert report.route == ("deep" if text == TASK else "shallow")
    assert await stored_messages(saver) == [("human", text), ("ai", report.text)]


@IN_A_FILE
async def test_resuming_is_logged_and_keeps_the_approved_plan(saver: Any) -> None:
    await interrupted(saver, "aiq.orchestrator", ScriptedUser(["Trade", "skip"], ["go ahead"]))
    async with on_bench(SCRIPT, checkpointer=saver, user=absent()) as bench:
        await agent(**APPROVAL).resume("t", bench.session)
    assert [event.value for event in bench.logged(Decision) if event.name == "resumed"] == ["deep_research"]
    first = bench.endpoint.of("aiq.orchestrator")[0]
    assert "A: Trade\n\nPlan (approved by the user):\nOrlune\n1. Origins" in first.system


async def test_clarifications_answered_before_the_plan_are_not_asked_again(saver: Any) -> None:
    await interrupted(saver, "aiq.clarifier_planner", ScriptedUser(["Trade", "skip"], []))
    user = ScriptedUser([], ["approve"])
    async with on_bench(SCRIPT, checkpointer=saver) as bench:
        assert (await bench.resume(agent(**APPROVAL), "t", user)).route == "deep"
    assert bench.endpoint.of("aiq.clarifier") == []
    assert "A: Trade" in bench.endpoint.of("aiq.clarifier_planner")[0].last_user


# Threads as people see them.


@EACH_SAVER
async def test_threads_are_listed_latest_first_with_what_they_wait_for(saver: Any) -> None:
    chat_agent = agent(**APPROVAL)
    async with on_bench(SCRIPT, user=absent(), checkpointer=saver) as bench:
        for thread, text in (("a", "Hello"), ("b", TASK), ("c", "Who?"), ("a", "Who else?")):
            with suppress(EOFError):
                await bench.ask(chat_agent, text, thread_id=thread)
        listing = await chat_agent._threads.all(saver)
    assert [(thread.name, len(thread.turns), thread.stage, thread.asks) for thread in listing] == [
        ("a", 4, None, None),
        ("c", 2, None, None),
        ("b", 1, "clarifier", "plan"),
    ]
    assert [turn.speaker for turn in listing[0].turns] == ["user", "assistant"] * 2
    assert all(re.match(r"20\d\d-\d\d-\d\dT", thread.changed) for thread in listing)
    assert await chat_agent._threads.find("nobody", saver) == Thread("nobody")


async def test_another_agent_can_continue_a_thread(saver: Any) -> None:
    """In both directions, even while a plan waits: the other agent then answers the question."""
    chat_agent, alone = agent(**APPROVAL), ConversationMemory(agent(entry="shallow").research, BLANK)
    async with on_bench(SCRIPT, user=absent(), checkpointer=saver) as bench:
        with pytest.raises(EOFError):
            await bench.ask(chat_agent, TASK, thread_id="t")
        second = await asyncio.wait_for(bench.resume(alone, "t"), 30)
        third = await asyncio.wait_for(bench.ask(chat_agent, TASK, thread_id="t", user=ApprovingUser()), 30)
    assert (second.route, third.route) == ("shallow", "deep")
    assert await stored_messages(saver) == [("human", TASK), ("ai", second.text), ("human", TASK), ("ai", third.text)]


async def test_an_agent_without_threads_is_given_the_answered_turns(saver: Any) -> None:
    def researcher(request: ChatRequest) -> Any:
        return 500 if request.last_user == "Broken?" else None

    alone = agent(entry="shallow")
    assert alone.threads is None
    async with on_bench(chat(roles={"aiq.shallow_researcher": researcher}), checkpointer=saver) as bench:
        with pytest.raises(Exception, match="500"):
            await bench.ask(ConversationMemory(alone.research, BLANK), "Broken?", thread_id="t")
        await bench.ask(ConversationMemory(alone.research, BLANK), "Who?", thread_id="t")
        assert await bench.resume(ConversationMemory(alone.research, BLANK), "t") is None
        report = await bench.ask(ConversationMemory(alone.research, BLANK), "And before?", thread_id="t")
    last = bench.endpoint.of("aiq.shallow_researcher")[-1].messages
    assert [message.text for message in last if message.role in ("user", "assistant") and message.text] == [
        "Who?",
        SHORT,
        "And before?",
    ]
    turns = (await ConversationMemory(alone.research, BLANK).threads.find("t", saver)).turns
    assert [turn.text for turn in turns] == ["Broken?", "Who?", SHORT, "And before?", report.text]


async def test_an_agent_without_threads_resumes_an_unanswered_question(saver: Any) -> None:
    blank = BLANK.model_copy(update={"documents": (Document(file_name="a.pdf"),)})
    async with on_bench(lambda request: 500, checkpointer=saver) as bench:
        with pytest.raises(Exception, match="500"):
            await bench.ask(ConversationMemory(agent(entry="shallow").research, blank), "Who?", thread_id="t")
    async with on_bench(chat(), checkpointer=saver) as bench:
        report = await bench.resume(ConversationMemory(agent(entry="shallow").research, blank), "t")
    assert (report.text, bench.endpoint.requests[0].last_user) == (SHORT, "Who?")
    assert "a.pdf" in bench.endpoint.requests[0].system
