"""Numbers in running text: value, unit, precision; and whether two of them agree."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from aiq.citations.claims.lexicon import folded
from aiq.citations.claims.rules import units

DIGITS: Final = (
    r"\d{1,3}(?:[,'’\u00a0\u2009\u202f]\d{3})+(?![\d])(?:\.\d+)?"  # 1,234,567.8
    r"|\d{1,3}(?:\.\d{3}){2,}(?![\d])"  # 1.234.567
    r"|\d+(?:\.\d+)?"
)
"""How numbers are written in figures."""
_GROUPS: Final = re.compile(r"[,'’\u00a0\u2009\u202f]|\.(?=\d{3}\.)|(?<=\.\d{3})\.(?=\d{3})")
_RANGE: Final = re.compile(rf"\s?(?:-|–|—|~|～|to|至|到|and)\s?(?:[$€£¥])?(?:{DIGITS})")
_BEFORE: Final = re.compile(r"(US\$|[$€£¥]|\b(?:USD|EUR|GBP|RMB|CNY|JPY)\s?)$")
_OF_HUNDRED: Final = re.compile(r"百分之$")
_MYRIADS: Final = re.compile(r"(\d{1,4}(?:\.\d+)?)([千万])")
"""What may follow a figure with 万 or 亿 and belongs to it: `3亿5000万`."""
_SPELLED: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_PARTS: Final = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_FRACTION: Final = re.compile(r"[ -](halves|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?)\b", re.IGNORECASE)
_CJK_FIGURES: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_CJK_POWERS: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_MOST_RELATIVE: Final = 0.05
"""How far a value rounded to few figures may lie from the exact one: 6,000 for 6,100, not 1,000 for 1,400."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number at token `at`, `start:end` of the text.

    `value` is scaled by multiplier and unit, `bare` as written; `dimension` is what the unit measures ("" without
    one). `slack` is how far a value may lie from `value` that is rounded to it. `year`: looks like a year.
    """

    value: float
    bare: float
    dimension: str
    slack: float
    year: bool
    at: int
    start: int
    end: int
    written: str


def read_number(text: str, start: int, end: int, at: int) -> Number:
    """The number whose figures stand at `start:end`, with what stands around it."""
    figures = _GROUPS.sub("", text[start:end])
    bare = float(figures)
    multiplier, dimension, factor, stop = _behind(text, end)
    if multiplier in (1e4, 1e8) and text[stop - 1] in "万亿" and (rest := _MYRIADS.match(text, stop)):
        bare += float(rest[1]) * _CJK_POWERS[rest[2]] / multiplier
        _, dimension, factor, stop = _behind(text, rest.end())
    if not dimension and multiplier == 1 and (more := _RANGE.match(text, end, end + 24)):
        multiplier, dimension, factor, _ = _behind(text, more.end())  # 5-10 million
    before = text[max(0, start - 6) : start]
    if not dimension and (sign := _BEFORE.search(before)):
        dimension, factor = _units().get(sign[1].strip(), ("", 1.0))
    if _OF_HUNDRED.search(before):
        dimension = "percent"
    year = dimension == "" and multiplier == 1 and len(figures) == 4 and text[start:end] == figures
    year = year and 1000 <= bare <= 2100
    scale = multiplier * factor
    return Number(bare * scale, bare, dimension, _slack(figures, bare) * scale, year, at, start, stop, text[start:stop])


def read_spelled(text: str, start: int, end: int, at: int) -> Number | None:
    """The number that the word at `start:end` says, with its unit: `six months`, `two thirds` (67 %)."""
    bare = _SPELLED.get(folded(text[start:end]))
    if bare is None:
        return None
    if part := _FRACTION.match(text, end):
        share = 100 * bare / _PARTS[part[1].casefold().rstrip("s")]
        return Number(share, share, "percent", 1.0, False, at, start, part.end(), text[start : part.end()])
    multiplier, dimension, factor, stop = _behind(text, end)
    value = bare * multiplier * factor
    return Number(value, bare, dimension, 1e-9 * max(1.0, value), False, at, start, stop, text[start:stop])


def read_cjk(text: str, start: int, end: int, at: int) -> Number | None:
    """The number that Chinese figures say, with its unit: `十二`, `两千万` 20,000,000, `四分之三` in per cent."""
    written = text[start:end]
    if (percent := _cjk_percent(written)) is not None:
        return Number(percent, percent, "percent", 0.5, False, at, start, end, written)
    if len(written) == 4 and all(sign in _CJK_FIGURES for sign in written):
        year = float("".join(str(_CJK_FIGURES[sign]) for sign in written))
        return Number(year, year, "", 1e-9, 1000 <= year <= 2100, at, start, end, written)
    value = _cjk_value(written)
    if value is None:
        return None
    _, dimension, factor, stop = _behind(text, end)
    scaled = value * factor
    return Number(scaled, value, dimension, 1e-9 * max(1.0, scaled), False, at, start, stop, text[start:stop])


def _cjk_percent(written: str) -> float | None:
    """Shares: `四分之三` 75, `百分之十二` 12, `八成` 80, `一成半` 15."""
    if "成" in written:
        return 10.0 * _CJK_FIGURES[written[0]] + (5.0 if written.endswith("半") else 0.0)
    whole, of, share = written.partition("分之")
    if not of:
        return None
    parts = 100.0 if whole == "百" else _cjk_value(whole)
    taken = 1.0 if share == "一" else _cjk_value(share)
    return 100 * taken / parts if parts and taken else None


def _cjk_value(written: str) -> float | None:
    """What figures and powers of ten say (`三百五十`, `两千万`); None where they do not make a number."""
    total = part = figure = 0
    for sign in written:
        if sign in _CJK_FIGURES:
            figure = _CJK_FIGURES[sign]
        elif (power := _CJK_POWERS[sign]) < 10_000:
            part, figure = part + (figure or 1) * power, 0
        else:
            ahead = 0 if total < power else total  # 三亿五千万, but 一万亿
            total, part, figure = ahead + (total - ahead + part + figure) * power, 0, 0
    found = total + part + figure
    return float(found) if found > 1 else None


def agree(stated: Number, found: Number) -> float:
    """How well a source's number bears out a stated one: 1 the same, less where a unit is missing, 0 not at all."""
    if stated.year:
        return 1.0 if found.bare == stated.bare and not found.dimension else 0.0
    if stated.dimension and found.dimension and stated.dimension != found.dimension:
        return 0.0
    if abs(found.value - stated.value) <= stated.slack:
        return 1.0 if stated.dimension == found.dimension else 0.9
    same_figures = abs(found.bare - stated.bare) < 1e-9 and stated.bare >= 10
    if same_figures and not (stated.dimension and found.dimension) and found.value == found.bare:
        return 0.7  # a table that names its unit in the head
    return 0.0


