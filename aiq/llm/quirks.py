"""Where endpoints differ from OpenAI's: requests adapted to `llm.quirks`, and replies put into OpenAI's form.

When an endpoint refuses a form of structured output, the next less strict form is used from then on.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from aiq.core.llm_settings import QuirkSettings
from aiq.core.text import json_value

FORMS: Final = ("json_schema", "json_object", "prose")
"""The forms of structured output, the strictest first; the names of the first two are OpenAI's."""

_WRONG_REQUEST: Final = frozenset({400, 422, 501})
_NAMES_FORM: Final = re.compile("response_format|json_schema|json_object")

_INSTRUCTION: Final = "Answer with one JSON object and nothing else. It has the form that this JSON schema states:"

_QUIRKS: Final = {
    "seed": "seed=false",
    "temperature": "temperature=false",
    "max_completion_tokens": "limit_field=max_tokens",
    "max_tokens": "limit_field=max_completion_tokens",
    "parallel_tool_calls": "parallel_tool_calls=false",
    "stream_options": "stream_usage=false",
}
"""By request field: the quirk that leaves it out."""


_RETURNED_FIELDS: Final = ("reasoning_content", "reasoning_details", "extra_content")


def returned_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a message that calls tools, or of one of its calls, that go back unchanged with the results.

    Without them some endpoints refuse the results: DeepSeek and Moonshot (`reasoning_content`,
    https://api-docs.deepseek.com/guides/thinking_mode), Gemini (`extra_content` of a call, the signature of a thought,
    https://ai.google.dev/gemini-api/docs/thought-signatures), OpenRouter for such models (`reasoning_details`).
    """
    return {name: message[name] for name in _RETURNED_FIELDS if message.get(name)}


def adapted(body: Mapping[str, Any], quirks: QuirkSettings) -> dict[str, Any]:
    """The body of a request as the endpoint wants it; for OpenAI's quirks as it is, but asking for a stream's usage."""
    body = dict(body)
    if not quirks.stream_usage:
        body.pop("stream_options", None)
    elif body.get("stream"):
        body["stream_options"] = {**(body.get("stream_options") or {}), "include_usage": True}
    for field in ("seed", "temperature", "parallel_tool_calls"):
        if not getattr(quirks, field):
            body.pop(field, None)
    if quirks.limit_field == "max_tokens" and "max_completion_tokens" in body:
        body["max_tokens"] = body.pop("max_completion_tokens")
    body["messages"] = [_adapt_message(message, quirks) for message in body.get("messages") or ()]
    return structured_as(body, quirks.structured)


def _adapt_message(message: dict[str, Any], quirks: QuirkSettings) -> dict[str, Any]:
    if not quirks.message_name:
        message = {name: value for name, value in message.items() if name != "name"}
    if not quirks.null_content and message.get("tool_calls") and message.get("content") is None:
        message = {**message, "content": ""}
    return message


def refused_field(status: int | None, message: str, body: Mapping[str, Any]) -> str | None:
    """The field of a request that an endpoint's refusal names and a quirk can leave out, if there is one."""
    fields = (field for field in _QUIRKS if field in body and re.search(rf"\b{field}\b", message))
    return next(fields, None) if status in _WRONG_REQUEST else None


def without_field(field: str) -> str:
    """The setting that leaves this field out of requests."""
    return f"llm.quirks.{_QUIRKS[field]}"


def form_of(body: Mapping[str, Any]) -> str:
    """The one of `FORMS` in which a request asks for its answer; also prose if it does not ask for JSON."""
    kind = (body.get("response_format") or {}).get("type")
    return kind if kind in FORMS else FORMS[-1]


def structured_as(body: Mapping[str, Any], form: str) -> dict[str, Any]:
    """The request in this form, if its own is stricter; its messages then state the schema."""
    own_form = form_of(body)
    if FORMS.index(form) <= FORMS.index(own_form):
        return dict(body)
    format_field = {"response_format": {"type": form}} if form != FORMS[-1] else {}
    rest = {name: value for name, value in body.items() if name != "response_format"}
    if own_form == FORMS[0]:
        rest["messages"] = _with_instruction(body["messages"], body["response_format"]["json_schema"].get("schema"))
    return {**rest, **format_field}


def _with_instruction(messages: Sequence[dict[str, Any]], schema: Any) -> list[dict[str, Any]]:
    """The messages with the instruction in a user message at the end: chat templates take no system message there."""
    *earlier, last = messages
    instruction = f"{_INSTRUCTION}\n{json.dumps(schema, ensure_ascii=False)}"
    if last.get("role") == "user" and isinstance(last.get("content"), str):
        return [*earlier, {**last, "content": f"{last['content']}\n\n{instruction}"}]
    return [*messages, {"role": "user", "content": instruction}]


def refuses_form(status: int | None, message: str) -> bool:
    """Whether a failure may be about the form of structured output.

    A server error that does not name the form may pass, so the request is sent again unchanged: if such errors caused
    a fallback, answers would depend on when they occur.
    """
    return status in _WRONG_REQUEST or bool(_NAMES_FORM.search(message))


class Forms:
    """The forms of structured output that the run's endpoint takes, learned from its refusals.

    Kept by model and schema, so that the request that is answered does not depend on which sample asked first.
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self.known = dict(known or {})
        """The form by digest of model and schema: what one run has learned can be passed on to the next."""
        self.learned: dict[str, str] = {}
        """The form by model and name of the schema, for people."""

    def form_for(self, body: Mapping[str, Any]) -> str:
        """The form in which to send this request, which may be less strict than its own."""
        return self.known.get(_schema_key(body), form_of(body))

    def learn(self, body: Mapping[str, Any], form: str) -> None:
        """Note that this request, given as it was made, was answered in this form and refused in stricter ones."""
        self.known[_schema_key(body)] = form
        schema = body["response_format"].get("json_schema") or {}
        self.learned[" ".join(filter(None, [body.get("model"), schema.get("name")]))] = form


def _schema_key(body: Mapping[str, Any]) -> str:
    text = canonical([body.get("model"), body.get("response_format")])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def canonical(value: Any) -> str:
    """Canonical JSON: equal values give the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def as_openai_message(message: Any, request_messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A reply's message with texts as strings, and tool calls with type, name, unique id and a JSON object as text.

    The call ids in `request_messages` are already taken. Raises TypeError if `message` is not a message, or its tool
    calls are not a list.
    """
    if not isinstance(message, dict):
        raise TypeError(f"a message is not a {type(message).__name__}")
    texts = {part: message[part] for part in ("content", "refusal") if not isinstance(message.get(part), str | None)}
    result = {**message, **{part: _text(value) for part, value in texts.items()}}
    if message.get("tool_calls"):
        taken_ids = [call.get("id") for earlier in request_messages for call in earlier.get("tool_calls") or ()]
        result["tool_calls"] = list(_calls(message["tool_calls"], taken_ids))
    return result


def _text(content: Any) -> str:
    """Content in parts as one text, without parts that have none (thoughts); any other value is an answer in JSON."""
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts):
        return json.dumps(content, ensure_ascii=False)
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _calls(calls: Sequence[dict[str, Any]], taken_ids: list[Any]) -> Iterator[dict[str, Any]]:
    for call in calls:
        function, call_id = call.get("function") or {}, str(call.get("id") or "")
        fields = {"name": str(function.get("name") or "unknown"), "arguments": _arguments(function.get("arguments"))}
        if not call_id or call_id in taken_ids:
            call_id = f"{call_id or 'call'}-{len(taken_ids)}"
        taken_ids.append(call_id)
        yield {**call, "id": call_id, "type": "function", "function": {**function, **fields}}


def _arguments(arguments: Any) -> str:
    """A JSON object as text; text that is not JSON stays, to be answered as such; other values are no arguments."""
    value = arguments
    if isinstance(arguments, str):
        try:
            value = json_value(arguments, strict=False)
        except ValueError:
            return arguments
        if isinstance(value, dict):
            return arguments
        if isinstance(value, str):  # JSON of JSON
            return value
    return json.dumps(value if isinstance(value, dict) else {}, ensure_ascii=False)
