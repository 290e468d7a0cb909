"""AI-Q and replies that answer nothing: a tool call written as text is asked about once, an empty reply says why."""

from typing import Any

import pytest

from aiq.agents.toolkit.langchain import CALL_REPAIR
from aiq.core.errors import AgentError
from aiq.offline.chat import ChatReply, ChatRequest
from tests.agents.conftest import Script, agent, on_bench
from tests.agents.replies import FOUND, REPORT, SHORT, TASK, calls, chat, dispatch, search, turn_of
from tests.llm.endpoint import completed

WRITTEN = '<tool_call>\n{"name": "web_search_tool", "arguments": {"query": "orlune"}}\n</tool_call>'
THOUGHT = "<thinking>Is it [1]?</thinking>\n\n"


def written_first(then: ChatReply, again: bool = False) -> Any:
    """A role that writes a call as text before it says `then` (with `again`, always), and answers after its search."""

    def says(request: ChatRequest) -> ChatReply | None:
        if not turn_of(request) or again:
            return ChatReply(text=f"{THOUGHT}{WRITTEN}")
        return then if request.messages[-1].text == CALL_REPAIR else None

    return says


async def report_of(script: Script, **settings: Any) -> tuple[Any, Any]:
    """(report, bench) of one researcher alone, that of `entry`."""
    async with on_bench(script) as bench:
        return await bench.ask(agent(**settings), TASK), bench


async def test_a_shallow_call_written_as_text_is_asked_about_and_then_made() -> None:
    script = chat(shallow=THOUGHT + SHORT, roles={"aiq.shallow_researcher": written_first(search("orlune"))})
    report, bench = await report_of(script, entry="shallow")
    assert (report.text, report.citation_status) == (SHORT, "verified")
    assert bench.search.queries == ["orlune"]
    repair = bench.endpoint.requests[1].messages
    assert [message.text for message in repair[-2:]] == [WRITTEN, CALL_REPAIR]  # without its thoughts
    assert all(CALL_REPAIR not in message.text for message in bench.endpoint.requests[2].messages)


@pytest.mark.parametrize("entry", ["shallow", "deep"])
async def test_a_call_written_as_text_twice_is_not_an_answer(entry: str) -> None:
    role = {"shallow": "aiq.shallow_researcher", "deep": "aiq.orchestrator"}[entry]
    with pytest.raises(AgentError, match=f"the {entry} route gave no answer: the model wrote a tool call as text"):
        await report_of(chat(roles={role: written_first(search(), again=True)}), entry=entry)


async def test_no_subagent_of_deep_research_ends_with_a_call_written_as_text() -> None:
    roles = {
        "aiq.orchestrator": written_first(calls(dispatch("orlune"))),
        "aiq.researcher": written_first(search("orlune")),
    }
    async with on_bench(chat(report=THOUGHT + REPORT, roles=roles)) as bench:
        report = await bench.ask(agent(entry="deep"), TASK)
    assert (report.text.strip(), report.citation_status) == (REPORT.strip(), "verified")
    assert bench.search.queries == ["orlune"]


@pytest.mark.parametrize("entry", ["shallow", "deep"])
async def test_an_empty_answer_says_why(entry: str) -> None:
    script: Any = lambda request: completed(None, finish="content_filter")  # noqa: E731
    with pytest.raises(AgentError, match="the endpoint's filter cut the reply off"):
        await report_of(script, entry=entry)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (SHORT, "verified"),
        (f"{SHORT}\n[2] made up - https://nowhere.test/x", "partial"),
        ("The mayor is Ilan Corvey.", "unverified"),
        ("It is so [1].\n\n## References\n[1] made up - https://nowhere.test/x", "unverified"),
    ],
)
async def test_a_report_states_the_status_of_its_citations(answer: str, status: str) -> None:
    report, _ = await report_of(chat(shallow=answer), entry="shallow")
    assert report.citation_status == status


async def test_an_answer_without_any_source_says_so() -> None:
    report, _ = await report_of(lambda request: ChatReply(text=f"It is so [1].\n\n[1] {FOUND}"), entry="shallow")
    assert report.citation_status == "no_sources"
