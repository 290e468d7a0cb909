"""Numbers in a text: values, units, and how they are written ("8,176 people", "8 thousand", "forty-three metres")."""

import math
import re
from functools import lru_cache
from typing import NamedTuple

from aiq.offline.engine.lexicon import listed, ordered, table


class Quantity(NamedTuple):
    """A number as stated. `unit`: the singular word or sign after it ("metre", "%", "people", "米"), or ""."""

    value: float
    unit: str
    start: int
    end: int
    text: str

    @property
    def is_year(self) -> bool:
        """Whether the number is written as a year."""
        return re.fullmatch(r"1[0-9]\d\d|20\d\d", self.text.strip("年 ")) is not None


_SMALL = {word: float(i) for i, word in enumerate(ordered("ones"))}
_SMALL |= {word: 20.0 + 10 * i for i, word in enumerate(ordered("tens"))}
_SMALL |= {"dozen": 12.0, "half": 0.5, "once": 1.0, "twice": 2.0, "thrice": 3.0}
_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9, "k": 1e3}
_WORD = "|".join(sorted(_SMALL, key=len, reverse=True))
_SCALE = r"(?:hundred|thousand|million|billion|trillion)"
_FIGURE = r"\d{1,3}(?:[,\u2009\u202f ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_ENGLISH = re.compile(
    rf"(?<![\w.])(?P<sign>[$€£¥])?(?P<figure>{_FIGURE})(?!\d)(?:(?:\s|-)?(?P<scale>{_SCALE}|bn|(?<=\d)k)\b)?"
    rf"(?P<ordinal>st|nd|rd|th)?"
    rf"|\b(?P<words>(?:a\s+)?(?:{_WORD}|{_SCALE}(?=\s))"
    rf"(?:(?:\s+and\s+|[\s-])(?:a\s+)?(?:{_WORD}|{_SCALE}))*)\b",
    re.IGNORECASE,
)
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALES = {"十": 10.0, "百": 100.0, "千": 1000.0, "万": 1e4, "亿": 1e8}
_HAN_PART = re.compile(r"(\d[\d,]*(?:\.\d+)?|[〇零一二两三四五六七八九十百千]+)([万亿]*)")
_HAN = re.compile(rf"(?:{_HAN_PART.pattern})+[余多]?")
_UNIT = re.compile(r"[\s-]*(?:(?P<sign>%|°\s?[CF]?|per cent|percent|square \w+|cubic \w+)|(?P<word>[A-Za-z²³]+))")
_HAN_UNIT = re.compile(rf"\s*({'|'.join(ordered('chinese_units'))}|[^\W\d]?)")
_NO_UNIT = listed("stop") | {"per"}
_SYMBOLS = {
    "km": "kilometre", "m": "metre", "cm": "centimetre", "mm": "millimetre",
    "kg": "kilogram", "g": "gram", "t": "tonne",
}  # fmt: skip


def _in_words(text: str) -> float:
    """The value of an English number in words ("one hundred and forty thousand")."""
    total, part = 0.0, 0.0
    for word in re.split(r"[\s-]+", text):
        if word in ("thousand", "million", "billion", "trillion"):
            total, part = total + (part or 1) * _LARGE[word], 0.0
        else:
            part = (part or 1) * 100 if word == "hundred" else part + _SMALL.get(word, 0.0)
    return total + part


def _in_han(text: str) -> float:
    """The value of Chinese numerals below ten thousand, or of digits ("二十一", "一九〇三", "318")."""
    if text[0].isdigit():
        return float(text.replace(",", ""))
    if not any(c in _HAN_SCALES for c in text):
        return float("".join(str(_HAN_DIGITS[c]) for c in text))
    total, digit = 0.0, 0
    for c in text:
        total += (digit or 1) * _HAN_SCALES[c] if c in _HAN_SCALES else 0
        digit = _HAN_DIGITS.get(c, 0)
    return total + digit


@lru_cache(maxsize=16384)
def numbers(text: str) -> tuple[Quantity, ...]:
    """The numbers in a text, in order, in digits or words, English or Chinese; parts of words do not count."""
    quantities = [q for match in _ENGLISH.finditer(text) if (q := _english(text, match))]
    if re.search(r"[\u3400-\u9fff]", text):
        chinese = [_chinese(text, match) for match in _HAN.finditer(text)]
        quantities = [*(q for q in quantities if not any(c.start <= q.start < c.end for c in chinese)), *chinese]
    return tuple(sorted(quantities, key=lambda q: q.start))


def _english(text: str, match: re.Match[str]) -> Quantity | None:
    words = (match["words"] or "").lower()
    if words in ("one", "half", "once", "a half", "second") or re.fullmatch(_SCALE, words):
        return None
    figure = float(re.sub(r"[^\d.]", "", match["figure"] or "0")) * _LARGE.get((match["scale"] or "").lower(), 1)
    unit = _UNIT.match(text, match.end())
    word = "" if match["ordinal"] or not unit else (unit["sign"] or unit["word"]).lower()
    word = "" if word in _NO_UNIT else _SYMBOLS.get(word, re.sub(r"(?<=[a-z]{3})s$", "", word))
    return Quantity(_in_words(words) if words else figure, match["sign"] or word, *match.span(), match.group())


def _chinese(text: str, match: re.Match[str]) -> Quantity:
    parts = _HAN_PART.findall(match.group())
    value = sum(_in_han(head) * math.prod(_HAN_SCALES[c] for c in large) for head, large in parts)
    unit = _HAN_UNIT.match(text, match.end())
    return Quantity(value, unit[1] if unit else "", *match.span(), match.group())


def base_value(quantity: Quantity) -> float:
    """The value in metres, kilograms or years if it has such a unit, otherwise unchanged."""
    return quantity.value * float(table("bases").get(quantity.unit, 1.0))


def with_unit(text: str, quantity: Quantity) -> str:
    """The quantity as the text writes it, with its unit if that is a measure ("43 metres", "四十七平方公里")."""
    unit = (_HAN_UNIT if re.match(r"\s*[\u3400-\u9fff%]", text[quantity.end :]) else _UNIT).match(text, quantity.end)
    if quantity.is_year or not unit or not quantity.unit:
        return quantity.text
    tail = re.match(r"(?:,| and)? \d+ (?:minute|second|month|day|inche|centimetre)s?\b", text[unit.end() :])
    return text[quantity.start : unit.end() + (tail.end() if tail else 0)]
