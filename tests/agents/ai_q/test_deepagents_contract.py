"""What we rely on in deepagents, as an endpoint sees it: fails first when a new version changes it."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.core.samples import Document
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.ai_q.test_deep import researcher
from tests.agents.conftest import PROMPTS, on_bench
from tests.agents.replies import REPORT, by_turn, calls
from tests.settings import configured

DOCUMENTS = [Document(file_name="a.pdf", summary="On rivers.")]


PLAN, FIND = (
    calls(call("task", subagent_type=name, description=task))
    for name, task in (("planner-agent", "Plan it."), ("researcher-agent", "Find it."))
)


def script(request: ChatRequest) -> ChatReply | int:
    """Plans, researches once, reports."""
    return by_turn(PLAN, FIND, REPORT)(request) if request.role == "aiq.orchestrator" else ChatReply(text="A river.")


async def asked(**settings: Any) -> tuple[dict[str, ChatRequest], DeepResearchAgentState]:
    """The first request of each role, and the final state."""
    requests: dict[str, ChatRequest] = {}
    async with on_bench(script) as bench:
        state = DeepResearchAgentState(
            messages=[HumanMessage("Write a report")], clarifier_result="The plan.", available_documents=DOCUMENTS
        )
        result = await researcher(**settings).run(state)
    for request in bench.endpoint.requests:
        requests.setdefault(request.role, request)
    return requests, result


async def test_the_tools_are_small_and_exactly_our_two_subagents_are_offered() -> None:
    requests, _ = await asked()
    files = ("ls", "read_file", "write_file")
    orchestrator = requests["aiq.orchestrator"]
    assert orchestrator.tool_names == (*files, "task", "write_todos", "think")
    for role in ("aiq.planner", "aiq.researcher"):
        assert requests[role].tool_names == (*files, "web_search_tool", "think")
    (task,) = [tool.function for tool in orchestrator.tools if tool.function.name == "task"]
    entries = [line.split(":")[0] for line in task.description.splitlines() if line.startswith("- ")]
    assert entries == ["- planner-agent", "- researcher-agent"]
    size = sum(len(tool.model_dump_json()) for tool in orchestrator.tools)
    assert size < 3500  # deepagents' own texts are 15,000 characters, sent with every call
    without = (await asked(enable_todos=False))[0]["aiq.orchestrator"]
    assert without.tool_names == (*files, "task", "think")
    assert "write_todos" not in without.system


async def test_prompts_are_ours_to_the_byte() -> None:
    requests, result = await asked()
    tools = [{"name": "web_search_tool", "description": "Searches the web."}]
    variables = {
        "current_datetime": "2026-11-01T09:00:00+00:00",
        "tools": tools,
        "available_documents": DOCUMENTS,
        "clarifier_result": "The plan.",
        "limits": configured(DeepSettings),
    }
    for role in ("orchestrator", "planner", "researcher"):
        messages = requests[f"aiq.{role}"].messages
        assert [message.role for message in messages] == ["system", "user"]
        assert messages[0].content == PROMPTS.render(f"{role}.j2", **variables)
    assert requests["aiq.planner"].messages[1].text == "Plan it."
    assert (result.clarifier_result, result.tools_info) == ("The plan.", tools)


async def test_the_summariser_is_gone() -> None:
    """A conversation far beyond its trigger makes no call of its own and reaches the model whole."""
    async with on_bench(lambda request: ChatReply(text=REPORT)) as bench:
        long = [HumanMessage("word " * 250_000), AIMessage("I see."), HumanMessage("Write a report on Orlune")]
        await researcher().run(DeepResearchAgentState(messages=long))
    (request,) = bench.endpoint.requests
    assert [len(message.text) for message in request.messages[1:]] == [len(str(m.content)) for m in long]
