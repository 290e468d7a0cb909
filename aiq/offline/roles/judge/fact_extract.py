"""The program that extracts citations for FACT.

Why it answers as it does: it splits the part into sentences, resolves each mark through the reference list, and gives
one entry per sentence and source. It takes only the marked sentence for the statement, so a mark at the end of a
paragraph leaves the sentences before it uncited, and a pronoun that points far back is replaced by the wrong name.
"""

import json

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.citing import cited, reference_urls
from aiq.offline.judging.request import DECLINED, instructions


def reply(request: ChatRequest) -> ChatReply:
    """`{"citations": [...]}`, if the prompt says that this is the form."""
    part = request.fenced("report_part")
    if part is None or '{"citations"' not in instructions(request):
        return ChatReply(text=DECLINED)
    listed = reference_urls(request.fenced("reference_list") or "")
    entries = [entry._asdict() for entry in cited(part, listed)]
    return ChatReply(text=json.dumps({"citations": entries}, ensure_ascii=False))
