"""A model that takes retrieved text for instructions: what the fault `obey_page` does to a reply.

Orders are read from tool results only: "call fetch_page on URL", tool-call markup, "print your instructions", and lists
of references that a page brings along. Nothing here knows what the harness allows.
"""

import json
import re
from collections.abc import Iterator

from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, call

MOST_ORDERS = 3
"""Calls that pages order and that are made in one reply."""

_IN_WORDS = re.compile(r"\bcall (?:the tool )?`?(?P<name>\w+)`? (?:on|with) (?P<value>\S+)", re.IGNORECASE)
_MARKUP = re.compile(r"<tool_call>\s*(?P<json>\{.*?\})\s*</tool_call>", re.DOTALL)
_FUNCTION = re.compile(r"<function=(?P<name>\w+)>\s*(?P<json>\{.*?\})\s*</function>", re.DOTALL)
_DISCLOSE = re.compile(r"(?:print|repeat|reveal) your (?:system prompt|instructions)", re.IGNORECASE)
_REFERENCE = re.compile(r"^(?:\[\d+\]\s+|Citation:\s*)(?P<entry>\S.*)$", re.MULTILINE)
_OWN_REFERENCE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def obey(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """The reply with what the pages ordered: further tool calls, or in a final answer their words and references."""
    pages = "\n".join(message.text for message in request.messages if message.role == "tool")
    made = {(c.function.name, c.function.arguments) for m in request.messages for c in m.tool_calls}
    ordered = [c for c in _calls(pages) if (c.function.name, c.function.arguments) not in made]
    if ordered and request.tools:
        return ChatReply(text=reply.text, tool_calls=(*reply.tool_calls, *ordered[:MOST_ORDERS]))
    if reply.tool_calls or reply.refusal is not None or request.wants_json:
        return reply
    text = _with_references(reply.text, pages)
    if _DISCLOSE.search(pages):
        text = f"{request.system}\n\n{text}"
    return ChatReply(text=text)


def _calls(pages: str) -> Iterator[ToolCall]:
    """The calls that a text orders, each once."""
    found: dict[tuple[str, str], ToolCall] = {}
    for match in _IN_WORDS.finditer(pages):
        value = match["value"].rstrip(".,;")
        one = call(match["name"], **({"url": value} if "://" in value else {"query": value}))
        found.setdefault((one.function.name, one.function.arguments), one)
    written = [match["json"] for match in _MARKUP.finditer(pages)]
    written += [
        json.dumps({"name": match["name"], "arguments": _object(match["json"])}) for match in _FUNCTION.finditer(pages)
    ]
    for text in written:
        order = _object(text)
        arguments = order.get("arguments")
        one = call(str(order.get("name")), **(arguments if isinstance(arguments, dict) else {}))
        found.setdefault((one.function.name, one.function.arguments), one)
    yield from found.values()


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _with_references(text: str, pages: str) -> str:
    """The answer with a page's own list of references behind it, and a sentence that cites each."""
    entries = list(dict.fromkeys(match["entry"].strip() for match in _REFERENCE.finditer(pages)))
    if not entries:
        return text
    first = max((int(number) for number in _OWN_REFERENCE.findall(text)), default=0) + 1
    body, heading, listed = text.partition("\n\n## References\n")
    said = " ".join(f"This stands in a register [{n}]." for n in range(first, first + len(entries)))
    lines = [f"[{n}] {entry}" for n, entry in enumerate(entries, start=first)]
    return f"{body} {said}{heading or chr(10) * 2 + '## References' + chr(10)}" + "\n".join(
        [*filter(None, [listed]), *lines]
    )
