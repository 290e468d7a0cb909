"""How agents and judges reach a model: always by role, always through the run's one HTTP client."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue

from aiq.core.base import Record
from aiq.core.concurrency import binding
from aiq.core.usage import Usage

if TYPE_CHECKING:  # both take most of a second to import; only agents that use them need it
    from langchain_core.language_models.chat_models import BaseChatModel
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionToolParam


class ToolRequest(Record):
    """A tool call that a model asks for; `arguments` is JSON as the model wrote it, `returned` as in `Reply`."""

    id: str
    name: str
    arguments: str
    returned: Mapping[str, JsonValue] = {}


class Message(Record):
    """A chat message; an assistant makes `tool_calls`, a `tool` message answers the call `tool_call_id`."""

    role: str
    content: str
    tool_calls: tuple[ToolRequest, ...] = ()
    tool_call_id: str | None = None
    returned: Mapping[str, JsonValue] = {}


class Reply(Record):
    """A model's answer, without its closed thoughts.

    `usage`: of the exchange that brought it, as booked; earlier failed sends are not in it. `returned`: what some
    endpoints want back with the results of the tools that it calls, such as its thoughts.
    """

    text: str
    model: str
    finish_reason: str | None = None
    tool_calls: tuple[ToolRequest, ...] = ()
    usage: Usage = Usage()
    returned: Mapping[str, JsonValue] = {}

    @property
    def message(self) -> Message:
        """What it is in the conversation that goes on with it."""
        return Message(role="assistant", content=self.text, tool_calls=self.tool_calls, returned=self.returned)


retries_of_calls: ContextVar[int | None] = ContextVar("retries_of_calls", default=None)
"""Retries of a failed model call here, instead of the run's policy; read by the transport."""


def retrying(times: int) -> AbstractContextManager[int]:
    """Give the model calls made inside this many retries. The transport remains the only one that sends again."""
    return binding(retries_of_calls, times)


class Models(Protocol):
    """The run's models."""

    def name(self, role: str) -> str:
        """The model that serves this role."""

    @property
    def endpoint(self) -> str:
        """The endpoint's name in hashes and stored answers; unchanged if its address changes during a run."""

    def setup(self, role: str) -> Mapping[str, JsonValue]:
        """Everything that distinguishes the role's answers from those of another set-up."""

    def chat(self, role: str) -> "BaseChatModel":
        """A LangChain chat model bound to the role; the same object for the whole run."""

    def openai(self, role: str) -> "AsyncOpenAI":
        """A stock client bound to the role, see `Session.openai`; the same object for the whole run."""

    async def complete(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        tools: Sequence["ChatCompletionToolParam"] = (),
        json_schema: Mapping[str, JsonValue] | None = None,
        vote: int = 0,
        subject: str | None = None,
        model: str | None = None,
        seconds: float | None = None,
        **options: Any,
    ) -> Reply:
        """One completion. `json_schema` asks for structured output ({"name", "schema"}); `vote` is part of the seed.

        `tools`: what the model may call, as returned by `Toolbox.definitions`. `subject` replaces sample and epoch in
        the seed: for a question that several samples may ask. `model`: a model other than the role's, for a member of
        a panel. `seconds`: how long each send may wait for an answer, and then for its end, unless
        `llm.timeout_seconds` ends it sooner. `options` are chat-completion parameters (temperature, max_tokens).
        Raises ModelError, LimitReached, RunAborted.
        """

    async def embed(self, role: str, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        """One vector per text, in order and all of one length, by the role's model or the `model` given.

        Raises ModelError (also for an answer without such vectors), LimitReached, RunAborted.
        """
