"""Conversations on every kind of checkpointer: follow-ups, waiting for a person, new processes, no leaks."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.chat import REJECTED
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.base import Resumable
from aiq.core.events import Approval
from aiq.core.samples import Document, Question, Turn
from aiq.core.session import ApprovingUser, Session
from aiq.core.settings import CheckpointerSettings
from aiq.experiment.resources import open_checkpointer
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.conftest import fenced

SHORT = "The mayor is Ilan Corvey [1].\n\n## References\n[1] orlune - https://pages.test/orlune"
REPORT = (
    "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30 + "\n\n## References\n\n[1] orlune - https://pages.test/orlune"
)
PLAN = {"title": "Orlune", "sections": ["Origins", "People", "Trade", "Today", "Outlook"]}
APPROVAL: dict[str, Any] = {"clarifier": {"enable_plan_approval": True}}


class AbsentUser(ApprovingUser):
    """Whoever is asked has left."""

    async def answer(self, question: str) -> str:
        raise EOFError(question)

    async def review(self, plan: str) -> str:
        raise EOFError(plan)


class Reviewing(ApprovingUser):
    """Says this of the plan, and keeps what it was shown."""

    def __init__(self, reply: str) -> None:
        self._reply = reply
        self.shown: list[str] = []

    async def review(self, plan: str) -> str:
        self.shown.append(plan)
        return self._reply


def script(request: ChatRequest) -> ChatReply:
    """Reports are deep, anything else is shallow; every role answers in the plainest way."""
    searched = any(message.role == "tool" for message in request.messages)
    search = ChatReply(tool_calls=(call("web_search_tool", query="orlune"),))
    match request.role:
        case "aiq.intent_classifier":
            deep = "report" in (fenced(request, "question") or "")
            fields = {"intent": "research", "meta_response": None, "research_depth": "deep" if deep else "shallow"}
            return ChatReply(text=json.dumps({**fields, "depth_reasoning": "-"}))
        case "aiq.clarifier":
            return ChatReply(text='{"needs_clarification": false, "clarification_question": null}')
        case "aiq.clarifier_planner":
            return ChatReply(text=json.dumps(PLAN))
        case "aiq.shallow_researcher":
            return ChatReply(text=SHORT) if searched else search
        case "aiq.orchestrator":
            task = call("task", subagent_type="researcher-agent", description="Queries:\n- orlune")
            return ChatReply(text=REPORT) if searched else ChatReply(tool_calls=(task,))
    return ChatReply(text="Orlune lies on a river [1].") if searched else search


async def ask(agent: AiqAgent, session: Session, question: Question) -> Any:
    with session.bind():
        return await agent.research(question, session)


async def kept(saver: Any) -> list[str]:
    """The threads that a saver holds, each once."""
    return sorted({item.config["configurable"]["thread_id"] async for item in saver.alist(None)})


@pytest.fixture(params=["memory", "sqlite"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    settings = CheckpointerSettings(kind=request.param, path=str(tmp_path / "checkpoints.db"))
    async with open_checkpointer(settings) as opened:
        yield opened


async def test_a_follow_up_is_classified_and_researched_with_what_was_said(on_bench: Any, saver: Any) -> None:
    agent = AiqAgent(AiqSettings())
    async with on_bench(script, checkpointer=saver) as bench:
        await ask(agent, bench.session, Question(text="Write a report on Orlune", thread_id="t"))
        report = await ask(agent, bench.another(), Question(text="And its mayor?", thread_id="t"))
        await ask(agent, bench.another(), Question(text="Who?", thread_id="u"))
    assert report.route == "shallow"
    follow_up, stranger = bench.endpoint.of("aiq.intent_classifier")[1:]
    assert "User: Write a report on Orlune\nAssistant: # Orlune" in follow_up.last_user
    assert "Orlune" not in stranger.last_user
    turn = [request for request in bench.endpoint.of("aiq.shallow_researcher") if request.last_user == "And its mayor?"]
    assert turn[0].messages[1].text == "Write a report on Orlune"
    assert await kept(saver) == ["t", "u"]


async def test_a_new_turn_starts_clean(on_bench: Any, saver: Any) -> None:
    """Nothing that steered the first turn, its plan included, reaches the second."""
    agent = AiqAgent(AiqSettings())
    async with on_bench(script, checkpointer=saver) as bench:
        await ask(agent, bench.session, Question(text="A report on Orlune", thread_id="t", user_info={"name": "Ada"}))
        await ask(agent, bench.another(), Question(text="And now?", thread_id="t"))
        graph = agent._threads.graph(saver)
        state = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    assert state["clarifier_result"] is state["final_report"] is state["user_info"] is None
    assert state["original_query"] == "And now?"


async def test_a_source_of_one_turn_verifies_nothing_in_the_next(on_bench: Any, saver: Any) -> None:
    def once(request: ChatRequest) -> ChatReply:
        if request.role == "aiq.shallow_researcher" and request.last_user == "Again?":
            return ChatReply(text=SHORT)  # the same citation, without a search
        return script(request)

    agent = AiqAgent(AiqSettings())
    async with on_bench(once, checkpointer=saver) as bench:
        first = await ask(agent, bench.session, Question(text="Who?", thread_id="t"))
        second = await ask(agent, bench.another(), Question(text="Again?", thread_id="t"))
    assert first.audit.valid_citations
    assert second.audit is not None
    assert second.audit.valid_citations == ()
    assert len(second.audit.removed_citations) == 1


async def test_a_plan_waits_for_a_person_who_comes_back(on_bench: Any, saver: Any) -> None:
    question = Question(text="Write a report on Orlune", thread_id="t", documents=(Document(file_name="a.pdf"),))
    async with on_bench(script, user=AbsentUser(), checkpointer=saver) as bench:
        with pytest.raises(EOFError, match="Research Plan Preview"):
            await ask(AiqAgent(AiqSettings.model_validate(APPROVAL)), bench.session, question)
        assert bench.endpoint.of("aiq.orchestrator") == []
        agent, user = AiqAgent(AiqSettings.model_validate(APPROVAL)), Reviewing("approve")  # as a new process has it
        assert isinstance(agent, Resumable)
        later = bench.another(user=user)
        with later.bind():
            report = await agent.resume("t", later)
            assert await agent.resume("t", later) is None
    assert report is not None
    assert report.route == "deep"
    assert user.shown[0].startswith("**Research Plan Preview**\n\nOrlune\n1. Origins")
    assert len(bench.endpoint.of("aiq.clarifier_planner")) == 1
    first = bench.endpoint.of("aiq.orchestrator")[0]
    assert "Plan (approved by the user):\nOrlune\n1. Origins" in first.system
    assert "a.pdf" in first.system


async def test_a_person_who_comes_back_may_reject(on_bench: Any, saver: Any) -> None:
    agent = AiqAgent(AiqSettings.model_validate(APPROVAL))
    async with on_bench(script, user=AbsentUser(), checkpointer=saver) as bench:
        with pytest.raises(EOFError):
            await ask(agent, bench.session, Question(text="Write a report on Orlune", thread_id="t"))
        later = bench.another(user=Reviewing("reject"))
        with later.bind():
            report = await agent.resume("t", later)
    assert report is not None
    assert (report.text, report.outcome) == (REJECTED, "rejected")


@pytest.mark.parametrize("entry", ["chat", "shallow", "deep"])
@pytest.mark.parametrize(("sources", "told"), [(None, True), (["web"], False)], ids=["all", "web-only"])
async def test_documents_are_listed_where_the_data_sources_allow_a_search(
    on_bench: Any, entry: str, sources: list[str] | None, told: bool
) -> None:
    agent = AiqAgent(AiqSettings.model_validate({"entry": entry, "data_sources": sources}))
    question = Question(text="Write a report on Orlune", documents=(Document(file_name="a.pdf"),))
    async with on_bench(script) as bench:
        await ask(agent, bench.session, question)
    assert any("a.pdf" in request.system for request in bench.endpoint.requests) is told


async def test_other_words_take_the_place_of_a_plan_that_waits(on_bench: Any, saver: Any) -> None:
    agent = AiqAgent(AiqSettings.model_validate(APPROVAL))
    async with on_bench(script, user=AbsentUser(), checkpointer=saver) as bench:
        with pytest.raises(EOFError):
            await ask(agent, bench.session, Question(text="Write a report on Orlune", thread_id="t"))
        report = await ask(agent, bench.another(), Question(text="Who is the mayor?", thread_id="t"))
        assert await agent.resume("t", bench.another()) is None
    assert report.route == "shallow"


async def test_threads_do_not_leak_into_each_other(on_bench: Any, saver: Any) -> None:
    """Twelve conversations of three turns at once: no request holds a word of another conversation."""
    agent = AiqAgent(AiqSettings())
    marks = [f"mark{number:02d}" for number in range(12)]

    async def converse(bench: Any, mark: str) -> None:
        for turn in ("Write a report on", "Who rules", "And who ruled before"):
            session = bench.another(name=f"{mark}-{turn[:3]}")
            await ask(agent, session, Question(text=f"{turn} {mark}?", thread_id=mark))
            await asyncio.sleep(0)

    async with on_bench(script, checkpointer=saver) as bench:
        await asyncio.gather(*(converse(bench, mark) for mark in marks))
        assert await kept(saver) == marks
    for request in bench.endpoint.requests:
        text = "\n".join(message.text for message in request.messages)
        assert sum(mark in text for mark in marks) <= 1
    for mark in marks:  # and each has its own past
        last = [r for r in bench.endpoint.of("aiq.intent_classifier") if f"ruled before {mark}" in r.last_user]
        assert f"User: Who rules {mark}?" in last[0].last_user


async def test_a_question_without_a_thread_gets_one_of_its_own_and_is_forgotten(on_bench: Any, saver: Any) -> None:
    agent = AiqAgent(AiqSettings())
    async with on_bench(script, checkpointer=saver) as bench:
        sessions = [bench.another(epoch=epoch) for epoch in (1, 1, 2)]
        await asyncio.gather(*(ask(agent, session, Question(text="Who?")) for session in sessions))
        assert await kept(saver) == []
        failing, waiting = bench.another(user=AbsentUser()), AiqAgent(AiqSettings.model_validate(APPROVAL))
        with pytest.raises(EOFError):
            await ask(waiting, failing, Question(text="Write a report"))
        assert await kept(saver) == []
    assert all("Who?" not in (fenced(r, "conversation") or "") for r in bench.endpoint.of("aiq.intent_classifier"))


async def test_each_epoch_has_its_own_conversation(on_bench: Any, saver: Any) -> None:
    agent = AiqAgent(AiqSettings())
    async with on_bench(script, checkpointer=saver) as bench:
        for epoch in (1, 2):
            await ask(agent, bench.another(epoch=epoch), Question(text="Who?", thread_id="t"))
        assert await kept(saver) == ["t", "t.2"]
    assert fenced(bench.endpoint.of("aiq.intent_classifier")[1], "conversation") is None


async def test_no_type_is_unknown_to_the_checkpointer(
    on_bench: Any, saver: Any, caplog: pytest.LogCaptureFixture
) -> None:
    agent = AiqAgent(AiqSettings.model_validate(APPROVAL))
    documents = (Document(file_name="a.pdf"),)
    async with on_bench(script, user=Reviewing("approve"), checkpointer=saver) as bench:
        with caplog.at_level(logging.WARNING, logger="langgraph"):
            for text in ("Write a report on Orlune", "Who?", "Another report"):
                await ask(agent, bench.another(), Question(text=text, thread_id="t", documents=documents))
        state = await agent._threads.graph(saver).aget_state({"configurable": {"thread_id": "t"}})
    assert [record.message for record in caplog.records if record.name.startswith("langgraph")] == []
    assert state.values["available_documents"] == list(documents)
    assert state.values["depth_decision"].decision == "deep"


async def test_without_a_checkpointer_the_user_can_still_be_asked(on_bench: Any) -> None:
    async with on_bench(script, user=Reviewing("approve"), checkpointer=None) as bench:
        agent = AiqAgent(AiqSettings.model_validate(APPROVAL))
        report = await agent.research(Question(text="Write a report on Orlune"), bench.session)
    assert report.route == "deep"
    assert [event.kind for event in bench.logged(Approval)] == ["plan"]


async def test_history_that_came_with_the_question_begins_a_new_thread_only(on_bench: Any, saver: Any) -> None:
    history = (Turn(speaker="user", text="Hello"), Turn(speaker="assistant", text="Hi"))
    agent = AiqAgent(AiqSettings())
    async with on_bench(script, checkpointer=saver) as bench:
        for text in ("Who?", "When?"):
            question = Question(text=text, thread_id="t", history=history)
            await ask(agent, bench.another(), question)
    second = fenced(bench.endpoint.of("aiq.intent_classifier")[1], "conversation")
    assert second is not None
    assert second.count("User: Hello") == 1
    assert second.startswith("User: Hello\nAssistant: Hi\nUser: Who?")


async def test_the_graph_is_compiled_once_for_a_checkpointer() -> None:
    threads, saver = AiqAgent(AiqSettings())._threads, InMemorySaver()
    assert threads.graph(saver) is threads.graph(saver)
    assert threads.graph(saver) is not threads.graph(InMemorySaver())
