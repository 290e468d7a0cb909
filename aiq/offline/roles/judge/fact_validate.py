"""The program that checks a page's statements for FACT.

Why it answers as it does: it looks for the passage of the page that shares most words with the statement, and believes
the statement if the passage has its numbers and the page its names. It is lenient with paraphrase it cannot follow
(words decide), blind to who did what to whom, and strict with figures, which it compares by value. Where the
prompt is content with a part of the statement, half of its words in one passage will do, or one figure among them.
"""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.request import DECLINED, instructions
from aiq.offline.judging.support import Page

_IN_PART = "some or all of the facts"
_STATEMENT = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def reply(request: ChatRequest) -> ChatReply:
    """`{"verdicts": [...]}`, if the prompt says that this is the form; only the verdicts that it names."""
    wanted = instructions(request)
    text, statements = request.fenced("page"), request.fenced("statements")
    if text is None or statements is None or '{"verdicts"' not in wanted:
        return ChatReply(text=DECLINED)
    page = Page(text)
    entries = []
    for number, statement in _STATEMENT.findall(statements):
        verdict = page.says(statement, in_part=_IN_PART in wanted)
        if f'"{verdict}"' not in wanted:
            verdict = "unsupported"
        entries.append({"statement": int(number), "verdict": verdict})
    return ChatReply(text=json.dumps({"verdicts": entries}, ensure_ascii=False))
