"""The program that answers the FreshEval judge.

Why it answers as it does: it takes the response's opening as the primary answer and looks for an accepted answer in it,
as a number, a date, a name or by shared words; where the accepted answers deny the question's premise it looks for a
denial about the same things instead. It errs as such a reader does: names spelt nearly alike are one to it, a number
within one percent counts as rounded, and a denial of something else may pass for the right one.
"""

import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.answers import Finding, compare
from aiq.offline.judging.request import DECLINED, instructions

_FORM = re.compile(r"^evaluation: <", re.MULTILINE)


def reply(request: ChatRequest) -> ChatReply:
    """A comment and a verdict, each only if the prompt asks for it."""
    question, response = request.fenced("question"), request.fenced("response")
    accepted = request.fenced("accepted_answers")
    wanted = instructions(request)
    if question is None or response is None or accepted is None or not _FORM.search(wanted):
        return ChatReply(text=DECLINED)
    forms = [form.strip() for form in accepted.split(" | ") if form.strip()]
    found = compare(question, response, forms, strict="as well" in wanted)
    verdict = f"evaluation: {'correct' if found.agrees else 'incorrect'}"
    return ChatReply(text=f"comment: {_reason(found)}\n{verdict}" if "comment: <" in wanted else verdict)


def _reason(found: Finding) -> str:
    return " ".join(found.reason.split())
