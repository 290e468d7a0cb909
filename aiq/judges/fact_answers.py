"""Reading the answers of FACT's models strictly: extracted citations, groups of statements alike, verdicts."""

from collections.abc import Mapping
from typing import Final, get_args

from pydantic import JsonValue

from aiq.judges.fact_scores import Verdict
from aiq.judges.statements import Citation, canonical
from aiq.judges.structured import Unusable, read_object

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


def read_citations(answer: str) -> list[Citation]:
    """`{"citations": [{"statement", "reference", "url"}, ...]}`; the list may be empty. Raises Unusable."""
    entries = _list(read_object(answer), "citations")
    return [_citation(entry) for entry in entries]


def _list(value: Mapping[str, JsonValue], key: str) -> list[JsonValue]:
    entries = value.get(key)
    if not isinstance(entries, list):
        raise Unusable(f"the key {key!r} is missing or no list")
    return entries


def _citation(entry: JsonValue) -> Citation:
    if not isinstance(entry, dict):
        raise Unusable("a citation is no object")
    statement, url, reference = entry.get("statement"), entry.get("url"), entry.get("reference")
    if not isinstance(statement, str) or not statement.strip():
        raise Unusable("a citation has no statement")
    if not isinstance(url, str) or not url.strip():
        raise Unusable("a citation has no url")
    if reference is not None and (isinstance(reference, bool) or not isinstance(reference, int)):
        raise Unusable("a citation's reference is neither a whole number nor null")
    return Citation(statement=" ".join(statement.split()), reference=reference, url=canonical(url))


def read_kept(answer: str, statements: int) -> list[int]:
    """`{"groups": [[1, 3], [2]]}`, each number from 1 in one group: the first of each, in order. Raises Unusable."""
    groups = [_group(entry) for entry in _list(read_object(answer), "groups")]
    if sorted(number for group in groups for number in group) != list(range(1, statements + 1)):
        raise Unusable(f"the groups do not hold each of the {statements} statements once")
    return sorted(group[0] for group in groups)


def _group(entry: JsonValue) -> list[int]:
    if not isinstance(entry, list) or not entry:
        raise Unusable("a group is no list of numbers")
    numbers = [number for number in entry if isinstance(number, int) and not isinstance(number, bool)]
    if len(numbers) < len(entry):
        raise Unusable("a group holds something that is no whole number")
    return sorted(numbers)


def read_verdicts(answer: str, statements: int) -> list[Verdict]:
    """`{"verdicts": [{"statement": 1, "verdict": "supported"}, ...]}`: one for each number from 1. Raises Unusable."""
    found: dict[int, Verdict] = {}
    for entry in _list(read_object(answer), "verdicts"):
        number, verdict = _verdict(entry)
        if number in found:
            raise Unusable(f"statement {number} has two verdicts")
        found[number] = verdict
    if sorted(found) != list(range(1, statements + 1)):
        raise Unusable(f"there are verdicts on {sorted(found)[:10]}, not on each of the {statements} statements")
    return [found[number] for number in range(1, statements + 1)]


def _verdict(entry: JsonValue) -> tuple[int, Verdict]:
    if not isinstance(entry, dict):
        raise Unusable("a verdict is no object")
    number = entry.get("statement")
    if isinstance(number, bool) or not isinstance(number, int):
        raise Unusable("a verdict names no statement by its number")
    for verdict in _VERDICTS:
        if entry.get("verdict") == verdict:
            return number, verdict
    raise Unusable(f"the verdict on statement {number} is none of {', '.join(_VERDICTS)}")
