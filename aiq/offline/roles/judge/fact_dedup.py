"""The program that puts a source's statements together for FACT.

Why it answers as it does: two statements are one to it when their figures are the same and nearly all of their words
are. It goes by words alone, so it takes a statement and its denial for the same, and leaves two apart that say one
thing in different words.
"""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.numbers import numbers
from aiq.offline.judging.request import DECLINED, instructions
from aiq.offline.reading.text import words

NEARLY_ALL = 0.8
"""Share of the words of both from which two statements are one."""

_STATEMENT = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def reply(request: ChatRequest) -> ChatReply:
    """`{"groups": [...]}`, if the prompt says that this is the form."""
    statements = request.fenced("statements")
    if statements is None or '{"groups"' not in instructions(request):
        return ChatReply(text=DECLINED)
    groups: list[tuple[str, list[int]]] = []
    for number, statement in _STATEMENT.findall(statements):
        group = next((members for first, members in groups if _same(first, statement)), None)
        if group is None:
            groups.append((statement, [int(number)]))
        else:
            group.append(int(number))
    return ChatReply(text=json.dumps({"groups": [members for _, members in groups]}))


def _same(one: str, other: str) -> bool:
    first, second = set(words(one)), set(words(other))
    if {n.value for n in numbers(one)} != {n.value for n in numbers(other)} or not first | second:
        return False
    return len(first & second) >= NEARLY_ALL * len(first | second)
