"""An agent of the workflow: answers one task with the help of tools, or runs the one search planned for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from aiq.agents.shannon.calls import ask, attributed_to, current_ledger, log_failure
from aiq.agents.shannon.records import AgentResult, ToolOutput
from aiq.citations.documents import parse_key
from aiq.core.errors import AgentError, ModelError, ToolError
from aiq.core.events import Recovery
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.replies import why_no_answer
from aiq.core.session import current, nested_call
from aiq.core.sources import Source
from aiq.core.tools import FETCH, Tool, ToolResult, definition


@dataclass(frozen=True)
class Task:
    """What an agent is to do. `known`: results of the tasks it depends on, by id. `forced`: a tool and a query to run
    instead of asking a model. `context`: what prompts show beside the task."""

    agent_id: str
    description: str
    tier: str
    tools: tuple[Tool, ...]
    area: str = ""
    persona: str = "researcher"
    known: Mapping[str, str] = field(default_factory=dict)
    forced: tuple[Tool, str] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    max_iterations: int = 1

    def result(
        self, response: str, outputs: Sequence[ToolOutput], error: str | None = None, steps: Sequence[str] = ()
    ) -> AgentResult:
        """The agent's result. One with an error is still a success if its tools returned something to go on with."""
        return AgentResult(
            agent_id=self.agent_id,
            area=self.area,
            response=response,
            steps=tuple(steps),
            tools_used=tuple(dict.fromkeys(output.tool for output in outputs)),
            tool_outputs=tuple(outputs),
            success=error is None or bool(response.strip()),
            error=error,
        )


class Worker:
    """Serves all tasks of all samples at once. `rounds`: replies with tool calls before an agent has to answer."""

    def __init__(self, prompts: Prompts, rounds: int) -> None:
        self._prompts, self._rounds = prompts, rounds

    async def work(self, task: Task) -> AgentResult:
        """The task's result; a failure is a result with its `error`. Raises LimitReached, RunAborted.

        No task starts once the sample's budget is spent.
        """
        if spent := current().spent():
            return task.result("", [], spent)
        with attributed_to(task.agent_id):
            return await (self._run_agent(task) if task.forced is None else self._run_search(task, *task.forced))

    async def _run_search(self, task: Task, tool: Tool, query: str) -> AgentResult:
        """Run the planned search, without a model: its content is the response."""
        current_ledger().record_tool(tool.name)
        output, content = await call(tool, {"query": query})
        return task.result(content, [output]) if output.success else task.result("", [output], content)

    async def _run_agent(self, task: Task) -> AgentResult:
        outputs: list[ToolOutput] = []
        contents: list[str] = []
        try:
            text = await self._conversation(task, outputs, contents)
        except (AgentError, ModelError) as error:
            log_failure(error, "agent_cut_short")
            return task.result("\n\n".join(contents), outputs, str(error))
        return task.result("\n\n".join(contents) if why_no_answer(text, current().replies) else text, outputs)

    async def _conversation(self, task: Task, outputs: list[ToolOutput], contents: list[str]) -> str:
        """The agent's answer; adds the tools' outputs to `outputs` and the content of successful ones to `contents`."""
        messages = [
            Message(
                role="system", content=self._prompts.render("researcher.j2", persona=task.persona, rounds=self._rounds)
            ),
            Message(role="user", content=self._prompts.render("researcher_request.j2", task=task, **now())),
        ]
        role, definitions = f"shannon.{task.tier}.researcher", [definition(tool) for tool in task.tools]
        for turn in range(self._rounds):
            if turn and current().spent():
                return ""  # the report is written from what the tools returned
            reply = await ask(role, messages, tools=definitions)
            if not reply.tool_calls:
                return reply.text
            messages += [reply.message, *await self._call_tools(reply, task.tools, turn, outputs, contents)]
        return (await ask(role, messages)).text

    async def _call_tools(
        self, reply: Reply, tools: Sequence[Tool], turn: int, outputs: list[ToolOutput], contents: list[str]
    ) -> list[Message]:
        """The tools' answers to a reply, in the order of its calls."""
        by_name, answers = {tool.name: tool for tool in tools}, []
        for index, tool_call in enumerate(reply.tool_calls):
            if tool := by_name.get(tool_call.name):
                with nested_call(turn, index, None):
                    output, content = await call(tool, tool_call.arguments, tool_call.id)
                outputs.append(output)
                contents += [content] if output.success else []
            else:
                content = f"Error: there is no tool '{tool_call.name}'; there are: {', '.join(by_name) or 'none'}"
                current().events.emit(Recovery(what="unknown_tool", detail=tool_call.name))
            answers.append(Message(role="tool", content=content, tool_call_id=tool_call.id))
        return answers


async def call(tool: Tool, arguments: Mapping[str, Any] | str, call_id: str | None = None) -> tuple[ToolOutput, str]:
    """Call a tool: its output as a record for the citations, and its content (or ToolError) for the model."""
    kind = kind_of(tool.name)
    try:
        result = await current().call_tool(tool.name, arguments, call_id)
    except ToolError as error:
        return ToolOutput(tool=kind, success=False, output=str(error)), f"Error: {error}"
    output = json.dumps(found_in(tool.name, result), ensure_ascii=False)
    return ToolOutput(tool=kind, success=True, output=output), result.content


def kind_of(name: str) -> str:
    """The specification's name for a tool: all that find sources are searches, except the one that opens a page."""
    return "web_fetch" if name == FETCH else "web_search"


def found_in(name: str, result: ToolResult) -> JsonValue:
    """The sources of a result, in the shape that the specification's tools return."""
    if name == FETCH:
        if not result.sources:
            return None
        page = result.sources[-1]  # after a redirect, the last one has the requested address
        return {"url": page.address, "title": page.title, "content": page.text, "published_date": dated(page)}
    return [
        {
            "url": source.address,
            "title": source.title,
            "text": source.text,
            "published_date": dated(source),
            **({"document": parse_key(source.citation_key).name} if source.citation_key else {}),
            **({} if source.relevance is None else {"score": source.relevance}),
        }
        for source in result.sources
        if source.address
    ]


def dated(source: Source) -> str:
    """The source's date as an RFC 3339 timestamp; empty if it is unknown."""
    day = source.published or ""
    return f"{day}T00:00:00Z" if len(day) == len("2026-01-31") else day


def now() -> dict[str, str]:
    return {"current_datetime": current().now.isoformat()}
