"""The deep researcher: rounds bounded by the harness, budgets, the final report, limits."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from omegaconf import OmegaConf

from aiq.agents.ai_q.deep import ROLES, DeepResearcher, final_report
from aiq.agents.ai_q.rounds import SYNTHESIS_ANCHOR, gaps_in, queries_in
from aiq.agents.ai_q.settings import DeepSettings, ShallowSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.agents.toolkit.compaction import PruningSettings
from aiq.agents.toolkit.middleware import BUDGET_ANCHOR
from aiq.core.errors import AgentError, ConfigError, LimitReached
from aiq.core.events import (
    AgentFinished,
    AgentStarted,
    Decision,
    ModelCalled,
    Round,
    StageChanged,
    ToolCalled,
    ToolReturned,
)
from aiq.core.files import shipped
from aiq.core.usage import Limits
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, call
from tests.agents.conftest import PROMPTS

REPORT = "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30
ORCHESTRATOR, PLANNER, RESEARCHER = ROLES["orchestrator"], ROLES["planner-agent"], ROLES["researcher-agent"]


def dispatch(*queries: str) -> ToolCall:
    lines = "\n".join(f"- {query}" for query in queries)
    return call("task", subagent_type="researcher-agent", description=f"Research.\nQueries:\n{lines}")


def turn_of(request: ChatRequest) -> int:
    return sum(message.role == "assistant" for message in request.messages)


def searches_once(request: ChatRequest) -> ChatReply:
    """A subagent that searches for its first query and reports."""
    if turn_of(request):
        return ChatReply(text="It lies on a river [1].\n\n**Sources**\n[1] orlune - https://pages.test/orlune")
    return ChatReply(tool_calls=(call("web_search_tool", query=request.last_user.rsplit("- ", 1)[-1]),))


def eager(request: ChatRequest) -> ChatReply:
    """An orchestrator that dispatches two researchers and states gaps for as long as it is offered the tool."""
    if request.role != ORCHESTRATOR:
        return searches_once(request)
    if "task" not in request.tool_names:
        return ChatReply(text=REPORT)
    turn = turn_of(request)
    if turn % 2 == 0:
        return ChatReply(tool_calls=(dispatch(f"a {turn}", f"b {turn}"), dispatch(f"c {turn}")))
    return ChatReply(tool_calls=(call("think", thought=f"Much is known.\nGaps:\n- gap {turn}\n- another"),))


def state(text: str = "Write a report on Orlune", **fields: Any) -> DeepResearchAgentState:
    return DeepResearchAgentState(messages=[HumanMessage(text)], **fields)


async def run(
    on_bench: Any, script: Any, limits: Limits | None = None, **settings: Any
) -> tuple[DeepResearchAgentState, Any]:
    async with on_bench(script, limits=limits or Limits()) as bench:
        found = await DeepResearcher(DeepSettings(**settings), PROMPTS).run(state())
    return found, bench


@pytest.mark.parametrize("loops", [1, 2, 3])
async def test_after_the_last_round_the_researcher_is_withdrawn_and_the_anchor_stands_last(
    on_bench: Any, loops: int
) -> None:
    found, bench = await run(on_bench, eager, max_loops=loops)
    rounds = bench.logged(Round)
    assert [event.number for event in rounds] == list(range(1, loops + 1))
    *offered, last = bench.endpoint.of(ORCHESTRATOR)
    assert all("task" in request.tool_names for request in offered)
    assert all(request.messages[-1].text != SYNTHESIS_ANCHOR for request in offered)
    assert "task" not in last.tool_names
    assert (last.messages[-1].role, last.messages[-1].text) == ("user", SYNTHESIS_ANCHOR)
    assert [event.cause for event in bench.logged(Decision)] == ["max_loops"]
    assert len(bench.search.queries) == 2 * loops
    assert found.messages[-1].content == REPORT.strip()
    assert all(message.content != SYNTHESIS_ANCHOR for message in found.messages)


async def test_a_round_is_an_event_with_queries_new_sources_and_gaps(on_bench: Any) -> None:
    _, bench = await run(on_bench, eager, max_loops=2)
    first, second = bench.logged(Round)
    assert first.queries == ("a 0", "b 0", "c 0")
    assert first.new_sources == ("https://pages.test/b-0", "https://pages.test/c-0")
    assert first.gaps == ("gap 1", "another")
    assert second.new_sources == ("https://pages.test/b-2", "https://pages.test/c-2")
    assert second.gaps == ()


async def test_surplus_dispatches_are_answered_in_order_without_being_executed(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role != ORCHESTRATOR:
            return searches_once(request)
        many = ChatReply(tool_calls=tuple(dispatch(f"q{n}") for n in range(5)))
        return many if turn_of(request) == 0 else ChatReply(text=REPORT)

    found, bench = await run(on_bench, script, max_researcher_calls=3)
    results = [message for message in found.messages if isinstance(message, ToolMessage)]
    calls = [c["id"] for m in found.messages if isinstance(m, AIMessage) for c in m.tool_calls]
    assert [message.tool_call_id for message in results] == calls
    assert ["over budget" in str(message.content) for message in results] == [False] * 3 + [True] * 2
    assert sorted(bench.search.queries) == ["q0", "q1", "q2"]
    assert len(bench.endpoint.of(RESEARCHER)) == 6
    refused = [event for event in bench.logged(ToolReturned) if not event.success]
    assert [event.error for event in refused] == ["over_budget", "over_budget"]
    assert bench.logged(Round)[0].queries == ("q0", "q1", "q2")


async def test_a_dispatch_of_a_withdrawn_researcher_is_refused(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role != ORCHESTRATOR:
            return searches_once(request)
        return ChatReply(tool_calls=(dispatch("more"),)) if turn_of(request) < 3 else ChatReply(text=REPORT)

    found, bench = await run(on_bench, script, max_loops=1)
    assert bench.search.queries == ["more"]
    assert [event.number for event in bench.logged(Round)] == [1]
    assert found.messages[-1].content == REPORT.strip()


async def test_searches_beyond_a_subagents_budget_are_refused_and_the_tools_withdrawn(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role == ORCHESTRATOR:
            return ChatReply(tool_calls=(dispatch("q"),)) if turn_of(request) == 0 else ChatReply(text=REPORT)
        if "web_search_tool" not in request.tool_names:
            return ChatReply(text="Nothing [1].")
        turn = turn_of(request)
        return ChatReply(tool_calls=tuple(call("web_search_tool", query=f"{turn} {n}") for n in range(2)))

    _, bench = await run(on_bench, script, max_searches_per_researcher=3)
    assert bench.search.queries == ["0 0", "0 1", "1 0"]
    last = bench.endpoint.of(RESEARCHER)[-1]
    assert last.messages[-1].text == BUDGET_ANCHOR
    assert "think" in last.tool_names
    assert "over budget" in last.messages[-2].text


async def test_a_subagent_that_never_ends_is_made_to_answer(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role == ORCHESTRATOR:
            return ChatReply(tool_calls=(dispatch("q"),)) if turn_of(request) == 0 else ChatReply(text=REPORT)
        return ChatReply(tool_calls=(call("think", thought="hm"),)) if request.tools else ChatReply(text="Enough.")

    _, bench = await run(on_bench, script, max_searches_per_researcher=1)
    assert len(bench.endpoint.of(RESEARCHER)) == 2 * 1 + 8 + 1


async def test_an_orchestrator_that_never_ends_is_made_to_write(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        return ChatReply(tool_calls=(call("think", thought="hm"),)) if request.tools else ChatReply(text=REPORT)

    found, bench = await run(on_bench, script, recursion_limit=40)
    assert found.messages[-1].content == REPORT.strip()
    assert {event.cause for event in bench.logged(Decision)} == {"recursion_limit"}


@pytest.mark.parametrize("limit", [10, 13, 14, 15, 16, 17, 18, 23])
@pytest.mark.parametrize("enable_todos", [True, False])
async def test_a_tight_recursion_limit_ends_in_synthesis(on_bench: Any, limit: int, enable_todos: bool) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role != ORCHESTRATOR:
            busy = "think" in request.tool_names and turn_of(request) < 20  # more steps than the orchestrator has
            return ChatReply(tool_calls=(call("think", thought="hm"),)) if busy else ChatReply(text="It lies there.")
        return ChatReply(tool_calls=(dispatch("q"),)) if "task" in request.tool_names else ChatReply(text=REPORT)

    found, bench = await run(on_bench, script, recursion_limit=limit, enable_todos=enable_todos, max_loops=9)
    assert found.messages[-1].content == REPORT.strip()
    assert [event.cause for event in bench.logged(Decision)] == ["recursion_limit"]
    assert bench.endpoint.of(ORCHESTRATOR)[-1].messages[-1].text == SYNTHESIS_ANCHOR


async def test_verbose_logs_todos_files_and_subagents_at_the_end(on_bench: Any) -> None:
    for verbose in (True, False):
        _, bench = await run(on_bench, eager, max_loops=1, verbose=verbose)
        ended = [event for event in bench.logged(StageChanged) if event.stage == "deep_research_done"]
        assert [event.detail["subagents"] for event in ended] == [["researcher-agent: completed"] * 2] * verbose


async def test_earlier_turns_of_a_conversation_are_no_rounds(on_bench: Any) -> None:
    async with on_bench(eager) as bench:
        earlier = [HumanMessage("Hello"), AIMessage("Hi."), HumanMessage("Write a report on Orlune")]
        await DeepResearcher(DeepSettings(max_loops=1), PROMPTS).run(DeepResearchAgentState(messages=earlier))
    assert [m.text for m in bench.endpoint.of(ORCHESTRATOR)[0].messages[1:]] == [str(m.content) for m in earlier]


async def test_a_tools_setting_narrows_the_research_tools(on_bench: Any) -> None:
    _, bench = await run(on_bench, eager, max_loops=1, tools=("web_search_tool",))
    assert "think" in bench.endpoint.of(RESEARCHER)[0].tool_names
    with pytest.raises(ConfigError, match=r"agent\.deep\.tools: this run has no tool 'serch'"):
        await run(on_bench, eager, tools=("serch",))


async def test_todos_files_and_subagents_are_in_the_state(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if request.role == PLANNER:
            return ChatReply(text='Here: {"title": "Orlune", "sections": ["Rivers"], "queries": ["q"]}')
        if request.role == RESEARCHER:
            return searches_once(request)
        steps = [{"content": "Plan", "status": "in_progress"}]
        plan = call("task", subagent_type="planner-agent", description="Plan.")
        match turn_of(request):
            case 0:
                return ChatReply(tool_calls=(call("write_todos", todos=steps), plan))
            case 1:
                return ChatReply(
                    tool_calls=(dispatch("q"), call("write_file", file_path="/shared/notes.md", content="n"))
                )
        return ChatReply(text=REPORT)

    found, bench = await run(on_bench, script)
    assert found.todos == [{"content": "Plan", "status": "in_progress"}]
    assert found.files["/shared/notes.md"] == "n"
    assert '"title": "Orlune"' in found.files["/shared/plan.json"]  # returned, and so kept
    assert [(s["name"], s["turn"], s["index"], s["status"]) for s in found.subagents] == [
        ("planner-agent", 1, 1, "completed"),
        ("researcher-agent", 2, 0, "completed"),
    ]
    assert [event.agent for event in bench.logged(AgentStarted)] == ["planner-agent", "researcher-agent"]
    started = bench.logged(AgentStarted)[1]
    assert started.parent_id is not None
    below = [e for e in bench.events if e.parent_id == started.parent_id]
    assert {type(event) for event in below} == {AgentStarted, ModelCalled, ToolCalled, ToolReturned, AgentFinished}


async def test_sources_are_numbered_by_turn_and_call_not_by_arrival(on_bench: Any) -> None:
    _, bench = await run(on_bench, eager, max_loops=2)
    urls = [source.url for source in bench.session.sources.all()]
    assert urls == [f"https://pages.test/{name}" for name in ("b-0", "c-0", "b-2", "c-2")]


async def test_every_role_is_booked_and_the_sum_is_the_exchanges(on_bench: Any) -> None:
    _, bench = await run(on_bench, eager, max_loops=1)
    usage = bench.session.usage.by_role()
    assert set(usage) == {ORCHESTRATOR, RESEARCHER}
    assert sum(u.calls for u in usage.values()) == len(bench.endpoint.requests)
    assert all(u.unreported_calls == 0 for u in usage.values())


async def test_a_limit_ends_the_attempt_also_within_a_subagent(on_bench: Any) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011  the openai client wraps it
        await run(on_bench, eager, limits=Limits(sample_model_calls=2))
    error: BaseException | None = raised.value
    while error is not None and not isinstance(error, LimitReached):
        error = error.__cause__
    assert isinstance(error, LimitReached)


async def test_data_sources_select_the_subagents_tools(on_bench: Any) -> None:
    async with on_bench(eager) as bench:
        await DeepResearcher(DeepSettings(max_loops=1), PROMPTS).run(state(data_sources=[]))
    assert bench.search.queries == []
    assert all("web_search_tool" not in request.tool_names for request in bench.endpoint.requests)


@pytest.mark.parametrize(
    ("last", "file", "chosen"),
    [
        (REPORT, "", REPORT),
        (REPORT, "# Other", REPORT),
        ("Wrote /report.md", REPORT, REPORT),
        ("", REPORT, REPORT),
        ("A short answer.", "", "A short answer."),
        ("No heading here. " * 50, REPORT, REPORT),
    ],
)
def test_the_report_is_the_message_or_the_file(last: str, file: str, chosen: str) -> None:
    assert final_report(last, file) == chosen.strip()


@pytest.mark.parametrize(("last", "file"), [("", ""), ("  ", "\n")])
def test_no_report_is_an_error(last: str, file: str) -> None:
    with pytest.raises(AgentError, match=r"no report.*report\.md"):
        final_report(last, file)


async def test_a_report_in_the_file_is_found(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        written = ChatReply(tool_calls=(call("write_file", file_path="/report.md", content=REPORT),))
        return written if turn_of(request) == 0 else ChatReply(text="Wrote /report.md.")

    found, _ = await run(on_bench, script)
    assert found.messages[-1].content == REPORT.strip()


@pytest.mark.parametrize(
    ("thought", "gaps"),
    [
        ("Gaps:\n- one\n- two\n\nThen more.", ("one", "two")),
        ("**Gaps:**\n1. one", ("one",)),
        ("Gaps: none", ()),
        ("Gaps:\n- None.", ()),
        ("gaps: the mayor", ("the mayor",)),
        ("Nothing of that sort.", ()),
    ],
)
def test_gaps_are_read_from_thoughts(thought: str, gaps: tuple[str, ...]) -> None:
    calls = [{"name": "think", "args": {"thought": thought}, "id": "1"}]
    assert gaps_in([AIMessage("", tool_calls=calls)]) == gaps


def test_a_reports_own_gaps_are_not_the_rounds() -> None:
    assert gaps_in([AIMessage("Gaps:\n- in the report")]) == ()


def test_queries_are_the_list_or_the_first_line() -> None:
    assert queries_in("Research.\nQueries:\n- a\n- b\nThanks") == ["a", "b"]
    assert queries_in("Find the mayor.\nSoon.") == ["Find the mayor."]


@pytest.mark.parametrize(
    ("name", "default"),
    [
        pytest.param("max_loops", 2, id="max_loops"),
        pytest.param("max_researcher_calls", 6, id="max_researcher_calls"),
        pytest.param("min_queries", 4, id="min_queries"),
        pytest.param("max_queries", 6, id="max_queries"),
        pytest.param("max_searches_per_researcher", 8, id="max_searches_per_researcher"),
        pytest.param("max_model_retries", 10, id="max_model_retries"),
        pytest.param("pruning", PruningSettings(keep_last=10, max_chars=2000), id="pruning"),
        pytest.param("tools", None, id="tools"),
        pytest.param("verbose", True, id="verbose"),
    ],
)
def test_settings_have_the_specified_defaults(name: str, default: object) -> None:
    assert getattr(DeepSettings(), name) == default


def test_the_shipped_config_states_every_setting_with_its_default() -> None:
    """`conf/agent/ai_q.yaml` and the settings models agree, for both researchers."""
    stated: Any = OmegaConf.to_container(OmegaConf.load(shipped("conf") / "agent" / "ai_q.yaml"))
    for name, model in (("shallow", ShallowSettings()), ("deep", DeepSettings())):
        assert stated[name] == model.model_dump(mode="json")
