"""The program that answers the RACE judge.

Why it scores as it does: for every criterion it measures both articles by the same few counts, weighted by the
criterion's dimension (`judging.merit`): how much of what the criterion and the task name they mention, how many names
and numbers they give, how much they reason, how they are laid out, and (up to a saturation) how long they are. A little
seeded noise stands for a judge's mood, and the article that comes first gets a little more. It can be fooled as such
a judge can: by names without substance, by reasoning words without reasoning, and it never notices that a stated
figure is wrong.
"""

from functools import partial
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.measures import Article
from aiq.offline.judging.merit import merit, read_criteria, scale, score, score_card, spelt
from aiq.offline.judging.request import DECLINED, instructions, mood
from aiq.offline.reading.text import is_chinese

_NOISE = 0.35
_IN_FRONT = 0.1  # points out of ten for the place in front


def reply(request: ChatRequest) -> ChatReply:
    """One JSON object with two scores a criterion, if the prompt says that this is the form."""
    wanted = instructions(request)
    criteria = read_criteria(request.fenced("criteria"))
    articles = [request.fenced("article_1"), request.fenced("article_2")]
    if criteria is None or None in articles or '"article_1_score"' not in wanted:
        return ChatReply(text=DECLINED)
    task = request.fenced("task") or ""
    pair = [Article(text or "") for text in articles]
    entry = partial(_entry, request, pair, task, wanted)
    return ChatReply(text=score_card(criteria, wanted, entry))


def _entry(
    request: ChatRequest,
    pair: list[Article],
    task: str,
    wanted: str,
    dimension: str,
    number: int,
    criterion: dict[str, str],
) -> dict[str, Any]:
    noise = mood(request, "judge.race", dimension, number)
    leans = [noise.uniform(-_NOISE, _NOISE) + place for place in (_IN_FRONT, 0.0)]
    scores = [
        score(merit(article, criterion, dimension, task), scale(wanted), lean)
        for article, lean in zip(pair, leans, strict=True)
    ]
    return {
        "criterion": spelt(criterion, wanted),
        "analysis": _analysis(scores, criterion["criterion"]),
        "article_1_score": scores[0],
        "article_2_score": scores[1],
    }


def _analysis(scores: list[float], name: str) -> str:
    first, second = scores
    if is_chinese(name):
        better = "两篇水平相近" if abs(first - second) < 0.5 else f"文章{'一' if first > second else '二'}更好"
        return f"就“{name}”而言，{better}。"
    better = (
        "both do about equally well"
        if abs(first - second) < 0.5
        else f"article {1 if first > second else 2} does better"
    )
    return f"On '{name}', {better}."
