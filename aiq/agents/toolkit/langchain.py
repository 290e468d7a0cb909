"""Our tools as LangChain tools: each call goes through the session, so that it is logged and its sources kept."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from pydantic import BaseModel

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import Recovery, ToolCalled, ToolReturned
from aiq.core.replies import is_announcement, is_tool_call, without_thoughts
from aiq.core.session import current, nested_call
from aiq.core.tools import Tool

ToolAnswer = ToolMessage | Command[Any]
Execute = Callable[[ToolCallRequest], Awaitable[ToolAnswer]]

TASK = "task"
"""The tool by which deepagents dispatches a subagent."""

REPEATED = "the same call was made before, and its result is above; look for something else, in other words, or answer"

CALL_REPAIR = (
    "Your last reply was a tool call written as text, which nobody runs. Call a tool through the interface for tool "
    "calls, or answer in words, in the form that your instructions ask for."
)
"""Sent once after such a reply, and not kept in the conversation."""

NO_TOOLS = (
    "You have no tools any more, so nobody runs your call. Answer in words, in the form that your instructions ask for."
)
"""Sent likewise after a call when no tool is offered."""

EMPTY = "empty content received."
"""What a model is shown in place of a blank tool result; some endpoints refuse empty content."""

_MOST_TOOLS = 256
"""Size of the caches that save converting each tool again for every turn of every sample."""


class SessionTool(BaseTool):
    """A LangChain tool whose calls go straight to `session.call_tool`, which logs them under the model's call id.

    LangChain's callbacks, to which nobody listens here, are bypassed. Async only. Arguments are validated once, by the
    session. A ToolError becomes a tool message `Error: ...` with status `error`; everything else (LimitReached,
    ModelError, RunAborted) passes through and ends the attempt.
    """

    def _run(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("sync tool calls are refused: use ainvoke")

    async def ainvoke(self, input: Any, config: Any = None, **_: Any) -> ToolMessage:  # noqa: A002  LangChain's name
        """Answer a ToolCall."""
        fields: dict[str, Any] = {"name": self.name, "tool_call_id": input["id"]}
        try:
            result = await current().call_tool(self.name, input["args"], input["id"])
        except ToolError as error:
            return ToolMessage(f"Error: {error}", status="error", **fields)
        return ToolMessage(result.content, **fields)


class _ToolView(NamedTuple):
    """What models and LangChain see of a tool: a cache key, since all derived from it is the same for a whole run."""

    name: str
    description: str
    parameters: type[BaseModel]


def _views(tools: Sequence[Tool]) -> tuple[_ToolView, ...]:
    return tuple(_ToolView(tool.name, tool.description, tool.parameters) for tool in tools)


def as_langchain(tool: Tool) -> SessionTool:
    return _as_langchain(*_views([tool]))


@lru_cache(_MOST_TOOLS)
def _as_langchain(tool: _ToolView) -> SessionTool:
    return SessionTool(name=tool.name, description=tool.description, args_schema=tool.parameters.model_json_schema())


@lru_cache(_MOST_TOOLS)
def _definition(tool: _ToolView) -> dict[str, Any]:
    """The tool in the format of chat completions."""
    return convert_to_openai_tool(_as_langchain(tool))


async def reply_to(messages: Sequence[AnyMessage], role: str, tools: Sequence[Tool], **options: Any) -> AIMessage:
    """The next message of the role's model, which is offered these tools; see `ask_with_repair`."""
    model = current().models.chat(role)
    bound_model = model.bind_tools([*map(_definition, _views(tools))], **options) if tools else model
    visible = [*map(fill_blank, messages)]

    async def ask(*extra: AnyMessage) -> AIMessage:
        return normalise_reply(await bound_model.ainvoke([*visible, *extra]))

    return await ask_with_repair(ask, bool(tools))


