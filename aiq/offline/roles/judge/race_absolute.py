"""The program that answers the RACE judge that has no reference.

Why it scores as it does: by the same counts as the one that compares (`judging.merit`), with the same mood. Having
nothing to compare with it cannot tell a rich task from a poor one: short tasks get low marks for full answers, and
a wrong figure is as good as a right one.
"""

from functools import partial
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.measures import Article
from aiq.offline.judging.merit import merit, read_criteria, scale, score, score_card, spelt
from aiq.offline.judging.request import DECLINED, instructions, mood

_NOISE = 0.6  # more than of one that compares: there is nothing to hold on to


def reply(request: ChatRequest) -> ChatReply:
    """One JSON object with a score a criterion, if the prompt says that this is the form."""
    wanted = instructions(request)
    criteria, text = read_criteria(request.fenced("criteria")), request.fenced("article")
    if criteria is None or text is None or '"score"' not in wanted:
        return ChatReply(text=DECLINED)
    article, task = Article(text), request.fenced("task") or ""
    entry = partial(_entry, request, article, task, wanted)
    return ChatReply(text=score_card(criteria, wanted, entry))


def _entry(
    request: ChatRequest,
    article: Article,
    task: str,
    wanted: str,
    dimension: str,
    number: int,
    criterion: dict[str, str],
) -> dict[str, Any]:
    lean = mood(request, "judge.race_absolute", dimension, number).uniform(-_NOISE, _NOISE)
    found = merit(article, criterion, dimension, task)
    judged = "meets most of it" if found > 0.6 else "meets some of it" if found > 0.3 else "meets little of it"
    return {
        "criterion": spelt(criterion, wanted),
        "analysis": f"On '{criterion['criterion']}' the report {judged}.",
        "score": score(found, scale(wanted), lean),
    }
