"""An agent of the workflow: answers one task with the help of tools, or runs the one tool call that was planned."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from aiq.agents.shannon.calls import BudgetSpent, ask, books, working_as
from aiq.agents.shannon.records import AgentResult, ToolOutput
from aiq.core.errors import ModelError, ToolError
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call
from aiq.core.sources import Source
from aiq.core.tools import FETCH, Tool, ToolResult, definition


@dataclass(frozen=True)
class Task:
    """What an agent is to do. `known`: results of tasks that it builds on, by their ids. `forced`: arguments of the
    one tool call that does it, with the tool's name under `tool`; None: a model decides."""

    agent_id: str
    description: str
    tier: str
    tools: tuple[Tool, ...]
    area: str = ""
    persona: str = "researcher"
    known: Mapping[str, str] = field(default_factory=dict)
    forced: Mapping[str, JsonValue] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    max_iterations: int = 1


class Worker:
    """Serves all tasks of all samples at once."""

    def __init__(self, prompts: Prompts, rounds: int) -> None:
        self._prompts, self._rounds = prompts, rounds

    async def work(self, task: Task) -> AgentResult:
        """What came of the task; a failure is a result with its `error`. Raises LimitReached, RunAborted."""
        with working_as(task.agent_id):
            if task.forced is not None:
                return await self._forced(task, dict(task.forced))
            return await self._asked(task)

    async def _forced(self, task: Task, arguments: dict[str, JsonValue]) -> AgentResult:
        """The planned call, at no token: its content is the response."""
        name = str(arguments.pop("tool"))
        output, content = await call(next(tool for tool in task.tools if tool.name == name), arguments)
        books().add(task.agent_id, tool=name)
        return result_of(task, content if output.success else "", [output], None if output.success else content)

    async def _asked(self, task: Task) -> AgentResult:
        messages = [
            Message(role="system", content=self._prompts.render("researcher.j2", persona=task.persona)),
            Message(role="user", content=self._prompts.render("researcher_request.j2", task=task, **now())),
        ]
        outputs: list[ToolOutput] = []
        try:
            for turn in range(self._rounds + 1):
                offered = task.tools if turn < self._rounds else ()
                reply = await ask(
                    f"shannon.{task.tier}.researcher", messages, tools=[definition(tool) for tool in offered]
                )
                if not reply.tool_calls or not offered:
                    return result_of(task, reply.text, outputs)
                messages += [reply.message, *await self._calls(reply, task.tools, turn, outputs)]
        except (ModelError, BudgetSpent) as error:
            if isinstance(error, ModelError) and error.never_answered:
                raise
            return result_of(task, "", outputs, str(error))
        raise AssertionError("the last reply is offered no tools")

    async def _calls(self, reply: Reply, tools: Sequence[Tool], turn: int, outputs: list[ToolOutput]) -> list[Message]:
        """The tools' answers to a reply, in the order of its calls."""
        by_name = {tool.name: tool for tool in tools}
        answers = []
        for index, made in enumerate(reply.tool_calls):
            with nested_call(turn, index, None):
                tool = by_name.get(made.name)
                output, content = await call(tool, made.arguments, made.id, made.name)
            outputs.append(output)
            answers.append(Message(role="tool", content=content, tool_call_id=made.id))
        return answers


async def call(
    tool: Tool | None, arguments: Mapping[str, Any] | str, call_id: str | None = None, name: str = ""
) -> tuple[ToolOutput, str]:
    """A tool call as a record for the citations, and its content for the model; a ToolError is the content."""
    name = tool.name if tool else name
    try:
        result = await current().call_tool(name, arguments, call_id)
    except ToolError as error:
        return ToolOutput(tool=kind_of(name), success=False, output=str(error)), f"Error: {error}"
    found = json.dumps(found_in(name, result), ensure_ascii=False)
    return ToolOutput(tool=kind_of(name), success=True, output=found), result.content


def kind_of(name: str) -> str:
    """The specification's name of a tool: every tool that finds sources is a search, but the one that opens a page."""
    return "web_fetch" if name == FETCH else "web_search"


def found_in(name: str, result: ToolResult) -> JsonValue:
    """The sources of a result in the shape that the specification's tools give them."""
    if name == FETCH:
        if not result.sources:
            return None
        page = result.sources[-1]
        return {"url": page.address, "title": page.title, "content": page.text, "published_date": dated(page)}
    return [
        {
            "url": source.address,
            "title": source.title,
            "text": source.text,
            "published_date": dated(source),
            **({} if source.relevance is None else {"score": source.relevance}),
        }
        for source in result.sources
        if source.address
    ]


def dated(source: Source) -> str:
    """The source's date as RFC 3339, which has a time; empty where none is known."""
    day = source.published or ""
    return f"{day}T00:00:00Z" if len(day) == len("2026-01-31") else day


def now() -> dict[str, str]:
    return {"current_datetime": current().now.isoformat()}


def result_of(task: Task, response: str, outputs: Sequence[ToolOutput], error: str | None = None) -> AgentResult:
    return AgentResult(
        agent_id=task.agent_id,
        area=task.area,
        response=response,
        tools_used=tuple(dict.fromkeys(output.tool for output in outputs)),
        tool_outputs=tuple(outputs),
        success=error is None,
        error=error,
    )