async def ask_with_repair(ask: Callable[..., Awaitable[AIMessage]], offers_tools: bool) -> AIMessage:
    """The reply of `ask`, which takes messages to add; asked once more if the reply is a call that nobody runs.

    That is one written as text, or any call when no tool is offered: a graph that ran it would never end. What such a
    reply says besides its calls is the answer, unless it only announces them.
    """
    reply = await ask()
    if reply.tool_calls and not offers_tools and is_announcement(str(reply.text)):
        names = ", ".join(call["name"] for call in reply.tool_calls)
        current().events.emit(Recovery(what="tool_call_without_tools", detail=names))
        reply = await ask(HumanMessage(NO_TOOLS))
    elif not reply.tool_calls and is_tool_call(str(reply.text)):
        current().events.emit(Recovery(what="tool_call_as_text", detail=str(reply.text)[:200]))
        reply = await ask(reply, HumanMessage(CALL_REPAIR))
    if offers_tools or not reply.tool_calls:
        return reply
    content = {"content": ""} if is_announcement(str(reply.text)) else {}
    return reply.model_copy(update={**content, "tool_calls": []})


def fill_blank(message: AnyMessage) -> AnyMessage:
    """The message, or a placeholder for a blank tool result; an image is content without words."""
    if not isinstance(message, ToolMessage) or str(message.text).strip():
        return message
    blank = all(block["type"] == "text" for block in message.content_blocks)
    return message.model_copy(update={"content": EMPTY}) if blank else message


def tool_node(tools: Sequence[Tool], most: int) -> ToolNode:
    """A node for hand-built graphs that answers the calls of the last reply, those beyond `most` with a refusal."""
    return _tool_node(_views(tools), most)


@lru_cache(_MOST_TOOLS)
def _tool_node(tools: tuple[_ToolView, ...], limit: int) -> ToolNode:
    async def within_budget(request: ToolCallRequest, execute: Execute) -> ToolAnswer:
        if calls_before(request) < limit:
            return await call_in_session(request, execute)
        return over_budget(request.tool_call, f"at most {limit} tool calls are allowed; this one was not made")

    return ToolNode([*map(_as_langchain, tools)], awrap_tool_call=within_budget)


async def call_in_session(request: ToolCallRequest, execute: Execute) -> ToolAnswer:
    """Run a call at its place in the session's order, unless it repeats a call of a research tool.

    A session tool logs itself under the call's id. Any other, such as those for files, is logged here and is the
    parent of what runs inside it; a dispatch is logged by the events of its subagent.
    """
    call, is_session_tool = request.tool_call, isinstance(request.tool, SessionTool)
    if is_session_tool and is_repeat(request):
        return refuse_call(call, ToolErrorKind.REPEATED, REPEATED)
    logs = not is_session_tool and call["name"] != TASK
    if logs:
        _log_call(call)
    with nested_call(*position(request), None if is_session_tool else call["id"]):
        result = await execute(request)
    if logs:
        answer = answer_of(result)
        kind = ToolErrorKind.UNKNOWN_TOOL if request.tool is None else ToolErrorKind.FAILED
        _log_result(call, str(answer.text), kind if answer.status == "error" else None)
    return result


def is_repeat(request: ToolCallRequest) -> bool:
    """Whether the same call of a research tool was made since the last question and did not fail.

    Case and spacing are ignored, except in URLs. Of two such calls in one reply the second repeats the first.
    """
    call, messages = request.tool_call, since_question(messages_of(request.state))
    if current().tools.get(call["name"]).data_source is None:
        return False
    failed = {m.tool_call_id for m in messages if isinstance(m, ToolMessage) and m.status == "error"}
    earlier = (old for old in _earlier_calls(request, messages) if old["id"] not in failed)
    return any(_normalised(old) == _normalised(call) for old in earlier)


def _normalised(call: ToolCall) -> tuple[str, dict[str, Any]]:
    words = {name: value for name, value in call["args"].items() if isinstance(value, str) and "://" not in value}
    return call["name"], call["args"] | {name: " ".join(value.casefold().split()) for name, value in words.items()}


