"""Makes a plan from the task's facets: a title and section titles, as many as the prompt asks for."""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading import outline, tasks

_WANTED = re.compile(
    r"\b(?:add|include|also cover|about|section on)\s+(?:a |an |the )?(?:section (?:on|about) )?(?P<what>[^.,;]{3,60})",
    re.IGNORECASE,
)
_SHORTER = re.compile(r"\bshort(?:er)?\b|\bfewer\b|更短|精简", re.IGNORECASE)


def reply(request: ChatRequest) -> ChatReply:
    task = tasks.parse(request.fenced("task") or request.last_user)
    least, most = outline.number_range(request.system, "sections") or (4, 8)
    remarks = _remarks(request)
    if any(_SHORTER.search(remark) for remark in remarks):
        most = least
    titles = outline.sections(task, least, most)
    for remark in remarks:
        wanted = _WANTED.search(remark)
        if wanted:
            titles.insert(len(titles) - 1, tasks.heading(wanted.group("what")))
    titles = [*titles[:-1][: most - 1], titles[-1]]
    return ChatReply(text=json.dumps({"title": task.title, "sections": titles}, ensure_ascii=False))


def _remarks(request: ChatRequest) -> list[str]:
    """What the user said of earlier plans."""
    return re.findall(r"<feedback>\n(.*?)\n</feedback>", request.last_user, re.DOTALL)
