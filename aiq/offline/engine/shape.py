"""Values in the form that a schema asks for: dates, cut texts, numbers, shares on a scale, counted ids."""

import re

from aiq.offline.engine import dates
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.text import is_chinese
from aiq.offline.engine.things import Thing

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "万": 1e4, "亿": 1e8}
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.|and|至|到)\s*(\d+(?:\.\d+)?)")


def identifier(form: Schema, name: str, thing: Thing) -> str:
    """The key of a source, or a counted id in the form that pattern, example or description shows ("task-1")."""
    if thing.source is not None and thing.source.key and re.search(r"doc|source|url", name):
        return thing.source.key
    shown = " ".join(map(str, [*(form.get("examples") or ()), form.get("description") or ""]))
    shape = re.match(r"\^?([a-zA-Z]{1,12}[_-]?)", str(form.get("pattern", ""))) or re.search(
        r"\b([a-zA-Z]{1,12}[_-]?)\d", shown
    )
    return f"{shape[1] if shape else ''}{thing.number}"


def shaped(text: str, form: Schema) -> str | None:
    """A text in the asked form: a date in ISO form, cut at a sentence or word end; None where it cannot be."""
    if (
        form.get("format") in ("date", "date-time")
        or "\\d{4}" in str(form.get("pattern"))
        or "YYYY" in str(form.get("description"))
    ):
        stated = next(iter(dates.find(text)), None)
        return "-".join(f"{n:02d}" for n in stated[:3] if n) if stated else None
    longest = form.get("maxLength") or len(text)
    cut = text[:longest]
    if len(cut) < len(text):
        ends = [m.end() for m in re.finditer(r"[.!?。！？](?=\s|$)", cut)]
        cut = cut[: ends[-1]] if ends else cut if is_chinese(cut) else cut.rsplit(" ", 1)[0]
    return cut


def as_number(text: str, kind: str) -> float | int | None:
    """The first number of a text, its scale word multiplied in; None where there is none or it is no whole number."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    scale = re.match(r"\s*(thousand|million|billion|trillion|万|亿)", text[match.end() :], re.I)
    value = round(float(match.group().replace(",", "")) * (_SCALE[scale[1].lower()] if scale else 1), 6)
    return int(value) if value.is_integer() else None if kind == "integer" else value


def scaled(value: float, form: Schema, about: str) -> float | int:
    """A share on the scale that the schema or the description states; percent for whole numbers, else 0 to 1."""
    told = _RANGE.search(about)
    low, high = (
        (float(told[1]), float(told[2]))
        if told
        else (0.0, 100.0 if form["type"] == "integer" or "percent" in about else 1.0)
    )
    low, high = float(form.get("minimum", low)), float(form.get("maximum", high))
    result = low + value * (high - low)
    return round(result) if form["type"] == "integer" else round(result, 3)
