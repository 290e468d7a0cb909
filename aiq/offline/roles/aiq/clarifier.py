"""Asks one question when a task names no facets and no place, period or thing; otherwise lets research begin.

It asks at once. Told to search first, it searches once for the task's subject, and then asks which of the things that
it read about is meant; it takes the titles of whatever came for choices, on the subject or not.
"""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.offline.reading import documents, tasks
from aiq.offline.reading.text import names, words

_VAGUE = 6
"""Content words up to which a task without names and facets is too vague."""

_MOST_CHOICES = 3


def reply(request: ChatRequest) -> ChatReply:
    said = "\n".join(message.text for message in request.messages if message.role == "user")
    text = request.fenced("task") or request.last_user
    left = re.search(r"Questions left: (\d+)", said)
    asked = request.fenced("dialogue") is not None or (left is not None and int(left.group(1)) < 1)
    task = tasks.parse(text)
    vague = not task.facets and not names(text.partition(" ")[2]) and len(words(text)) <= _VAGUE
    if not vague or asked:
        return _json(None)
    if _told_to_search(request) and "web_search_tool" in request.tool_names:
        return ChatReply(tool_calls=(call("web_search_tool", query=task.subject[:397]),))
    return _json(_question(task, documents.read(request)))


def _told_to_search(request: ChatRequest) -> bool:
    """Whether the last word is to search first, and nothing was searched yet."""
    searched = any(message.role == "tool" for message in request.messages)
    return not searched and re.search(r"\bsearch before\b", request.last_user, re.IGNORECASE) is not None


def _json(question: str | None) -> ChatReply:
    fields = {"needs_clarification": question is not None, "clarification_question": question}
    return ChatReply(text=json.dumps(fields, ensure_ascii=False))


def _question(task: tasks.Task, found: list[documents.Document]) -> str:
    titles = list(dict.fromkeys(document.title for document in found if document.title))[:_MOST_CHOICES]
    if task.chinese:
        choices = f"（例如：{'、'.join(titles)}）" if titles else ""
        return f"关于“{task.subject}”，研究应侧重哪个时期、地区或方面{choices}？"
    choices = f" (for example: {'; '.join(titles)})" if titles else ""
    return f"Which period, region or aspect of {task.subject} should the research concentrate on{choices}?"
