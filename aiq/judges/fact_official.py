"""Reading what FACT's official prompts ask for: JSON lists where ours ask for objects, under the official names."""

import re
from typing import Final, get_args

from pydantic import JsonValue

from aiq.judges.fact_scores import Verdict
from aiq.judges.statements import Citation, canonical
from aiq.judges.structured import Unusable, read_list, without_thoughts

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_ALONE: Final = re.compile(r"(?:^|[:：])[ \t*`]*\[[\s\d,]*\][ \t*`.。]*$", re.MULTILINE)
"""A list of numbers on lines of its own, or behind a colon; elsewhere it may be words ("[1, 2] are alike")."""


def read_citations(answer: str) -> list[Citation]:
    """`[{"fact", "ref_idx", "url"}, ...]`; links in a fact become their words, as officially. Raises Unusable."""
    return [_citation(entry) for entry in read_list(answer, dict)]


def _citation(entry: dict[str, JsonValue]) -> Citation:
    fact, url = entry.get("fact"), entry.get("url")
    if not isinstance(fact, str) or not fact.strip():
        raise Unusable("a citation has no fact")
    if not isinstance(url, str) or not url.strip():
        raise Unusable("a citation has no url")
    statement = " ".join(_LINK.sub(r"[\1]", fact).split())
    return Citation(statement=statement, reference=_reference(entry.get("ref_idx")), url=canonical(url))


def _reference(value: JsonValue) -> int | None:
    """`0` stands for a citation without a number."""
    text = str(value).strip()
    return int(text) or None if text.isdecimal() and len(text) < 10 else None


def read_kept(answer: str, statements: int) -> list[int]:
    """`[1, 3]`: the numbers of the statements that stay, each once, in order. Raises Unusable.

    The official code keeps every statement where the list is of no use; here the question is asked again.
    """
    kept = read_list(answer, int)
    if not _ALONE.search(without_thoughts(answer)):
        raise Unusable("its only list of numbers stands among words")
    if not kept or len(set(kept)) < len(kept) or any(isinstance(n, bool) or not 1 <= n <= statements for n in kept):
        raise Unusable(f"the list does not name some of the {statements} statements, each once")
    return sorted(kept)


def read_verdicts(answer: str, statements: int) -> list[Verdict]:
    """`[{"idx": 1, "result": "supported"}, ...]`: one for each number from 1. Raises Unusable."""
    found: dict[int, Verdict] = {}
    entries = read_list(answer, dict)
    for entry in entries:
        number, result = entry.get("idx"), entry.get("result")
        if isinstance(number, bool) or not isinstance(number, int):
            raise Unusable("a verdict names no statement by its idx")
        verdict = next((known for known in _VERDICTS if result == known), None)
        if verdict is None:
            raise Unusable(f"the result of idx {number} is none of {', '.join(_VERDICTS)}")
        found[number] = verdict
    if len(entries) != statements or sorted(found) != list(range(1, statements + 1)):
        raise Unusable(f"there are results on {sorted(found)[:10]}, not one on each of the {statements} statements")
    return [found[number] for number in range(1, statements + 1)]
