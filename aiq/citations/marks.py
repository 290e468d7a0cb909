"""An inline citation mark as data: where it stands, how it is written, which numbers it cites."""

import re
from dataclasses import dataclass
from typing import Literal

from aiq.citations.numerals import CIRCLED, RAISED, value

DASH = r"[ ]?[-–—~～至⁻][ ]?"
COMMA = r"(?:[ ]*[,，、;；][ ]*(?:and |& )?|[ ](?:and|&|und|et|y|和|与|及)[ ])"
LARGEST = 999
"""A greater number is a year, unless a list has it."""
_WIDEST = 100
_RANGE = re.compile(rf"\^?(\d+|[{CIRCLED}]|[{RAISED}]+)(?:{DASH}\^?(\d+|[{RAISED}]+))?")

MarkForm = Literal[
    "number",  # [1]
    "group",  # [1, 3]
    "range",  # [1-3], [1]-[3]
    "footnote",  # [^1]
    "lenticular",  # 【1†L2-L4】
    "superscript",  # <sup>1</sup>, <sup>[1]</sup>, ¹
    "circled",  # ①
    "numbered_link",  # [1](url)
    "bare_number",  # So it is.1
]


@dataclass(frozen=True, slots=True)
class Mark:
    """An inline mark `start:end` that cites `numbers`; its items stand at `items`, `form` says how it is written.

    A `numbered_link` leads to the URL at `url`.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    items: tuple[int, int]
    form: MarkForm
    url: tuple[int, int] | None = None


def numbers_in(items: str) -> tuple[int, ...]:
    """The numbers that a mark's items cite, ranges expanded; empty where a range is none."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(items):
        low = value(first)
        high = value(last) if last else low
        if last and not low < high <= min(LARGEST, low + _WIDEST):
            return ()
        numbers += range(low, high + 1)
    return tuple(dict.fromkeys(numbers))
