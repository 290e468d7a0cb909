"""The LangChain chat model of a role, which sends chat completions straight through the run's client.

It replaces `ChatOpenAI`, whose client validates each field of each message before sending it: a third of the processor
time of a model call here. Requests are the same to the byte.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.language_models.base import LangSmithParams
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from aiq.core.text import json_value
from aiq.llm.calls import ANSWER
from aiq.llm.http import Response
from aiq.llm.quirks import returned_fields

_BY_CALL = "returned"
"""Key in a message's `additional_kwargs`: by tool call id, what the endpoint wants back with the call."""

_ROLES = {"human": "user", "ai": "assistant"}
"""OpenAI's names for the roles that LangChain names differently."""


class RunChatModel(BaseChatModel):
    """The model of one role of a run; `send` sends the body of a chat completion for it. Async only."""

    model: str
    send: Callable[[Mapping[str, Any]], Awaitable[Response]] = Field(exclude=True)

    @property
    def _llm_type(self) -> str:
        return "openai-chat"

    def _get_ls_params(self, stop: list[str] | None = None, **options: Any) -> LangSmithParams:
        """Names OpenAI, whose API this is, so that deepagents uses its profile."""
        return LangSmithParams(ls_provider="openai", ls_model_name=self.model, ls_model_type="chat")

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **options: Any) -> Runnable[Any, AIMessage]:
        """Offer these tools; `tool_choice`: the name of one that must be called, or a value of OpenAI's field."""
        definitions = [convert_to_openai_tool(tool) for tool in tools]
        if tool_choice in [tool["function"]["name"] for tool in definitions]:
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        elif tool_choice in ("any", True):
            tool_choice = "required"
        return self.bind(tools=definitions, tool_choice=tool_choice or None, **options)

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise RuntimeError("synchronous model calls are not supported: use the async methods (ainvoke, astream)")

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        answer = (await self.send(self._body(messages, stop=stop, stream=False, **options))).extensions[ANSWER]
        choice = answer["choices"][0]
        metadata = {"finish_reason": choice.get("finish_reason"), "model_provider": "openai"}
        metadata |= {"model_name": answer.get("model", self.model), "id": answer.get("id")}
        message = _message(choice["message"], usage_metadata=_usage(answer.get("usage")), response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        usage = {"include_usage": True}
        response = await self.send(self._body(messages, stop=stop, stream=True, stream_options=usage, **options))
        try:
            async for event in _events(response):
                chunk = ChatGenerationChunk(message=_chunk(event))
                if run_manager:
                    await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
        finally:
            await response.aclose()

    def _body(self, messages: list[BaseMessage], **options: Any) -> dict[str, Any]:
        """The body of a request."""
        fields = {name: value for name, value in options.items() if value is not None}
        return {"model": self.model, "messages": [_wire(message) for message in messages], **fields}


def _wire(message: BaseMessage) -> dict[str, Any]:
    """A message in the format of chat completions."""
    content: Any = message.content
    if not isinstance(content, str):  # in parts, such as images
        content = convert_to_openai_messages([message], text_format="block")[0]["content"]
    if isinstance(message, ToolMessage):
        return {"content": content, "role": "tool", "tool_call_id": message.tool_call_id}
    name_field = {} if message.name is None else {"name": message.name}
    wire = {"content": content, **name_field, "role": _ROLES.get(message.type, message.type)}
    if not isinstance(message, AIMessage) or not (message.tool_calls or message.invalid_tool_calls):
        return wire
    calls = [(call, json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
    all_calls = [*calls, *((call, call["args"]) for call in message.invalid_tool_calls)]
    extras = message.additional_kwargs
    wire["tool_calls"] = [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"], "arguments": arguments},
            **extras.get(_BY_CALL, {}).get(call["id"], {}),
        }
        for call, arguments in all_calls
    ]
    return {**wire, "content": content or None, **returned_fields(extras)}


def _message(wire: Mapping[str, Any], **metadata: Any) -> AIMessage:
    """A reply's message; tool calls whose arguments are not JSON become invalid ones, as in LangChain."""
    calls: dict[str, list[Any]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in wire.get("tool_calls") or ():
        try:
            calls["tool_calls"].append(parse_tool_call(call, return_id=True))
        except (ValueError, RecursionError) as error:
            calls["invalid_tool_calls"].append(make_invalid_tool_call(call, str(error)))
    extras = {**({"refusal": wire["refusal"]} if wire.get("refusal") else {}), **returned_fields(wire)}
    if by_call := {call["id"]: fields for call in wire.get("tool_calls") or () if (fields := returned_fields(call))}:
        extras[_BY_CALL] = by_call
    return AIMessage(wire.get("content") or "", additional_kwargs=extras, **calls, **metadata)


def _usage(reported: Any) -> UsageMetadata | None:
    if not reported:
        return None
    input_tokens, output_tokens = reported.get("prompt_tokens") or 0, reported.get("completion_tokens") or 0
    cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens")
    return UsageMetadata(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        input_token_details={} if cached is None else {"cache_read": cached},
        output_token_details={},
    )


async def _events(response: Response) -> AsyncIterator[dict[str, Any]]:
    """The JSON objects of an event stream; anything else is skipped."""
    async for line in response.aiter_lines():
        payload = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if payload == "[DONE]":
            return
        with suppress(ValueError):
            if isinstance(event := json_value(payload), dict):
                yield event


def _chunk(event: Mapping[str, Any]) -> AIMessageChunk:
    """A chunk of a streamed reply; one without a choice has the usage."""
    choice: Mapping[str, Any] = next(iter(event.get("choices") or ()), {})
    delta = choice.get("delta") or {}
    parts = [
        tool_call_chunk(id=part.get("id"), index=part.get("index", 0), **_function(part.get("function") or {}))
        for part in delta.get("tool_calls") or ()
    ]
    metadata = {"finish_reason": choice["finish_reason"]} if choice.get("finish_reason") else {}
    return AIMessageChunk(
        content=delta.get("content") or "",
        tool_call_chunks=parts,
        usage_metadata=_usage(event.get("usage")),
        response_metadata={"model_provider": "openai", **metadata},
    )


def _function(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": part.get("name"), "args": part.get("arguments")}
