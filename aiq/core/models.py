"""How agents and judges reach a model: always by role, always through the run's one HTTP client."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import JsonValue

from aiq.core.base import Record
from aiq.core.concurrency import holding
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
    """A chat message; `tool_calls` are an assistant's, `tool_call_id` is the one that a `tool` message answers."""

    role: str
    content: str
    tool_calls: tuple[ToolRequest, ...] = ()
    tool_call_id: str | None = None
    returned: Mapping[str, JsonValue] = {}


class Reply(Record):
    """A model's answer, without the thoughts that it closed.

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
"""Sends after the first that a failed model call gets here, in place of the run's policy; read by the transport."""


def retrying(times: int) -> AbstractContextManager[int]:
    """Give the model calls made inside this many retries. The transport stays the only one that sends again."""
    return holding(retries_of_calls, times)


class Models(Protocol):
    """The run's models."""

    def name(self, role: str) -> str:
        """The model that serves this role."""

    @property
    def endpoint(self) -> str:
        """Who answers, as hashes and kept answers know it; the same wherever it moves to while a run lasts."""

    def setup(self, role: str) -> Mapping[str, JsonValue]:
        """All that tells the role's answers from another set-up's."""

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
        """One completion. `json_schema` asks for structured output ({"name", "schema"}); `vote` enters the seed.

        `tools`: what the model may ask to be called, as `Toolbox.definitions` gives them. `subject` takes the place
        of sample and epoch in the seed: for a question that several samples may ask. `model`: another than the role's,
        for a member of a panel. `seconds`: how long each send may wait for an answer, and then for its end, where
        `llm.timeout_seconds` does not end it sooner. `options` are chat-completion parameters (temperature,
        max_tokens). Raises ModelError, LimitReached, RunAborted.
        """

    async def embed(self, role: str, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        """A vector for each text, in their order and all of one length; by the role's model, or by another one.

        Raises ModelError, also for an answer that is no such vectors, LimitReached, RunAborted.
        """
