"""What the answers of a collection contain: numbers by value, totals, documents with their fields.

JSON is recognised by its shape: a list of rows, each with a value and its count, is a table of the field named by the
list, its object or the rows. In a text, a table is a line of `value: number` pairs after what they count, and the
fields of a document are a line of pairs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiq.offline.engine.fields import phrase
from aiq.offline.engine.lexicon import stem

Rows = tuple[tuple[str, float], ...]
Facts = dict[str, str]
"""The fields of a document with their values."""


class Table(NamedTuple):
    """Numbers of things by the values of a field; without a field only the total. `of`: what was counted, as the call
    or the text says it."""

    field: str
    rows: Rows
    total: float | None
    of: str = ""


_COUNT = re.compile(r"(?i)(?:\w+_)?(?:count|number|total|docs|documents|frequency|hits|n)")
_TOTAL = re.compile(
    r"(?i)unique_\w+|(?:\w+_)?(?:matched|found)|num_?found|(?:grand_)?total(?:_?(?:hits|count|results|matches|documents"
    r"|rows))?|matches|hits|count|documents"
)
_GENERIC = re.compile(
    r"(?i)buckets|values|results|rows|data|items|groups?|terms|key|key_as_string|name|value|label|counts?"
)
"""Keys that do not tell which field their values belong to."""
_FILTERS = re.compile(r"(?i)(?:\w+_)?filters?|where|conditions?|ranges?|between")
_KEY = r"[^\s:：,;|](?:[^:：,;|\n]{0,58}[^\s:：,;|])?"
_FIGURE = r"-?\d{1,3}(?:,\d{3})+|-?\d+(?:\.\d+)?"
_LINE = re.compile(rf"(?P<head>.*?)(?P<pairs>{_KEY}: (?:{_FIGURE})(?:[,;] {_KEY}: (?:{_FIGURE}))*)\.?")
_PAIR = re.compile(rf"({_KEY}): ({_FIGURE})(?=[,;] |$)")
_IN_ALL = re.compile(r"\((\d[\d,]*)(?: \w+)?\)")
_FACT = re.compile(r"(?:^|; )([A-Za-z]\w*): ([^;\n]+)", re.MULTILINE)
_MOST_WORDS = 4
"""The most words in a category value."""


def head(field: str) -> str:
    """The stem of the last word of a field: an `event_theme` is a theme."""
    return stem((phrase(field).split() or [""])[-1])


# JSON


def tables(value: Any, of: str = "") -> Iterator[Table]:
    """The tables in an answer, then its total."""
    total = _total(value)
    for field, rows in _field_rows(value, ""):
        yield Table(field, rows, total, of)
    if total is not None:
        yield Table("", (), total, of)


def values(value: Any) -> Iterator[tuple[str, str]]:
    """Fields, each with a value that an answer lists for it: in tables, in lists beside a name, in filters; "" for a
    field that is only described."""
    yield from ((field, key) for field, rows in _field_rows(value, "") for key, _ in rows if is_category(key))
    for holder in objects(value):
        name = holder.get("name") or holder.get("field")
        if isinstance(name, str) and {"kind", "type"} & holder.keys():
            yield name, ""
        for key, inner in holder.items():
            if _FILTERS.fullmatch(key) and isinstance(inner, Mapping) and not {"type", "description"} & inner.keys():
                pairs = [(field, option) for field, options in inner.items() for option in _as_list(options)]
                yield from ((field, "" if isinstance(option, Mapping) else str(option)) for field, option in pairs)
            elif isinstance(name, str) and isinstance(inner, list):
                yield from ((name, item) for item in inner if isinstance(item, str))


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in a JSON value, outer ones first."""
    if isinstance(value, Mapping):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from objects(inner)


def is_count(row: Any) -> bool:
    """Whether a JSON row has a value and its count, and little else."""
    return isinstance(row, Mapping) and _row_parts(row) is not None


def categories(of: Sequence[Facts]) -> Iterator[tuple[str, str]]:
    """Fields with the values that several documents share: these categorise documents, unlike titles."""
    frequencies: dict[tuple[str, str], int] = {}
    for facts in of:
        for pair in facts.items():
            frequencies[pair] = frequencies.get(pair, 0) + 1
            if frequencies[pair] == 2 and is_category(pair[1]):
                yield pair


def is_category(text: str) -> bool:
    """Whether a value is a category: not a text, date, number or URL."""
    return len(text.split()) <= _MOST_WORDS and re.match(r"(?!.*(?:\d{3}|://)).*[^\W\d_]", text) is not None


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _field_rows(value: Any, name: str) -> Iterator[tuple[str, Rows]]:
    """(field, rows) of all tables; `name`: the name of the value where it occurs."""
    if isinstance(value, list):
        parts = [part for row in value if isinstance(row, Mapping) and (part := _row_parts(row))]
        if parts and len(parts) == len(value):
            label = parts[0][0]
            yield name if _GENERIC.fullmatch(label) else label, tuple((text, number) for _, text, number in parts)
            return
        for inner in value:
            yield from _field_rows(inner, name)
    if not isinstance(value, Mapping):
        return
    field = next((str(value[key]) for key in ("field", "name") if isinstance(value.get(key), str)), name)
    full_name = f"{field} {value['interval']}" if isinstance(value.get("interval"), str) else field
    for key, inner in value.items():
        yield from _field_rows(inner, full_name if _GENERIC.fullmatch(key) else key)


def _row_parts(row: Mapping[str, Any]) -> tuple[str, str, float] | None:
    """The key of a row's value, the value, and its count; None for any other row."""
    numbers = [key for key, value in row.items() if _is_number(value) and _COUNT.fullmatch(key)]
    texts = [key for key, value in row.items() if isinstance(value, str | int) and key not in numbers]
    label = next((key for key in texts if isinstance(row[key], str)), "".join(texts[:1]))
    return (label, str(row[label]), float(row[numbers[0]])) if numbers and 1 <= len(texts) <= 2 else None


def _total(value: Any) -> float | None:
    """How many there are according to an answer: at the top level, else in a small object inside."""
    for holder in (value, *value.values()) if isinstance(value, Mapping) else ():
        for key, number in holder.items() if isinstance(holder, Mapping) else ():
            number = number.get("value") if isinstance(number, Mapping) and key == "total" else number
            if _is_number(number) and _TOTAL.fullmatch(key):
                return float(number or 0)
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# texts


def facts(text: str) -> Facts:
    """The fields stated in the lines of pairs in a document's text."""
    return {name: value.strip() for line in text.splitlines() if "; " in line for name, value in _FACT.findall(line)}


def tables_in_text(text: str) -> Iterator[Table]:
    """The tables in a text, one per line."""
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip(" -*•"))
        if match and match["head"]:
            rows = tuple((key, float(number.replace(",", ""))) for key, number in _PAIR.findall(match["pairs"]))
            group, in_all = re.search(r"(?i)\bby (\w+)", match["head"]), _IN_ALL.search(match["head"])
            total = float(in_all[1].replace(",", "")) if in_all else None
            yield Table(group[1] if group else match["head"].strip(" :：#*"), rows, total, match["head"])
