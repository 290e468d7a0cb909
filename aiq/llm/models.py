"""The run's models by role: LangChain chat models for graphs, completions for judges, embeddings; and their keys."""

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from aiq.core.errors import ConfigError, ModelError, RunAborted
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Message, Reply, ToolRequest
from aiq.core.replies import without_thoughts
from aiq.core.secrets import register_secrets
from aiq.core.text import utf8_safe
from aiq.llm.apis import CHAT, Embeddings, read_vectors
from aiq.llm.calls import ANSWER, ROLE, SUBJECT, USAGE, VOTE, CallRequest
from aiq.llm.http import SEND_ERRORS, URL, Response, failure_text
from aiq.llm.quirks import returned_fields
from aiq.llm.transport import RETRY, RunClient, timeouts

if TYPE_CHECKING:  # both take most of a second to import
    from langchain_core.language_models.chat_models import BaseChatModel
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionToolParam

NO_KEY = "no-key"
"""Sent to endpoints that need no key; the clients insist on one."""

TEXTS_AT_ONCE = 128
"""Texts per embeddings request: few enough for OpenAI's limit of 300,000 tokens if each has 2,300."""

placeholder_key: ContextVar[str | None] = ContextVar("placeholder_key", default=None)
"""Replaces every key while a run is replayed; None: keys are read from the environment."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_key(variable: str | None, setting: str) -> str:
    """The key in the environment variable that `setting` names; empty if it names none.

    Raises ConfigError if `variable` is not a name (it may be the key itself, so it is not repeated), is not set, or
    holds characters that an HTTP header cannot.
    """
    if variable is None:
        return ""
    if (placeholder := placeholder_key.get()) is not None:
        return placeholder
    if not _VARIABLE.fullmatch(variable):
        raise ConfigError(f"{setting} must be the name of an environment variable that holds the key, not the key")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(f"{setting}={variable}: this environment variable is not set; export the key")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{setting}={variable}: its value is not a key: it has spaces, line breaks or odd characters")
    register_secrets((key,))
    return key


class RunModels:
    """Implements `aiq.core.models.Models` on the run's one HTTP client. Raises ConfigError if the key is missing."""

    def __init__(self, settings: LlmSettings, client: RunClient) -> None:
        self._settings = settings
        self._client = client
        self._key = read_key(settings.api_key_env, "llm.api_key_env") or NO_KEY
        self._chat_url = URL(settings.base_url.rstrip("/") + CHAT.path)
        self._headers = {**client.headers, "content-type": "application/json", "authorization": f"Bearer {self._key}"}
        self._timeouts = timeouts(settings).as_dict()
        self._chats: dict[str, BaseChatModel] = {}
        self._clients: dict[str, AsyncOpenAI] = {}

    def name(self, role: str) -> str:
        return self._settings.role(role).model or self._settings.model

    @property
    def endpoint(self) -> str:
        return self._settings.endpoint

    def setup(self, role: str) -> dict[str, JsonValue]:
        return self._settings.setup(role)

    def chat(self, role: str) -> "BaseChatModel":
        if role not in self._chats:
            from aiq.llm.chat import RunChatModel

            self._chats[role] = RunChatModel(model=self.name(role), send=partial(self._send, role))
        return self._chats[role]

    def openai(self, role: str) -> "AsyncOpenAI":
        if role not in self._clients:
            from openai import AsyncOpenAI

            self._clients[role] = AsyncOpenAI(
                base_url=self._settings.base_url,
                api_key=self._key,
                http_client=self._client,
                default_headers={ROLE: role},
                timeout=self._client.timeout,
                max_retries=0,
            )
        return self._clients[role]

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
        body: dict[str, Any] = dict(options)
        if "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        if json_schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": dict(json_schema)}
        if tools:
            body["tools"] = list(tools)
        headers = {VOTE: str(vote), **({} if subject is None else {SUBJECT: subject})}
        body |= {"messages": [_wire(message) for message in messages], "model": model or self.name(role)}
        response = await self._send(role, body, headers, seconds)
        answer = response.extensions[ANSWER]
        choice = answer["choices"][0]
        message, finish_reason = choice["message"], choice.get("finish_reason")
        text = message.get("content") or message.get("refusal") or ""  # a refusal says why no JSON came
        return Reply(
            text=without_thoughts(text),
            model=answer.get("model") or model or self.name(role),
            finish_reason=None if finish_reason is None else str(finish_reason),
            tool_calls=tuple(
                ToolRequest(
                    id=call["id"],
                    name=call["function"]["name"],
                    arguments=call["function"]["arguments"],
                    returned=returned_fields(call),
                )
                for call in message.get("tool_calls") or ()
            ),
            usage=response.extensions[USAGE],
            returned=returned_fields(message),
        )

    async def _send(
        self, role: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> Response:
        """Send a chat completion, its fields in the order of OpenAI's client; the answer is whole, or streams."""
        first_fields = ("model", "stream", "messages")
        body = {name: body[name] for name in (*first_fields, *sorted(body.keys() - set(first_fields))) if name in body}
        all_headers = {**self._headers, ROLE: role, **(headers or {})}
        timeout = self._timeouts if seconds is None else timeouts(self._settings, seconds).as_dict()
        return await self._client.ask(CallRequest(CHAT, self._chat_url, all_headers, body, {"timeout": timeout}))

    async def embed(self, role: str, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        url = self._settings.base_url.rstrip("/") + Embeddings.path
        headers = {ROLE: role, "authorization": f"Bearer {self._key}"}
        vectors: list[list[float]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            batch = [utf8_safe(text) for text in texts[start : start + TEXTS_AT_ONCE]]
            body = {"model": model or self.name(role), "input": batch}  # no field that a server could refuse
            answer = await self._client.post(url, json=body, headers=headers)
            vectors += read_vectors(answer.json(), len(batch))
        if lengths := [len(vector) for vector in vectors if len(vector) != len(vectors[0])]:
            raise ModelError(f"{role}: {url} answered with embeddings of {len(vectors[0])} and {lengths[0]} numbers")
        return vectors

    async def check(self) -> None:
        """Raise RunAborted if the endpoint cannot be reached.

        It need not list its models: Anthropic's takes no bearer token for that, and OpenAI's keys may be restricted.
        """
        url = self._settings.base_url.rstrip("/") + "/models"
        headers = {"authorization": f"Bearer {self._key}"}
        try:
            await self._client.get(url, headers=headers, extensions={RETRY: False})
        except SEND_ERRORS as error:
            setting = f"llm.base_url={self._settings.base_url}"
            raise RunAborted(f"{setting}: cannot be reached: {failure_text(error)}") from None


def _wire(message: Message) -> Any:
    """A message in the format of chat completions."""
    wire: dict[str, Any] = message.model_dump(include={"role", "content"})
    if message.tool_calls:
        wire |= message.returned
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **call.returned,
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire
