"""The program that answers the RACE judge.

Why it scores as it does: for every criterion it measures both articles by the same few counts, weighted by the
criterion's dimension (`_LOOKS_AT`): how much of what the criterion and the task name they mention, how many names and
numbers they give, how much they reason, how they are laid out, and (up to a saturation) how long they are. A little
seeded noise stands for a judge's mood. It can be fooled as such a judge can: by names without substance, by reasoning
words without reasoning, and it never notices that a stated figure is wrong.
"""

import json
import random
import re
from typing import Any

from aiq.core.seeds import derive
from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.measures import Article, named_things
from aiq.offline.judging.request import DECLINED, instructions, seed
from aiq.offline.reading.text import is_chinese, words

_LOOKS_AT = {
    "comprehensiveness": {"criterion": 0.40, "task": 0.15, "facts": 0.30, "length": 0.15},
    "insight": {"criterion": 0.20, "reasoning": 0.45, "facts": 0.20, "length": 0.15},
    "instruction_following": {"criterion": 0.25, "task": 0.45, "focus": 0.20, "length": 0.10},
    "readability": {"criterion": 0.05, "structure": 0.60, "sentences": 0.35},
}
_NOISE = 0.35
_GENERIC = frozenset(
    words("whether the report article assess evaluate evaluates clear clearly criterion task question")
)


def reply(request: ChatRequest) -> ChatReply:
    """One JSON object with two scores a criterion, if the prompt says that this is the form."""
    wanted = instructions(request)
    criteria = _criteria(request.fenced("criteria"))
    articles = [request.fenced("article_1"), request.fenced("article_2")]
    if criteria is None or None in articles or '"article_1_score"' not in wanted:
        return ChatReply(text=DECLINED)
    highest = 10.0 if re.search(r"0 (?:to|到) 10", wanted) else 5.0
    verbatim = "word for word" in wanted or "逐字" in wanted
    task = request.fenced("task") or ""
    pair = [Article(text or "") for text in articles]
    card = {
        dimension: [
            _entry(
                pair, criterion, dimension, task, highest, verbatim, derive(seed(request), "judge.race", dimension, n)
            )
            for n, criterion in enumerate(entries)
        ]
        for dimension, entries in criteria.items()
        if f'"{dimension}"' in wanted
    }
    return ChatReply(text=json.dumps(card, ensure_ascii=False))


def _criteria(text: str | None) -> dict[str, list[dict[str, str]]] | None:
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _entry(
    pair: list[Article], criterion: dict[str, str], dimension: str, task: str, highest: float, verbatim: bool, seed: int
) -> dict[str, Any]:
    noise = random.Random(seed)
    scores = []
    for article in pair:
        merit = _merit(article, f"{criterion['criterion']}. {criterion['explanation']}", dimension, task)
        score = highest * (0.1 + 0.9 * merit) + noise.uniform(-_NOISE, _NOISE) if merit else 0.0
        scores.append(round(min(highest, max(0.0, score)), 1))
    name = criterion["criterion"]
    return {
        "criterion": name if verbatim else name[: max(4, len(name) // 2)],
        "analysis": _analysis(scores, name),
        "article_1_score": scores[0],
        "article_2_score": scores[1],
    }


def _merit(article: Article, criterion: str, dimension: str, task: str) -> float:
    """0 to 1: the weighted counts that matter in this dimension; an empty article has none."""
    if not article.words:
        return 0.0
    named = named_things(criterion)
    terms = named or tuple(word for word in dict.fromkeys(words(criterion)) if word not in _GENERIC)
    about = (*named_things(task), *dict.fromkeys(words(task)))
    counts = {
        "criterion": article.covers(terms),
        "task": article.covers(about),
        "focus": article.stays_with(tuple(dict.fromkeys((*named_things(task), *words(task)[:6])))),
        "facts": article.facts,
        "reasoning": article.reasoning,
        "structure": article.structure,
        "sentences": article.sentence_size,
        "length": article.length,
    }
    return sum(share * counts[name] for name, share in _LOOKS_AT.get(dimension, {"criterion": 1.0}).items())


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
