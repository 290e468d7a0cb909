"""Every middleware of the deep researcher, on the orchestrator and on each subagent: that it is there, and works."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from aiq.agents.ai_q.deep import ROLES, DeepResearcher
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.agents.toolkit.compaction import MARK, PruningSettings
from aiq.agents.toolkit.middleware import EMPTY, EmptyContentFix
from aiq.core.errors import ModelError
from aiq.core.events import Decision, Recovery, ToolCalled, ToolReturned
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, call
from aiq.tools.blocks import document
from tests.agents.conftest import PROMPTS

REPORT = "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30
LONG = "A sentence about farms. " * 120
AGENTS = pytest.mark.parametrize("role", list(ROLES.values()), ids=list(ROLES))
SUBAGENTS = pytest.mark.parametrize("role", [ROLES["planner-agent"], ROLES["researcher-agent"]])

Turn = Callable[[ChatRequest, int], ChatReply | int]


class Query(BaseModel):
    query: str


class LongSearch:
    """Brings a page of 2,900 characters for each query."""

    name = "web_search_tool"
    description = "Searches the web."
    parameters: type[BaseModel] = Query
    data_source: str | None = "web"

    async def run(self, arguments: Any) -> ToolResult:
        url = f"https://pages.test/{arguments.query}"
        return ToolResult(content=document(url, "A page", LONG), sources=(Source(url=url, title="A page", text=LONG),))


def turn_of(request: ChatRequest) -> int:
    return sum(message.role == "assistant" for message in request.messages)


def task(agent: str) -> ToolCall:
    return call("task", subagent_type=agent, description=f"Work, {agent}.")


def where(role: str, turn: Turn) -> Callable[[ChatRequest], ChatReply | int]:
    """A run in which `role` acts as `turn` says and the others do the least."""

    def script(request: ChatRequest) -> ChatReply | int:
        if request.role == role:
            return turn(request, turn_of(request))
        if request.role != ROLES["orchestrator"]:
            return ChatReply(text="Found [1].")
        agents = ("planner-agent", "researcher-agent")
        done = turn_of(request)
        return ChatReply(tool_calls=(task(agents[done]),)) if done < 2 else ChatReply(text=REPORT)

    return script


async def run(on_bench: Any, script: Any, search: Any = None, **settings: Any) -> tuple[DeepResearchAgentState, Any]:
    async with on_bench(script, search=search) as bench:
        state = DeepResearchAgentState(messages=[HumanMessage("Write a report on Orlune")])
        return await DeepResearcher(DeepSettings(**settings), PROMPTS).run(state), bench


@SUBAGENTS
async def test_empty_content_fix_in_subagents(on_bench: Any, role: str) -> None:
    class Blank(LongSearch):
        async def run(self, arguments: Any) -> ToolResult:
            return ToolResult(content=" \n\t ")

    def turn(request: ChatRequest, number: int) -> ChatReply:
        return ChatReply(text="Done.") if number else ChatReply(tool_calls=(call("web_search_tool", query="q"),))

    _, bench = await run(on_bench, where(role, turn), Blank())
    assert [m.text for m in bench.endpoint.of(role)[1].messages if m.role == "tool"] == [EMPTY]


async def test_empty_content_fix_in_the_orchestrator(on_bench: Any) -> None:
    def blank(request: ChatRequest, number: int) -> ChatReply:
        return ChatReply(text="")

    found, bench = await run(on_bench, where(ROLES["researcher-agent"], blank))
    last = bench.endpoint.of(ROLES["orchestrator"])[-1]
    assert [m.text for m in last.messages if m.role == "tool"] == ["Found [1].", EMPTY]
    assert [m.content for m in found.messages if isinstance(m, ToolMessage)][1] == ""


@pytest.mark.parametrize("content", ["", "  \n", [{"type": "text", "text": " "}], []])
async def test_empty_content_fix_keeps_status_and_artifact(on_bench: Any, content: Any) -> None:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse

    blank = ToolMessage(content, tool_call_id="1", status="error", artifact={"kept": 1}, name="think")
    image = ToolMessage([{"type": "image_url", "image_url": {"url": "data:,"}}], tool_call_id="2")
    seen: list[Any] = []

    async def handler(request: Any) -> Any:
        seen.extend(request.messages)
        return ModelResponse(result=[AIMessage("ok")])

    async with on_bench(lambda request: ChatReply(text="x")) as bench:
        request = ModelRequest(model=bench.session.models.chat("aiq.planner"), messages=[blank, image])
        await EmptyContentFix().awrap_model_call(request, handler)
    assert (seen[0].content, seen[0].status, seen[0].artifact, seen[0].name) == (EMPTY, "error", {"kept": 1}, "think")
    assert seen[1] is image


@AGENTS
@pytest.mark.parametrize(
    "name", ["functions.think", "think<|channel|>commentary", "functions.think<|channel|>json", "think.run"]
)
async def test_tool_name_sanitization(on_bench: Any, role: str, name: str) -> None:
    def turn(request: ChatRequest, number: int) -> ChatReply:
        return ChatReply(text=REPORT) if number else ChatReply(tool_calls=(call(name, thought="hm"),))

    found, bench = await run(on_bench, where(role, turn))
    assert [event.tool for event in bench.logged(ToolCalled)] == ["think"]
    assert [e.detail for e in bench.logged(Recovery) if e.what == "tool_name"] == [f"{name} -> think"]
    asked, answer = bench.endpoint.of(role)[1].messages[-2:]
    assert (asked.tool_calls[0].function.name, answer.text) == ("think", "Noted.")
    assert bench.session.usage.by_role()[role].unreported_calls == 0
    if role == ROLES["orchestrator"]:
        reply = found.messages[1]
        assert isinstance(reply, AIMessage)
        assert reply.usage_metadata is not None
        assert reply.response_metadata["model_name"] == "test"


@AGENTS
async def test_model_retry_recovers_at_the_fourth_send(on_bench: Any, role: str) -> None:
    failures = 3

    def turn(request: ChatRequest, number: int) -> ChatReply | int:
        nonlocal failures
        failures -= 1
        return 503 if failures >= 0 else ChatReply(text=REPORT)

    found, bench = await run(on_bench, where(role, turn))
    assert [request.attempt for request in bench.endpoint.of(role)] == [0, 1, 2, 3]
    assert found.messages[-1].content == REPORT.strip()


@AGENTS
@pytest.mark.parametrize(("retries", "sends"), [(10, 11), (0, 1)])
async def test_model_retry_ends_in_an_error_after_its_sends(on_bench: Any, role: str, retries: int, sends: int) -> None:
    async with on_bench(where(role, lambda request, number: 500)) as bench:
        state = DeepResearchAgentState(messages=[HumanMessage("Write a report on Orlune")])
        with pytest.raises(ModelError, match="500"):
            await DeepResearcher(DeepSettings(max_model_retries=retries), PROMPTS).run(state)
    assert len(bench.endpoint.of(role)) == sends


@AGENTS
async def test_calls_and_sources_are_registered_through_the_session(on_bench: Any, role: str) -> None:
    def turn(request: ChatRequest, number: int) -> ChatReply:
        if number:
            return ChatReply(text=REPORT)
        made = [call("think", thought="hm")]
        made += [call("web_search_tool", query="q")] if "web_search_tool" in request.tool_names else []
        return ChatReply(tool_calls=tuple(made))

    _, bench = await run(on_bench, where(role, turn), LongSearch())
    searches = role != ROLES["orchestrator"]
    called = bench.logged(ToolCalled)
    assert [event.tool for event in called] == ["think", "web_search_tool"][: 1 + searches]
    ids = {c.id for c in bench.endpoint.of(role)[1].messages[-1 - len(called)].tool_calls}
    assert {event.call_id for event in called} == ids
    assert [source.url for source in bench.session.sources.all()] == ["https://pages.test/q"] * searches
    assert [source.call_id in ids for source in bench.session.sources.all()] == [True] * searches


@SUBAGENTS
async def test_pruning_in_subagents_is_only_in_what_the_model_sees(on_bench: Any, role: str) -> None:
    def turn(request: ChatRequest, number: int) -> ChatReply:
        return (
            ChatReply(text="Done.")
            if number == 4
            else ChatReply(tool_calls=(call("web_search_tool", query=f"q{number}"),))
        )

    _, bench = await run(on_bench, where(role, turn), LongSearch(), pruning=PruningSettings(keep_last=2))
    results = [m.text for m in bench.endpoint.of(role)[-1].messages if m.role == "tool"]
    assert [MARK in text for text in results] == [True, True, False, False]
    assert all(len(text) <= 2000 for text in results[:2])
    assert all(f'<Document href="https://pages.test/q{n}">' in text for n, text in enumerate(results))
    assert all(len(event.content) > 2800 for event in bench.logged(ToolReturned))
    assert all(source.text == LONG for source in bench.session.sources.all())
    assert [event.value for event in bench.logged(Decision) if event.name == "pruning"] == [1, 2]


async def test_pruning_in_the_orchestrator(on_bench: Any) -> None:
    def turn(request: ChatRequest, number: int) -> ChatReply:
        return ChatReply(text=f"{LONG}\n\n**Sources**\n[1] A page - https://pages.test/q")

    found, bench = await run(on_bench, where(ROLES["planner-agent"], turn), pruning=PruningSettings(keep_last=1))
    first, second = [m.text for m in bench.endpoint.of(ROLES["orchestrator"])[-1].messages if m.role == "tool"]
    assert len(first) <= 2000
    assert first.splitlines()[-2:] == ["[1] A page - https://pages.test/q", MARK]
    assert second == "Found [1]."
    assert len(str(next(m for m in found.messages if isinstance(m, ToolMessage)).content)) > 2800


@pytest.mark.parametrize(("count", "short"), [(10, 0), (11, 1), (14, 4)])
async def test_by_default_the_last_ten_results_stay_whole(on_bench: Any, count: int, short: int) -> None:
    def turn(request: ChatRequest, number: int) -> ChatReply:
        if number == count:
            return ChatReply(text="Done.")
        return ChatReply(tool_calls=(call("web_search_tool", query=f"q{number}"),))

    role = ROLES["researcher-agent"]
    _, bench = await run(on_bench, where(role, turn), LongSearch(), max_searches_per_researcher=20)
    results = [m.text for m in bench.endpoint.of(role)[-1].messages if m.role == "tool"]
    assert [len(text) <= 2000 for text in results] == [True] * short + [False] * (count - short)


async def test_deepagents_summariser_is_gone(on_bench: Any) -> None:
    """A conversation far beyond its trigger makes no call of its own and reaches the model whole."""
    async with on_bench(lambda request: ChatReply(text=REPORT)) as bench:
        long = [HumanMessage("word " * 250_000), AIMessage("I see."), HumanMessage("Write a report on Orlune")]
        await DeepResearcher(DeepSettings(), PROMPTS).run(DeepResearchAgentState(messages=long))
    (request,) = bench.endpoint.requests
    assert [len(message.text) for message in request.messages[1:]] == [len(str(m.content)) for m in long]
