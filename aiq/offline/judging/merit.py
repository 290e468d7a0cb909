"""How well an article meets a criterion, as the offline judges of research reports see it: by counts alone."""

import json
import re
from collections.abc import Callable
from typing import Any

from aiq.offline.judging.measures import Article, named_things
from aiq.offline.reading.text import words

_LOOKS_AT = {
    "comprehensiveness": {"criterion": 0.40, "task": 0.15, "facts": 0.30, "length": 0.15},
    "insight": {"criterion": 0.20, "reasoning": 0.45, "facts": 0.20, "length": 0.15},
    "instruction_following": {"criterion": 0.25, "task": 0.45, "focus": 0.20, "length": 0.10},
    "readability": {"criterion": 0.05, "structure": 0.60, "sentences": 0.35},
}
_GENERIC = frozenset(
    words("whether the report article assess evaluate evaluates clear clearly criterion task question")
)

Criteria = dict[str, list[dict[str, str]]]


def read_criteria(text: str | None) -> Criteria | None:
    """The criteria by dimension that a prompt shows; None where it shows none."""
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def score_card(criteria: Criteria, wanted: str, entry: Callable[[str, int, dict[str, str]], dict[str, Any]]) -> str:
    """JSON with an entry for every criterion of the dimensions that the instructions name.

    `entry` makes one from the dimension, the criterion's place in it from 0, and the criterion.
    """
    card = {
        dimension: [entry(dimension, number, criterion) for number, criterion in enumerate(criteria_of)]
        for dimension, criteria_of in criteria.items()
        if f'"{dimension}"' in wanted
    }
    return json.dumps(card, ensure_ascii=False)


def scale(wanted: str) -> float:
    """The highest score that the instructions allow; without a scale a judge takes five."""
    return 10.0 if re.search(r"0 (?:to|到) 10", wanted) else 5.0


def spelt(criterion: dict[str, str], wanted: str) -> str:
    """The criterion's name as the judge repeats it: whole only where it is told to."""
    name = criterion["criterion"]
    return name if "word for word" in wanted or "逐字" in wanted else name[: max(4, len(name) // 2)]


def merit(article: Article, criterion: dict[str, str], dimension: str, task: str) -> float:
    """0 to 1: the weighted counts that matter in this dimension; an empty article has none."""
    if not article.words:
        return 0.0
    text = f"{criterion['criterion']}. {criterion['explanation']}"
    named = named_things(text)
    terms = named or tuple(word for word in dict.fromkeys(words(text)) if word not in _GENERIC)
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


def score(merit: float, highest: float, lean: float) -> float:
    """A merit on the scale, moved by `lean` points (mood, place) unless there is none; one decimal."""
    moved = highest * (0.1 + 0.9 * merit) + lean if merit else 0.0
    return round(min(highest, max(0.0, moved)), 1)
