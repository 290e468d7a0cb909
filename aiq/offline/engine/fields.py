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

_FIRST = ("clarify", "restated", "gap", "conflict", "dependency")
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
    known = _vocabulary(part)
    found = [known[root] for root in map(stem, tokens(text)) if root in known]
    return found or [known[word] for word in known if not word.isascii() and word in text]


def kind_of(name: str, description: str = "") -> str:
    """What a field with this name holds, or ""; the description is used if the name says nothing."""
    told = meanings(phrase(name), "kinds")
    more = meanings(description[:200], "kinds")
    if "clarify" in more and "question" in told:
        return "clarify"
    return next((kind for kind in _FIRST if kind in told), (told or more[:1] or [""])[-1])


def asks(name: str, subject: str, *, counted: bool, chinese: bool) -> list[str]:
    """The questions that a field asks about a subject: `collapse_date` asks "When was the collapse of ...?"."""
    said = re.sub(r"\b(?:num|number|count|total)(?: of)?\b", "", phrase(name)).strip() or phrase(name)
    *rest, last = said.split() or [""]
    of = f" of {subject}" if subject else ""
    kind = lexicon.kind_of(last)
    if chinese:
        way = "多少" if counted else "谁" if kind == "person" else "什么"
        return [f"{subject}{'的' * bool(subject)}{said}是{way}？"]
    if kind == "time" and rest:
        return [f"{'In what year' if last == 'year' else 'When'} was the {' '.join(rest)}{of}?"]
    if counted and kind not in ("time", "number") and last.endswith("s"):
        return [f"How many {said}{of}?"]
    return [f"{'Who' if kind == 'person' else 'What'} is the {said}{of}?"]


def measure_of(text: str) -> str:
    """The first measure of the table that a text mentions, or ""; "-complex" is the opposite of "complex"."""
    order = list(_vocabulary("measures").values())
    found = min(meanings(phrase(text), "measures"), key=order.index, default="")
    negated = found and _NEGATION & set(phrase(text).split())
    return f"-{found}".removeprefix("--") if negated else found
