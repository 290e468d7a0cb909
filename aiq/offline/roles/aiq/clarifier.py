"""Asks one question when a task names no facets and no place, period or thing; otherwise lets research begin."""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading import tasks
from aiq.offline.reading.text import names, words

_VAGUE = 6
"""Content words up to which a task without names and facets is too vague."""


def reply(request: ChatRequest) -> ChatReply:
    text = request.fenced("task") or request.last_user
    left = re.search(r"Questions left: (\d+)", request.last_user)
    asked = request.fenced("dialogue") is not None or (left is not None and int(left.group(1)) < 1)
    task = tasks.parse(text)
    vague = not task.facets and not names(text.partition(" ")[2]) and len(words(text)) <= _VAGUE
    return ChatReply(text=json.dumps(_question(task) if vague and not asked else _no_question(), ensure_ascii=False))


def _no_question() -> dict[str, object]:
    return {"needs_clarification": False, "clarification_question": None}


def _question(task: tasks.Task) -> dict[str, object]:
    if task.chinese:
        question = f"关于“{task.subject}”，研究应侧重哪个时期、地区或方面？"
    else:
        question = f"Which period, region or aspect of {task.subject} should the research concentrate on?"
    return {"needs_clarification": True, "clarification_question": question}
