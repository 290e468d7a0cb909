"""Numbers of a text as values, however they are written, so that they can be compared."""

import re
from functools import lru_cache
from typing import NamedTuple

_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_VALUE_OF = {word: float(value) for value, word in enumerate(_WORDS)}
_CHINESE_DIGITS = {digit: float(value) for value, digit in enumerate("零一二三四五六七八九十")} | {"两": 2.0}
_TIMES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "千": 1e3, "万": 1e4, "亿": 1e8}
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<digits>\d{1,3}(?:[,\u202f']\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"\s?(?P<times>thousand|million|billion|trillion|[千万亿])?"
    rf"|\b(?P<word>{'|'.join(_WORDS)})\b"
    r"|(?<![\u4e00-\u9fff])(?P<chinese>[零一二两三四五六七八九十])(?=[个位座家人岁年月])",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]")


class Number(NamedTuple):
    """A value as stated; `year` where it is written like one (four digits without separator)."""

    value: float
    year: bool
    start: int

    def agrees(self, other: "Number", tolerance: float) -> bool:
        """Whether both mean the same: years exactly, other values up to a relative difference."""
        if self.year or other.year or self.value < 100:
            return self.value == other.value
        return abs(self.value - other.value) <= tolerance * max(self.value, other.value)


@lru_cache(maxsize=4096)
def numbers(text: str) -> tuple[Number, ...]:
    """All numbers of a text in order, citation marks left out."""
    plain = _CITED.sub(lambda mark: " " * len(mark.group()), text)
    return tuple(_number(match) for match in _NUMBER.finditer(plain))


def _number(match: re.Match[str]) -> Number:
    if word := match["word"]:
        return Number(_VALUE_OF[word.lower()], False, match.start())
    if digit := match["chinese"]:
        return Number(_CHINESE_DIGITS[digit], False, match.start())
    digits = match["digits"]
    value = float(re.sub(r"[,\u202f']", "", digits)) * _TIMES.get((match["times"] or "").lower(), 1.0)
    year = digits.isdigit() and len(digits) == 4 and 1000 <= value <= 2100 and not match["times"]
    return Number(value, year, match.start())