def _behind(text: str, end: int) -> tuple[float, str, float, int]:
    """The multiplier, dimension and factor behind a number, and where they end."""
    multiplier, dimension, factor, stop = 1.0, "", 1.0, end
    for _ in range(2):
        match = _pattern().match(text, stop)
        if match is None:
            break
        word = match[1]
        times = units().multipliers.get(word) or units().multipliers.get(word.casefold())
        if multiplier == 1 and not dimension and times:
            multiplier = times
        elif not dimension and (unit := _unit(word)):
            dimension, factor = unit
        else:
            break
        stop = match.end()
    return multiplier, dimension, factor, stop


def is_unit(word: str) -> bool:
    """Whether this is how a unit or a currency is written."""
    return word in _units()


def _unit(word: str) -> tuple[str, float] | None:
    """Short spellings count as written (mW, MW), long ones in any case."""
    return _units().get(word) or _units().get(word.casefold())


@cache
def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {"¥": ("", 1.0)}  # yen and yuan
    for dimension, spellings in units().dimensions.items():
        for spelling, factor in spellings.items():
            table.setdefault(spelling, (dimension, factor))
    return table


@cache
def _pattern() -> re.Pattern[str]:
    """A multiplier or unit behind a number, the longest first; Latin ones must end where the word ends."""
    spellings = sorted({*units().multipliers, *_units()}, key=lambda spelling: (-len(spelling), spelling))
    latin = [re.escape(s) for s in spellings if re.search(r"[A-Za-z]$", s)]
    other = [re.escape(s) for s in spellings if not re.search(r"[A-Za-z]$", s)]
    ends = "(?![A-Za-z0-9])"
    short = "|".join(s for s in latin if len(s) < 4)
    long = "|".join(s for s in latin if len(s) >= 4)
    return re.compile(rf"[ \t\u00a0\u2009\u202f]?-?((?:{'|'.join(other)})|(?:{short}){ends}|(?i:{long}){ends})")


def _slack(figures: str, bare: float) -> float:
    """Half of the last figure that counts; zeros at the end of a whole number count only so far."""
    whole, _, decimals = figures.partition(".")
    if decimals:
        return 0.5 * 10.0 ** -len(decimals) + 1e-9
    zeros = len(whole) - len(whole.rstrip("0"))
    if zeros == 0 or bare < 10:
        return 1e-9 if bare < 10 else 0.5 - 1e-9
    return min(0.5 * 10.0**zeros, _MOST_RELATIVE * bare) + 1e-9
