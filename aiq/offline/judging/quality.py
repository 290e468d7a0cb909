"""How good an article is by what can be checked: its facts and sentences, the task, and what another article says."""

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple

from aiq.offline.engine.text import sentences
from aiq.offline.judging.facts import DATA, named_in, pattern, read, roots, stripped

DIMENSIONS: Final = DATA["dimensions"]
_GAP, _REASONING, _TORN = pattern("no_answer"), pattern("reasoning"), pattern("torn")
_HEADING = re.compile(r"#{1,6}\s+\S|\*\*[^*]{2,80}\*\*$")


class Article(NamedTuple):
    """What a judge finds in an article. `statements`: the values and names that each sentence states.

    `facts`: its pairs of a word and a value or name stated with it; `coherence`: how well ordered its words are, less
    for repetition and for mere numbers, 0 to 1; `structure`: 0 to 1.
    """

    statements: Mapping[str, Set[str]]
    facts: Set[tuple[str, str]]
    coherence: float
    structure: float


def saturating(amount: float, half: float) -> float:
    """0 at nothing, 0.5 at `half`, approaching 1 beyond: more is better, with diminishing returns."""
    return amount / (amount + half)


def order(text: str) -> float:
    """How well ordered the words of a text are, 0 to 1: whether function words and punctuation are in place."""
    stops = len(re.findall(r"[,;:，。；：、]|[.!?](?=\s|$)", text)) or 1
    return max(0.0, 1 - len(_TORN.findall(text)) / stops)


@lru_cache(maxsize=256)
def article(text: str) -> Article:
    """Analyse an article; cached for the next criterion."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    headings = [line for line in lines if _HEADING.match(line)]
    prose = [stripped(line).replace("|", ", ") for line in lines if line not in headings]
    texts = [sentence for line in prose for sentence in sentences(line)]
    facts, values = list[tuple[str, str]](), dict[str, set[str]]()
    for sentence in texts:
        for part in () if _GAP.search(sentence) else [part for parts in read(sentence) for part in parts]:
            items = {f"{value[:2]}" for value in part.values}.union(name.casefold() for name in part.names)
            values.setdefault(sentence, set()).update(items)
            facts += [(root, value) for value in items for root in part.relation | roots(part.subject)]
    tokens = re.findall(r"\d[\d.,]*|[A-Za-z]+|[\u3400-\u9fff]{2}", text) or [""]
    numbers = sum(token[:1].isdigit() for token in tokens) / (len(tokens) + 10)
    new = len({*facts, *texts}) / max(1, len(facts) + len(texts))
    sense = order("\n".join(prose)) * min(1.0, max(0.0, 3.5 - 12.5 * numbers)) * min(1.0, len(texts) / 4) * new**0.15
    concludes = any(_REASONING.search(line) for line in lines[-1:])
    return Article(values, frozenset(facts), sense, 0.3 + 0.4 * saturating(len(headings), 2) + 0.3 * concludes)


def dimension_of(text: str) -> str:
    """The dimension of quality that a text names most often; the first if it names none."""
    return str(max(DIMENSIONS, key=lambda name: len(re.findall(DIMENSIONS[name]["names"], text, re.IGNORECASE))))


def quality(text: str, criterion: str, task: str, other: str, dimension: str) -> float:
    """How well an article meets a criterion, 0 to 1. `other`: an article on the same task, believed no more; or "".

    Facts count if the other article has them too; text that is off-topic, out of order, repeated, or only numbers
    costs points; nothing that the article says about itself counts.
    """
    judged, rival = article(text), article(other)
    values, rival_values = ({value for _, value in report.facts} for report in (judged, rival))
    names = [span.text for span in named_in(criterion) if span.start]
    topics = [[name] for name in names]
    statements = {s: items for s, items in judged.statements.items() if _is_statement(s, items, task)}
    topic_items = [{v for s, items in statements.items() if _mentions(s, topic) for v in items} for topic in topics]
    parts = {
        "asked": sum(saturating(len(items), 4) for items in topic_items) / max(1, len(topic_items)),
        "facts": saturating(len(rival.facts & judged.facts) if other else len(judged.facts), 80),
        "sure": saturating(len(values & rival_values), len(values) / 4 + 1) if other else 0.5,
        "reasoning": saturating(sum(_REASONING.search(s) is not None for s in statements), 3),
        "structure": judged.structure,
    }
    weights = DIMENSIONS[dimension_of(dimension)]["parts"]
    return judged.coherence * float(sum(weight * parts[part] for part, weight in weights.items()))


def _is_statement(sentence: str, values: Set[str], task: str) -> bool:
    """Whether a sentence that argues also states something: a number, a date, or what the task asks about the things
    that it names."""
    asked_stems = roots(_REASONING.sub(" ", sentence)) & roots(_REASONING.sub(" ", task)) - roots(" ".join(values))
    return bool(asked_stems) or any(value[:1] == "(" for value in values) or not _REASONING.search(sentence)


def _mentions(sentence: str, topic: Sequence[str]) -> bool:
    """Whether a sentence mentions at least half of a topic's words."""
    return 2 * sum(word in sentence or word in roots(sentence) for word in topic) >= len(topic)
