"""An inline citation mark as data: where and how it is written, which numbers it cites; and others in their place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aiq.citations.numerals import CIRCLED, RAISED, like, value

BLANK = r"[ \u00a0\u2002-\u200a\u202f\u3000]"
DASHES = "-‐‑‒–—−－~～〜至到⁻"
"""What stands between the ends of a range, for a pattern's class: models like the hyphen that does not break."""
DASH = rf"{BLANK}?[{DASHES}]{BLANK}?"
COMMA = (
    rf"(?:{BLANK}*[,，、;；・]{BLANK}*(?:\r?\n)?(?:and |& )?"
    rf"|{BLANK}(?:and|&|und|et|y){BLANK}|{BLANK}?[和与與及]{BLANK}?)"
)
NAMES = (
    r"(?:sources?|references?|refs?\.?|citations?|cite|doc(?:ument)?s?|quellen?"
    r"|来源|來源|引用|(?:参考)?文献|(?:參考)?文獻|(?:参考)?资料|(?:參考)?資料|参考|參考|文档|出典|출처)"
)
"""What a citation or an entry may call itself in front of its number: `[Source 1]`, `来源1：`; any case."""
LARGEST = 999
"""A greater number is a year, unless a list has it."""
_WIDEST = 100
_RANGE = re.compile(rf"\^?(\d+|[{CIRCLED}]|[{RAISED}]+)(?:{DASH}\^?(\d+|[{RAISED}]+))?")
_DASH = re.compile(DASH)
_COMMA = re.compile(COMMA)
_WRAP = re.compile(r"\r?\n")
_NUMERAL = re.compile(rf"\d+|[{CIRCLED}]|[{RAISED}]+")

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


def rewritten_items(items: str, numbers: Sequence[int]) -> str:
    """These numbers in the style of a mark's items: its numerals, its separator, its dash, its carets."""
    dash, comma, numeral = _DASH.search(items), _COMMA.search(items), _NUMERAL.search(items)
    caret = "^" if "^" in items else ""
    written = numeral[0] if numeral else ""
    runs: list[list[int]] = []
    for number in sorted(numbers) if dash else numbers:
        if dash and runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = []
    for run in runs:
        if dash and len(run) > 2:
            parts.append(f"{caret}{like(written, run[0])}{dash[0]}{caret}{like(written, run[-1])}")
        else:
            parts += [f"{caret}{like(written, number)}" for number in run]
    return (_WRAP.sub(" ", comma[0]) if comma else ", ").join(parts)
