"""What a field of a reply means, by the words of its name and description: what it holds, or what it measures.

The vocabulary is `fields.toml`.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from aiq.offline.engine import lexicon
from aiq.offline.engine.lexicon import stem
from aiq.tools.ranking import tokens

_DECISIVE = ("clarify", "restated", "gap", "conflict", "dependency")
"""Kinds that any single word of a name decides; otherwise the last word with a kind does."""

_NEGATION = frozenset(("not", "no", "non", "without", "lacks"))


@cache
def _vocabulary(part: str) -> dict[str, str]:
    """The meaning of each word in a table, by the word's stem, in the table's order."""
    table = tomllib.loads((files("aiq.offline.engine") / "fields.toml").read_text("utf-8"))[part]
    return {stem(word): name for name, words in table.items() for word in words.split()}


def phrase(name: str) -> str:
    """A key as words: `subQuestions` and `sub_questions` become "sub questions"."""
    return re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


@lru_cache(maxsize=4096)
def meanings(text: str, part: str) -> list[str]:
    """The meanings that a table gives to the words of a text, in order; Chinese words are found inside the text."""
    vocabulary = _vocabulary(part)
    hits = [vocabulary[root] for root in map(stem, tokens(text)) if root in vocabulary]
    return hits or [vocabulary[word] for word in vocabulary if not word.isascii() and word in text]


def kind_of(name: str, description: str = "") -> str:
    """What a field with this name holds, or ""; the description is used if the name says nothing."""
    kinds = meanings(phrase(name), "kinds")
    hints = meanings(description[:200], "kinds")
    if "clarify" in hints and "question" in kinds:
        return "clarify"
    return next((kind for kind in _DECISIVE if kind in kinds), (kinds or hints[:1] or [""])[-1])


def asks(name: str, subject: str, *, counted: bool, chinese: bool) -> list[str]:
    """The questions that a field asks about a subject: `collapse_date` asks "When was the collapse of ...?"."""
    label = re.sub(r"\b(?:num|number|count|total)(?: of)?\b", "", phrase(name)).strip() or phrase(name)
    *rest, last = label.split() or [""]
    suffix = f" of {subject}" if subject else ""
    kind = lexicon.kind_of(last)
    if chinese:
        pronoun = "多少" if counted else "谁" if kind == "person" else "什么"
        return [f"{subject}{'的' * bool(subject)}{label}是{pronoun}？"]
    if kind == "time" and rest:
        return [f"{'In what year' if last == 'year' else 'When'} was the {' '.join(rest)}{suffix}?"]
    if counted and kind not in ("time", "number") and last.endswith("s"):
        return [f"How many {label}{suffix}?"]
    return [f"{'Who' if kind == 'person' else 'What'} is the {label}{suffix}?"]


def measure_of(text: str) -> str:
    """The first measure of the table that a text mentions, or ""; "-complex" is the opposite of "complex"."""
    order = list(_vocabulary("measures").values())
    measure = min(meanings(phrase(text), "measures"), key=order.index, default="")
    negated = measure and _NEGATION & set(phrase(text).split())
    return f"-{measure}".removeprefix("--") if negated else measure
