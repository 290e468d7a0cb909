"""The deep researcher: each agent's middleware, budgets, state, final report, limits."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from aiq.agents.ai_q.deep import ROLES, DeepResearcher, final_report
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.agents.toolkit.compaction import MARK, PruningSettings
from aiq.agents.toolkit.langchain import EMPTY, NO_TOOLS
from aiq.agents.toolkit.middleware import BUDGET_ANCHOR
from aiq.core.errors import AgentError, LimitReached, ModelError
from aiq.core.events import (
    AgentFinished,
    AgentStarted,
    Decision,
    ModelCalled,
    Recovery,
    StageChanged,
    ToolCalled,
    ToolReturned,
)
from aiq.core.samples import Question, Sample
from aiq.core.usage import Limits
from aiq.experiment.attempt import run_attempt
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.conftest import PROMPTS, Script, WebSearch, agent, on_bench, shared
from tests.agents.replies import REPORT, TASK, by_turn, calls, chat, dispatch, results, search, turn_of
from tests.llm.endpoint import completed
from tests.settings import configured

ORCHESTRATOR, PLANNER, RESEARCHER = ROLES["orchestrator"], ROLES["planner-agent"], ROLES["researcher-agent"]
AGENTS = pytest.mark.parametrize("role", list(ROLES.values()), ids=list(ROLES))
SUBAGENTS = pytest.mark.parametrize("role", [PLANNER, RESEARCHER])
LONG = "A sentence about farms. " * 120


def searches_once(request: ChatRequest) -> ChatReply:
    """A subagent that searches for its last query and reports."""
    if turn_of(request):
        return ChatReply(text="It lies on a river [1].\n\n**Sources**\n[1] orlune - https://pages.test/orlune")
    return search(request.last_user.rsplit("- ", 1)[-1])


def eager(request: ChatRequest) -> ChatReply:
    """An orchestrator that dispatches two researchers and states gaps for as long as it is offered the tool."""
    if request.role != ORCHESTRATOR:
        return searches_once(request)
    if "task" not in request.tool_names:
        return ChatReply(text=REPORT)
    turn = turn_of(request)
    if turn % 2 == 0:
        return calls(dispatch(f"a {turn}", f"b {turn}"), dispatch(f"c {turn}"))
    return calls(call("think", thought=f"Much is known.\nGaps:\n- gap {turn}\n- another"))


def where(role: str, acts: Script) -> Script:
    """A run in which `role` follows this script and the others do the minimum."""
    tasks = [calls(call("task", subagent_type=name, description="Work.")) for name in list(ROLES)[1:]]
    orchestrator, subagent = by_turn(*tasks, REPORT), by_turn("Found [1].")

    def script(request: ChatRequest) -> ChatReply | int:
        return (acts if request.role == role else orchestrator if request.role == ORCHESTRATOR else subagent)(request)

    return script


def made(settings: DeepSettings) -> DeepResearcher:
    return DeepResearcher(settings, PROMPTS)


def researcher(**settings: Any) -> DeepResearcher:
    return shared(made, configured(DeepSettings, **settings))


async def run(
    script: Any, given: dict[str, Any] | None = None, state: Any = None, **settings: Any
) -> tuple[DeepResearchAgentState, Any]:
    """(final state, bench); `given`: the search and fields of the session, `state`: fields of the first state."""
    fields = {"messages": [HumanMessage(TASK)], **(state or {})}
    async with on_bench(script, **given or {}) as bench:
        return await researcher(**settings).run(DeepResearchAgentState(**fields)), bench


def results_in(state: DeepResearchAgentState) -> list[ToolMessage]:
    return [message for message in state.messages if isinstance(message, ToolMessage)]


# The middleware that orchestrator and subagents share: that it is there and works.


@SUBAGENTS
async def test_empty_results_are_filled_in_subagents(role: str) -> None:
    _, bench = await run(where(role, by_turn(search("q"), "Done.")), {"search": WebSearch(text=" \n\t ")})
    assert results(bench.endpoint.of(role)[1]) == [EMPTY]


@AGENTS
async def test_the_stack_of_each_agent(role: str) -> None:
    """Model calls are sent again, tool names repaired, calls logged and sources registered through the session."""
    failures = 3

    def acts(request: ChatRequest) -> ChatReply | int:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            return 503
        searches = [call("web_search_tool", query="q")] * ("web_search_tool" in request.tool_names)
        think = call("functions.think<|channel|>json", thought="hm")
        return by_turn(calls(think, *searches), REPORT)(request)

    state, bench = await run(where(role, acts))
    can_search = role != ORCHESTRATOR
    tool_calls, requests = bench.logged(ToolCalled), bench.endpoint.of(role)
    assert [request.attempt for request in requests] == [0, 1, 2, 3, 0]
    assert [event.tool for event in tool_calls] == ["think", "web_search_tool"][: 1 + can_search]
    recoveries = [event.detail for event in bench.logged(Recovery) if event.what == "tool_name"]
    assert recoveries == ["functions.think<|channel|>json -> think"]
    reply_message, answer, *_ = requests[-1].messages[-1 - len(tool_calls) :]
    assert (reply_message.tool_calls[0].function.name, answer.text) == ("think", "Thought recorded: hm")
    ids = {c.id for c in reply_message.tool_calls}
    assert {event.call_id for event in tool_calls} == ids
    sources = bench.session.sources.all()
    assert [(source.url, source.call_id in ids) for source in sources] == [("https://pages.test/q", True)] * can_search
    assert bench.session.usage.by_role()[role].unreported_calls == 0
    assert state.messages[-1].content == REPORT.strip()
    if role == ORCHESTRATOR:  # the repaired reply keeps its usage and metadata
        reply: Any = state.messages[1]
        assert (reply.usage_metadata["total_tokens"] > 0, reply.response_metadata["model_name"]) == (True, "test")


@pytest.mark.parametrize(("role", "retries", "sends"), [(ORCHESTRATOR, 0, 1), (RESEARCHER, 3, 4)])
async def test_retries_end_in_an_error(role: str, retries: int, sends: int) -> None:
    async with on_bench(where(role, by_turn(500))) as bench:
        state = DeepResearchAgentState(messages=[HumanMessage(TASK)])
        with pytest.raises(ModelError, match="500"):
            await researcher(max_model_retries=retries).run(state)
    assert len(bench.endpoint.of(role)) == sends


@pytest.mark.parametrize(
    ("role", "searches", "settings", "short"),
    [
        (PLANNER, 4, {"pruning": configured(PruningSettings, keep_last=2)}, 2),
        (RESEARCHER, 14, {"max_searches_per_researcher": 20}, 4),
    ],
)
async def test_pruning_changes_only_what_the_model_sees(
    role: str, searches: int, settings: dict[str, Any], short: int
) -> None:
    acts = by_turn(*(search(f"q{number}") for number in range(searches)), "Done.")
    _, bench = await run(where(role, acts), {"search": WebSearch(text=LONG)}, **settings)
    texts = results(bench.endpoint.of(role)[-1])
    assert [MARK in text and len(text) <= 2000 for text in texts] == [True] * short + [False] * (searches - short)
    assert all(f'<Document href="https://pages.test/q{n}">' in text for n, text in enumerate(texts))
    assert all(len(event.content) > 2800 for event in bench.logged(ToolReturned))
    assert all(source.text == LONG for source in bench.session.sources.all())
    counts = [event.value for event in bench.logged(Decision) if event.name == "pruning"]
    assert counts == list(range(1, short + 1))


async def test_every_fact_that_researchers_found_reaches_the_writer() -> None:
    at_once, loops = 4, 3
    queries = [f"q{number}" for number in range(at_once * loops)]
    facts = {query: [f"{query} fact {n} is told in a sentence of its own [1]." for n in range(60)] for query in queries}
    rounds = [queries[i : i + at_once] for i in range(0, len(queries), at_once)]

    def script(request: ChatRequest) -> ChatReply | int:
        if request.role == ORCHESTRATOR:
            return by_turn(*(calls(*map(dispatch, group)) for group in rounds), REPORT)(request)
        question = request.last_user.rsplit("- ", 1)[-1]
        return ChatReply(
            text="\n".join([*facts[question], "", "**Sources**", f"[1] {question} - https://pages.test/{question}"])
        )

    _, bench = await run(script, max_loops=loops, max_researcher_calls=at_once)
    text = "\n".join(results(bench.endpoint.of(ORCHESTRATOR)[-1]))
    assert sum(fact in text for stated in facts.values() for fact in stated) == 60 * at_once * loops


# Budgets, state, limits.


async def test_searches_beyond_a_subagents_budget_are_refused_and_the_tools_withdrawn() -> None:
    acts = by_turn(search("0 0", "0 1"), search("1 0", "1 1"), "Nothing [1].")
    _, bench = await run(where(RESEARCHER, acts), max_searches_per_researcher=3)
    assert bench.search.queries == ["0 0", "0 1", "1 0"]
    last = bench.endpoint.of(RESEARCHER)[-1]
    assert last.messages[-1].text == BUDGET_ANCHOR
    assert "web_search_tool" not in last.tool_names
    assert "think" in last.tool_names
    assert "over budget" in last.messages[-2].text


@SUBAGENTS
@pytest.mark.parametrize("heeds", ["no tools", "a word", "nothing"])
async def test_a_subagent_that_never_ends_is_made_to_answer(role: str, heeds: str) -> None:
    """Even if it calls tools that it is not offered: it is asked once more, and then its calls are dropped."""

    def acts(request: ChatRequest) -> ChatReply:
        ends = (heeds == "no tools" and not request.tools) or (heeds == "a word" and request.last_user == NO_TOOLS)
        return ChatReply(text="Enough.") if ends else calls(call("think", thought="hm"))

    state, bench = await run(where(role, acts), max_searches_per_researcher=1)
    assert len(bench.endpoint.of(role)) == 2 * 1 + 8 + (1 if heeds == "no tools" else 2)
    assert ("Enough." in [str(message.content) for message in results_in(state)]) is (heeds != "nothing")
    repairs = [event.detail for event in bench.logged(Recovery) if event.what == "tool_call_without_tools"]
    assert repairs == ["think"] * (heeds != "no tools")


async def test_earlier_turns_do_not_count_as_rounds_and_the_usage_of_every_role_is_recorded() -> None:
    earlier = [HumanMessage("Hello"), AIMessage("Hi."), HumanMessage(TASK)]
    _, bench = await run(eager, state={"messages": earlier}, max_loops=1)
    assert [m.text for m in bench.endpoint.of(ORCHESTRATOR)[0].messages[1:]] == [str(m.content) for m in earlier]
    usage = bench.session.usage.by_role()
    assert set(usage) == {ORCHESTRATOR, RESEARCHER}
    assert sum(u.calls for u in usage.values()) == len(bench.endpoint.requests)


async def test_data_sources_and_the_tools_setting_select_the_subagents_tools() -> None:
    _, bench = await run(eager, state={"data_sources": []}, max_loops=1)
    assert bench.search.queries == []
    assert all("web_search_tool" not in request.tool_names for request in bench.endpoint.requests)
    _, bench = await run(eager, max_loops=1, tools=("web_search_tool",), verbose=False)
    assert "think" in bench.endpoint.of(RESEARCHER)[0].tool_names
    assert bench.logged(StageChanged) == []


async def test_todos_files_and_subagents_are_in_the_state() -> None:
    steps = [{"content": "Plan", "status": "in_progress"}]

    def script(request: ChatRequest) -> ChatReply | int:
        if request.role == PLANNER:
            return ChatReply(text='Here: {"title": "Orlune", "sections": ["Rivers"], "queries": ["q"]}')
        if request.role == RESEARCHER:
            return searches_once(request)
        plan = call("task", subagent_type="planner-agent", description="Plan.")
        notes = call("write_file", file_path="/shared/notes.md", content="n")
        return by_turn(calls(call("write_todos", todos=steps), plan), calls(dispatch("q"), notes), REPORT)(request)

    state, bench = await run(script)
    assert state.todos == steps
    assert state.files["/shared/notes.md"] == "n"
    assert '"title": "Orlune"' in state.files["/shared/plan.json"]  # kept because the planner returned it
    assert [(s["name"], s["turn"], s["index"], s["status"]) for s in state.subagents] == [
        ("planner-agent", 1, 1, "completed"),
        ("researcher-agent", 2, 0, "completed"),
    ]
    helpers = ("write_todos", "write_file")
    answers = [event for event in bench.logged(ToolReturned) if event.tool in helpers]
    assert [(event.tool, event.parent_id) for event in bench.logged(ToolCalled) if event.tool in helpers] == [
        (name, None) for name in helpers
    ]
    assert [(event.tool, event.success, "/shared/notes.md" in event.content) for event in answers] == [
        ("write_todos", True, False),
        ("write_file", True, True),
    ]
    (done,) = bench.logged(StageChanged)  # since it is verbose
    assert done.detail["subagents"] == ["planner-agent: completed", "researcher-agent: completed"]
    planner, researcher = bench.logged(AgentStarted)
    assert (planner.agent, researcher.agent) == ("planner-agent", "researcher-agent")
    assert researcher.parent_id is not None
    children = [event for event in bench.events if event.parent_id == researcher.parent_id]
    assert {type(event) for event in children} == {AgentStarted, ModelCalled, ToolCalled, ToolReturned, AgentFinished}


async def test_a_limit_ends_the_attempt_even_inside_a_subagent() -> None:
    with pytest.raises(LimitReached):
        await run(eager, {"limits": configured(Limits, sample_model_calls=2)})


# The report.


BOLD = REPORT.replace("# Orlune", "**Orlune**").replace("## References", "**References**")
DRAFT = REPORT.replace("Orlune", "Drafted Orlune")


@pytest.mark.parametrize(
    ("last", "written", "draft", "chosen"),
    [
        (REPORT, "", "", REPORT),
        (REPORT, "# Other", DRAFT, REPORT),
        ("Wrote /report.md", REPORT, DRAFT, REPORT),
        ("", REPORT, DRAFT, REPORT),
        ("A short answer.", "", "", "A short answer."),
        ("It is written.", "A short report.", "", "A short report."),
        ("No heading here. " * 50, REPORT, "", REPORT),
        (BOLD, "", DRAFT, BOLD),
        ("It is written.", "# Orlune\n\nTo be written.", DRAFT, DRAFT),
        ("", "", "# Orlune\n\nTo be written.", "# Orlune\n\nTo be written."),
        ("<think>\n" + REPORT, REPORT, "", REPORT),
        (
            f'<tool_call>{{"name": "write_file", "arguments": {{"content": "\n{REPORT}"}}}}</tool_call>',
            "",
            DRAFT,
            DRAFT,
        ),
    ],
)
def test_the_report_is_the_message_the_file_or_the_draft(last: str, written: str, draft: str, chosen: str) -> None:
    partial = chosen not in (last, written)
    assert final_report(last, written, draft, ()) == (chosen.strip(), partial)


def test_no_report_is_an_error() -> None:
    with pytest.raises(AgentError, match=r"no report.*report\.md"):
        final_report("  ", "\n", "", ())


def drafts(then: Any, draft: str = REPORT, path: str = "/shared/draft.md") -> Any:
    """An orchestrator that writes a draft and states its gaps after one round, and then does `then`."""
    write = call("write_file", file_path=path, content=draft)
    return by_turn(calls(dispatch("q")), calls(write, call("think", thought="Gaps: none")), then)


@pytest.mark.parametrize(
    ("path", "outcome"), [("/report.md", ("completed", "ok")), ("/shared/draft.md", ("limit", "partial"))]
)
@pytest.mark.parametrize("begins", ["", "<think>\nSo it is:\n"], ids=["in the report", "in a thought"])
async def test_a_cut_off_last_message_does_not_replace_a_complete_report(path: str, outcome: Any, begins: str) -> None:
    cut = drafts(completed(begins + REPORT[:500], finish="length"), path=path)
    async with on_bench(chat(roles={ORCHESTRATOR: cut})) as bench:
        sample = Sample(id="s1", question=Question(text=TASK))
        aiq_agent: Any = agent(entry="deep")
        row = await run_attempt(aiq_agent, sample, bench.session, lambda row: None)
    assert (row.status, row.outcome) == outcome
    assert (row.report, row.citation_status) == (REPORT.strip(), "verified")


async def test_a_draft_is_kept_whatever_fails_later() -> None:
    async with on_bench(where(ORCHESTRATOR, drafts(400))) as bench:
        with pytest.raises(ModelError):
            await researcher().run(DeepResearchAgentState(messages=[HumanMessage(TASK)]))
    assert bench.session.draft == REPORT


async def test_a_last_message_that_is_not_a_report_leaves_the_draft() -> None:
    """The draft lacks the last round and counts as partial; as the last message the same words are the report."""
    state, _ = await run(where(ORCHESTRATOR, drafts("The report is written.")))
    assert (state.messages[-1].content, state.partial) == (REPORT.strip(), True)
    for entry in ("deep", "chat"):
        async with on_bench(chat(roles={ORCHESTRATOR: drafts("The report is written.")})) as bench:
            assert (await bench.ask(agent(entry=entry), TASK)).outcome == "partial"
    state, _ = await run(where(ORCHESTRATOR, drafts(REPORT)))
    assert (state.messages[-1].content, state.partial) == (REPORT.strip(), False)
    state, _ = await run(where(ORCHESTRATOR, drafts("**Nothing** was found.", draft="# Draft\nNothing yet.")))
    assert (state.messages[-1].content, state.partial) == ("**Nothing** was found.", False)


async def test_a_report_in_the_file_is_found() -> None:
    state, _ = await run(by_turn(calls(call("write_file", file_path="/report.md", content=REPORT)), "It is written."))
    assert state.messages[-1].content == REPORT.strip()