def over_budget(call: ToolCall, reason: str) -> ToolMessage:
    return refuse_call(call, ToolErrorKind.OVER_BUDGET, f"over budget: {reason}")


def refuse_call(call: ToolCall, kind: ToolErrorKind, reason: str) -> ToolMessage:
    """The answer to a call that is not executed, logged like one that was."""
    text = f"Error: {reason}"
    _log_call(call)
    _log_result(call, text, kind)
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"] or "", status="error")


def _log_call(call: ToolCall) -> None:
    current().events.emit(ToolCalled(call_id=call["id"] or "", tool=call["name"], arguments=call["args"]))


def _log_result(call: ToolCall, text: str, error: ToolErrorKind | None) -> None:
    fields = {"call_id": call["id"] or "", "tool": call["name"], "content": text}
    current().events.emit(ToolReturned(**fields, success=error is None, error=error))


def answer_of(result: ToolAnswer) -> ToolMessage:
    """The tool's answer: the result itself or, if that is a state update, the last message in it."""
    answer: ToolMessage = result if isinstance(result, ToolMessage) else dict(result.update or {})["messages"][-1]
    return answer


def position(request: ToolCallRequest) -> tuple[int, int]:
    """(turn, index) of a call: the number of AI messages so far, and its index among the last one's tool calls."""
    replies = replies_in(messages_of(request.state))
    return len(replies), [call["id"] for call in replies[-1].tool_calls].index(request.tool_call["id"])


def calls_before(request: ToolCallRequest, tools: Collection[str] | None = None) -> int:
    """How many calls (of these tools) precede this one in the conversation, made or refused."""
    earlier = _earlier_calls(request, messages_of(request.state))
    return sum(tools is None or call["name"] in tools for call in earlier)


def _earlier_calls(request: ToolCallRequest, messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """The calls in these messages that precede this one, which is in the last reply."""
    *earlier, last = (reply.tool_calls for reply in replies_in(messages))
    return [*chain(*earlier), *last[: position(request)[1]]]


def messages_of(state: Any) -> list[AnyMessage]:
    """The messages of a graph state, whether it is a mapping or a model."""
    return list(state["messages"] if isinstance(state, dict) else state.messages)


def since_question(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """The messages after the last question."""
    last = max((i for i, message in enumerate(messages) if isinstance(message, HumanMessage)), default=-1)
    return messages[last + 1 :]


def steps_left() -> int:
    """Steps that the running graph may take until its recursion limit."""
    config = get_config()
    return int(config["recursion_limit"] - config["metadata"]["langgraph_step"])


def replies_in(messages: Sequence[BaseMessage]) -> list[AIMessage]:
    return [message for message in messages if isinstance(message, AIMessage)]


def normalise_reply(reply: AIMessage) -> AIMessage:
    """`reply` without its thoughts, with unparsable tool calls as calls without arguments and a unique id per call.

    LangChain sets unparsable calls aside, and a graph would take the reply for a final answer. Without arguments the
    session refuses them with a message that the model can act on. Of two calls with one id only one would be counted.
    """
    if isinstance(reply.content, str) and (content := without_thoughts(reply.content)) != reply.content:
        reply = reply.model_copy(update={"content": content})
    calls = list(reply.tool_calls)
    for invalid in reply.invalid_tool_calls:
        detail = f"{invalid['name']}: arguments are no JSON object: {(invalid['args'] or '')[:200]}"
        current().events.emit(Recovery(what="malformed_tool_arguments", detail=detail))
        calls.append(tool_call(name=invalid["name"] or "unknown", args={}, id=invalid["id"]))
    ids = [call["id"] for call in calls]
    for i, call in enumerate(calls):
        if not call["id"] or call["id"] in ids[:i]:
            calls[i] = {**call, "id": f"{call['id'] or 'call'}-{i}"}
    if calls == reply.tool_calls:
        return reply
    return reply.model_copy(update={"tool_calls": calls, "invalid_tool_calls": []})
