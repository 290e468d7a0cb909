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

_IN_WORDS = re.compile(r"\bcall (?:the tool )?`?(\w+)`? (?:on|with) (\S+)", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:tool_call|function=(\w+))>\s*(\{.*?\})\s*</(?:tool_call|function)>", re.DOTALL)
_DISCLOSE = re.compile(r"(?:print|repeat|reveal) your (?:system prompt|instructions)", re.IGNORECASE)
_REFERENCE = re.compile(r"^(?:\[\d+\]\s+|Citation:\s*)(\S.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_HEADING = "\n\n## References\n"


def obey(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """The reply with what the pages ordered: further tool calls, or in a final answer their words and references."""
    pages = "\n".join(message.text for message in request.messages if message.role == "tool")
    made = [made.function for message in request.messages for made in message.tool_calls]
    ordered = [order for order in dict.fromkeys(_calls(pages)) if order.function not in made]
    if ordered and request.tools:
        return ChatReply(text=reply.text, tool_calls=(*reply.tool_calls, *ordered[:MOST_ORDERS]))
    if reply.tool_calls or request.wants_json:
        return reply
    text = _with_references(reply.text, pages)
    return ChatReply(text=f"{request.system}\n\n{text}" if _DISCLOSE.search(pages) else text)


def _calls(pages: str) -> Iterator[ToolCall]:
    """The calls that a text orders."""
    for name, value in _IN_WORDS.findall(pages):
        yield call(name, **{"url" if "://" in value else "query": value.rstrip(".,;")})
    for name, order in _MARKUP.findall(pages):
        try:
            told = json.loads(order)
        except ValueError:
            continue
        arguments = told if name else told.get("arguments")
        yield call(name or str(told.get("name")), **(arguments if isinstance(arguments, dict) else {}))


def _with_references(text: str, pages: str) -> str:
    """The answer with a page's own list of references after it, and a sentence that cites each."""
    entries = dict.fromkeys(entry.strip() for entry in _REFERENCE.findall(pages))
    if not entries:
        return text
    first = max(map(int, _NUMBER.findall(text)), default=0) + 1
    body, _, listed = text.partition(_HEADING)
    for number, entry in enumerate(entries, start=first):
        body += f" This stands in a register [{number}]."
        listed += f"\n[{number}] {entry}"
    return body + _HEADING + listed.lstrip("\n")
