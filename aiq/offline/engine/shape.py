"""Values in the form that a schema asks for: dates, cut texts, numbers, shares on a scale."""

import re
from typing import Any

from aiq.offline.engine import dates
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.text import is_chinese

_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.|and|至|到)\s*(\d+(?:\.\d+)?)")
_TRUTH = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}


def shaped(value: Any, form: Schema) -> Any:
    """A value in the asked form: a text as truth value, number or date in ISO form, or cut at a sentence or word end;
    None where it cannot be."""
    if not isinstance(value, str) or value.lower() in ("null", "none"):
        return value if not isinstance(value, str) else None
    if form["type"] == "boolean":
        return _TRUTH.get(value.lower())
    if form["type"] in ("integer", "number"):
        figure = next((quantity.value for quantity in numbers(value)), 0.5)
        return int(figure) if figure.is_integer() else figure if form["type"] == "number" and numbers(value) else None
    if form.get("format") in ("date", "date-time") or re.search(
        r"d\{4\}|YYYY", f"{form.get('pattern')} {form.get('description')}"
    ):
        stated = next(iter(dates.find(value)), None)
        return "-".join(f"{n:02d}" for n in stated[:3] if n) if stated else None
    cut = value[: form.get("maxLength")]
    whole = re.match(r".*[.!?。！？](?=\s|$)|.*(?=\s)", cut, re.S)
    return cut if cut == value or is_chinese(cut) or not whole else whole.group()


def scaled(share: float, form: Schema, about: str) -> float | int:
    """A share on the scale that the schema or the description states; percent for whole numbers, else 0 to 1."""
    told = _RANGE.search(about)
    percent = form["type"] == "integer" or "percent" in about
    low, high = (float(told[1]), float(told[2])) if told else (0.0, 100.0 if percent else 1.0)
    low, high = float(form.get("minimum", low)), float(form.get("maximum", high))
    value = round(low + share * (high - low), 3)
    return round(value) if form["type"] == "integer" else value
