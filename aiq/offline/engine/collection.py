"""Questions about a collection that can be filtered, counted and paged: what they want, and the calls to its tools.

A question is read by the known field values in it, and by the names of fields that it counts by.
"""

import json
import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiq.offline.engine import dates
from aiq.offline.engine.counts import head
from aiq.offline.engine.fields import phrase
from aiq.offline.engine.lexicon import is_common, listed, parts_of_speech, stem
from aiq.offline.engine.question import parse
from aiq.offline.engine.text import name_spans, sentences
from aiq.offline.engine.tools import TABLES, Tool, about, types

Fields = Mapping[str, Sequence[str]]
"""Names of fields, with their known values."""
Place = tuple[int, int, str, str]
"""Where a question mentions a value: start, end, field, value."""

UNITS = {
    "year": r"\d{4}",
    "quarter": r"\d{4}-?Q\d",
    "month": r"\d{4}-\d\d",
    "week": r"\d{4}-?W\d\d",
    "day": r"\d{4}-\d\d-\d\d",
}
"""Units of time, and how their values are written."""
_COUNTS = re.compile(
    r"\bhow (?:many|often)\b|\b(?:numbers?|counts?|totals?|shares?|percent\w*|proportions?|distribut\w+|breakdown"
    r"|frequen\w+|sums?|trends?|br(?:eak|oken)\b[^.?!]* down)\b|\bfrom (\w+) to \1\b|多少|几[个家次]|数量|比例|分布",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\b(?:shares?|percent\w*|proportions?)\b|%|比例|百分", re.IGNORECASE)
_SUM = re.compile(r"\b(?:sum|total)s? of (?:the|its|their|all)\b", re.IGNORECASE)
_THINGS = r"(?:(?: of)?(?: the| their| its)?(?: [a-z-]+)?)"
_MEMBERS = re.compile(
    rf"\b(?:list|name|enumerate|give|show|find)\b[^.?!]{{0,40}}?\b(?:all|every|each|any|titles?|names?)\b{_THINGS}"
    r"|\b(?:which|what)(?: of the| are the)?(?: [\w-]+){0,2}? (?!(?:is|was|has|does)\b)[a-z-]+s\b|哪些|列出|所有",
    re.IGNORECASE,
)
"""Asks for the things themselves, all of them."""
_GROUPING = re.compile(
    r"\b(?:each|every|per|by|which|what|different|various|over|across|among|between)(?: of)?"
    r"(?: (?:is|are|was|were))?(?: the| its| their)?(?: [\w-]+)?\s$",
    re.IGNORECASE,
)
"""What precedes the name of a field that things are counted by."""
_EXCLUSION = re.compile(r"\b(?:not|outside|except|excluding|without|other than|besides)(?: \w+){0,2}\s$", re.IGNORECASE)
_TIME_FIELD = re.compile(
    r"(?i)(?:^|_)(?:\w*dates?|time\w*|when|day|created|updated|published|posted|opened|closed|\w+_(?:on|at))(?:_\w+)?$"
)
_NAMES = re.compile(
    r"(?i)\b(?:fields?|columns?|attributes?|propert(?:y|ies)|ranges?)\b[^:.;\n]{0,40}:\s*(?P<listed>[^.;:\n]+)"
    r"|[{,]\s*[\"'](?P<shown>\w+)[\"']\s*:"
)
"""Where a definition lists the names of fields, or shows one in an example."""
_NO_NAMES = frozenset(("and", "or", "of", "the", "field", "interval", "gte", "lte", "gt", "lt", *UNITS))
_ASIDE = re.compile(
    r",?\s*\b(?:(?:according to|as stated|based on|with (?:their|its|all))\b[^,.?!]*"
    r"|(?:in|of|for|across|over) all(?: the)? \w+(?: together| combined)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Wanted:
    """What a question wants from a collection.

    `values`: the values it names, by field; `groups`: the fields it counts by; `unit`: the unit of time it counts by;
    `since`, `until`: days in ISO form, or "". `counts`: whether it wants numbers, `share`: also as shares, `sum`: as
    sums, which no table has. `members`: whether it wants the things themselves. `condition`: the rest of the question;
    `textual`: the words of the condition that only texts can meet.
    """

    values: Mapping[str, tuple[str, ...]]
    groups: tuple[str, ...]
    unit: str
    since: str
    until: str
    counts: bool
    share: bool
    sum: bool
    members: bool
    condition: str
    textual: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What a count must mention to be the wanted one: the values, and the years that limit it."""
        years = dict.fromkeys(day[:4] for day in (self.since, self.until) if day)
        return (*(value for values in self.values.values() for value in values), *years)


def asks(task: str) -> bool:
    """Whether a task asks for the number of things, or for all things of a kind."""
    return _COUNTS.search(task) is not None or _MEMBERS.search(task) is not None


def wanted(task: str, fields: Fields, called: Sequence[str] = ()) -> Wanted:
    """What a question wants from a collection with these fields. `called`: the names and descriptions of its tools,
    which tell what its things are called."""
    places = _mentions(task, fields)
    values: dict[str, tuple[str, ...]] = {}
    for *_, field, value in places:
        values[field] = tuple(dict.fromkeys((*values.get(field, ()), value)))
    is_count = _COUNTS.search(task) is not None
    groups = [f for f in fields if f not in UNITS and (len(values.get(f, ())) > 1 or _counts_by(task, f))]
    since, until = _period(task, [place[:2] for place in places])
    question = next((s for s in sentences(task) if s[-1] in "?？"), (*sentences(task), task)[0])
    condition = question
    for text in (*(value for *_, value in places), *(task[day.start : day.end] for day in dates.find(task))):
        condition = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", " ", condition)
    condition = " ".join(_MEMBERS.sub(" ", _ASIDE.sub("", condition)).split())
    terms = [part for name in (*fields, *called, *UNITS) for part in phrase(name).split()]
    next_words = [word for _, end, *_ in places for word in re.findall(r"^ (\w+s)\b", task[end:])]  # "web orders"
    terms += [word for word in next_words if "NOUN" in parts_of_speech(word)]
    ignored = {stem(word) for word in (*listed("counting"), *terms, parse(question).head)}
    return Wanted(
        values=values,
        groups=tuple(groups) if is_count else (),
        unit=_unit(task) if is_count else "",
        since=since,
        until=until,
        counts=is_count,
        share=_SHARE.search(task) is not None,
        sum=_SUM.search(task) is not None,
        members=not is_count and _MEMBERS.search(task) is not None,
        condition=condition,
        textual=tuple(w for w in parse(condition).words if not (stem(w) in ignored or w.isdigit())),
    )


def _mentions(task: str, fields: Fields) -> list[Place]:
    """The values that a question names and does not exclude, in order; of overlapping ones the longest. Case matters if
    the value is an ordinary word."""
    places: list[Place] = []
    for field, values in fields.items():
        for value in values:
            flags = 0 if value != value.lower() and is_common(value) else re.IGNORECASE
            matches = re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", task, flags)
            places += [(*match.span(), field, value) for match in matches]
    kept: list[Place] = []
    for place in sorted(places, key=lambda place: place[0] - place[1]):
        if not any(place[0] < end and start < place[1] for start, end, *_ in kept):
            kept.append(place)
    return sorted(place for place in kept if not _EXCLUSION.search(task[: place[0]]))


def _counts_by(task: str, field: str) -> bool:
    """Whether a question counts by a field: "for each city", "over the themes", "by kind of work"."""
    words = (match for match in re.finditer(r"[^\W\d_]+", task) if match[0].lower() not in listed("stop"))
    starts = [match.start() for match in words if stem(match[0]) == head(field)]
    starts += [match.start() for match in re.finditer(rf"\b{re.escape(phrase(field))}", task, re.IGNORECASE)]
    return any(_GROUPING.search(task[:start]) for start in starts)


def _unit(task: str) -> str:
    """The unit of time that a question counts by: "in each month", "from year to year", "weekly"."""
    periodic = (unit for unit in UNITS if re.search(rf"(?i)\bfrom {unit} to {unit}\b|\b{unit}ly\b", task))
    return next(iter([*(unit for unit in UNITS if _counts_by(task, unit)), *periodic]), "")


def _period(task: str, spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """The first and last day of the period that a question asks about, or ""; dates inside names are ignored."""
    spans = [*spans, *(span[:2] for span in name_spans(task) if " " in span.text)]
    days = [day for day in dates.find(task) if not any(start <= day.start < end for start, end in spans)]
    if not days:
        return "", ""
    firsts = [f"{day.year}-{day.month or 1:02}-{day.day or 1:02}" for day in days]
    lasts = [f"{d.year}-{d.month or 12:02}-{d.day or monthrange(d.year, d.month or 12)[1]:02}" for d in days]
    return min(firsts), max(lasts)


# tools


def meanings(tool: Tool) -> dict[str, str]:
    """What the parameters of a tool over a collection are for, by name; empty for any other tool."""
    roles = {name: _meaning(name, schema) for name, schema in tool.parameters.items()}
    return roles if {"filters", "ranges", "group", "period"} & {*roles.values()} else {}


def _meaning(name: str, schema: Mapping[str, Any]) -> str:
    """What a parameter is for, going by its name; only a page size is a number."""
    meaning = next((m for m, pattern in TABLES["collection"].items() if re.search(pattern, name.casefold())), "")
    return meaning if (types(schema)[0] in ("integer", "number", "boolean")) == (meaning == "size") else ""


def declared(tool: Tool) -> dict[str, tuple[str, ...]]:
    """The fields that a tool's definition names, their values not known yet."""
    fields: dict[str, tuple[str, ...]] = {}
    for text in (tool.description, *map(about, tool.parameters.values())):
        for match in _NAMES.finditer(text):
            names = [match["shown"]] if match["shown"] else re.findall(r"[a-z]\w+", match["listed"])
            fields |= dict.fromkeys((name for name in names if name not in _NO_NAMES), ())
    return fields


def arguments(tool: Tool, want: Wanted, fields: Fields) -> dict[str, Any]:
    """The arguments that ask a tool for what is wanted; empty if its parameters can express none of it."""
    roles = meanings(tool)
    groups = want.groups if "period" in roles.values() or not want.unit else (*want.groups, want.unit)
    time_field = next((field for field in fields if _TIME_FIELD.search(field)), "")
    bounds = {bound: day for bound, day in (("gte", want.since), ("lte", want.until)) if day}
    values = {
        "filters": {field: [*items] if len(items) > 1 else items[0] for field, items in want.values.items()},
        "ranges": {time_field: bounds} if time_field and bounds else {},
        "group": [*groups],
        "period": want.unit,
    }
    args = {name: _as_type(values.get(roles[name]), tool.parameters[name]) for name in roles}
    if want.members or want.textual:
        args |= {name: _largest(tool.parameters[name]) for name in roles if roles[name] == "size"}
    return {name: value for name, value in args.items() if value}


def _largest(schema: Mapping[str, Any]) -> int | None:
    """The largest page size that a parameter allows, by its schema or its description."""
    figures = re.findall(r"(?:\bto|at most|max\w*) (\d+)", about(schema))
    limits = [schema["maximum"]] if "maximum" in schema else figures[:1]
    return int(limits[0]) if limits else None


def _as_type(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value in the type of a parameter: an object as JSON, a list joined by commas if the parameter is a string."""
    if not value or types(schema)[0] in ("object", "array"):
        return value
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return ",".join(value) if isinstance(value, list) else value
