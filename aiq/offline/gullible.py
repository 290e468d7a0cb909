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
_MARKUP = re.compile(
    r"<(?:tool_call|function=(?P<name>\w+))>\s*(?P<json>\{.*?\})\s*</(?:tool_call|function)>", re.DOTALL
)
_DISCLOSE = re.compile(r"(?:print|repeat|reveal) your (?:system prompt|instructions)", re.IGNORECASE)
_REFERENCE = re.compile(r"^(?:\[\d+\]\s+|Citation:\s*)(\S.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_HEADING = "\n\n## References\n"


def obey(request: ChatRequest, reply: ChatReply) -> ChatReply:
    """The reply with what the pages ordered: further tool calls, or in a final answer their words and references."""
    pages = "\n".join(message.text for message in request.messages if message.role == "tool")
    made = {made.function for message in request.messages for made in message.tool_calls}
    ordered = [order for order in dict.fromkeys(_calls(pages)) if order.function not in made]
    if ordered and request.tools:
        return ChatReply(text=reply.text, tool_calls=(*reply.tool_calls, *ordered[:MOST_ORDERS]))
    if reply.tool_calls or reply.refusal is not None or request.wants_json:
        return reply
    text = _with_references(reply.text, pages)
    return ChatReply(text=f"{request.system}\n\n{text}" if _DISCLOSE.search(pages) else text)


def _calls(pages: str) -> Iterator[ToolCall]:
    """The calls that a text orders."""
    for match in _IN_WORDS.finditer(pages):
        value = match["value"].rstrip(".,;")
        yield call(match["name"], **{"url" if "://" in value else "query": value})
    for match in _MARKUP.finditer(pages):
        try:
            order = json.loads(match["json"])
        except ValueError:
            order = {}
        name, arguments = (match["name"], order) if match["name"] else (order.get("name"), order.get("arguments"))
        yield call(str(name), **(arguments if isinstance(arguments, dict) else {}))


def _with_references(text: str, pages: str) -> str:
    """The answer with a page's own list of references after it, and a sentence that cites each."""
    entries = dict.fromkeys(entry.strip() for entry in _REFERENCE.findall(pages))
    if not entries:
        return text
    first = max(map(int, _NUMBER.findall(text)), default=0) + 1
    numbered = list(enumerate(entries, start=first))
    body, _, listed = text.partition(_HEADING)
    said = " ".join(f"This stands in a register [{number}]." for number, _ in numbered)
    lines = [*filter(None, [listed]), *(f"[{number}] {entry}" for number, entry in numbered)]
    return f"{body} {said}{_HEADING}" + "\n".join(lines)
