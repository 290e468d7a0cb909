"""The user's documents as a prompt lists them: `<document>` tags with file name and summary, and the tool for them."""

import re

from aiq.offline.chat import ChatRequest
from aiq.offline.reading.text import contains_name

_LISTED = re.compile(r"<document>\n(.*?)\n</document>", re.DOTALL)


def listed(request: ChatRequest) -> tuple[str, ...]:
    """What the prompt says of each document."""
    return tuple(match.group(1) for match in _LISTED.finditer(request.system))


def names(request: ChatRequest, thing: str) -> bool:
    """Whether a listed document names the thing."""
    return any(contains_name(text, thing) for text in listed(request))


def tool(request: ChatRequest) -> str | None:
    """The tool that searches documents, where one is offered."""
    return next((name for name in request.tool_names if "knowledge" in name), None)
