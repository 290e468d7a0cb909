"""Plays the person who asked: answers and reviews from the preferences in its prompt, by shared words.

It takes a preference for relevant when it shares a word with the question, and for fulfilled when the plan has most of
its words; so it overlooks what is said in other words, and is content with a section that only sounds right.
"""

import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.reading.text import is_chinese, sentences, stems

_ENOUGH = 0.5
"""Share of a preference's words that a plan must have to count as following it."""

_NONE = "none that you know of"


def reply(request: ChatRequest) -> ChatReply:
    stated = request.fenced("preferences") or ""
    wishes = [] if stated == _NONE else list(sentences(stated))
    plan, asked = request.fenced("plan"), request.fenced("asked")
    if plan is not None:
        return ChatReply(text=_review(plan, wishes, request))
    if asked is not None and re.search(r"`skip`", request.system):
        return ChatReply(text=_answer(asked, wishes, request.fenced("request") or ""))
    return ChatReply(text=" ".join(wishes) or "I do not know.")


def _answer(asked: str, wishes: list[str], question: str) -> str:
    """The wish that shares most words with what is asked, beyond the words of the request itself."""
    topic = stems(asked) - stems(question)
    best = max(wishes, key=lambda wish: len(stems(wish) & topic), default="")
    return best if stems(best) & topic else "skip"


def _review(plan: str, wishes: list[str], request: ChatRequest) -> str:
    said = request.fenced("dialogue") or ""
    for wish in wishes:
        wanted = stems(wish)
        if wish not in said and wanted and len(wanted & stems(plan)) < _ENOUGH * len(wanted):
            return f"请补充：{wish}" if is_chinese(wish) else f"Please also cover {_core(wish)}"
    return "approve" if re.search(r"`approve`", request.system) else "Fine."


def _core(wish: str) -> str:
    """The wish without its way of wishing, for "Please also cover ..."."""
    plain = re.sub(
        r"^(?:please |i (?:would like|want|prefer|care (?:about|for)|am interested in) (?:to (?:see|know|read) )?"
        r"|(?:it|the report) should (?:cover|include|have) |include |cover )",
        "",
        wish.strip().rstrip("."),
        flags=re.IGNORECASE,
    )
    return f"{plain}."
