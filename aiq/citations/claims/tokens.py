"""Takes a text apart into what can be compared: words as keys, pairs of Chinese signs, numbers, each with its place.

Made for pages as they come: URLs are passed over, words that a line's end or a PDF cut in two
(`quan-\\ntum`, `scat-tering`) count whole and in parts, footnote figures glued to a word are parted from it.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from aiq.citations.claims.lexicon import CJK, cjk_concepts, folded, key
from aiq.citations.claims.numbers import DIGITS, Number, read_cjk, read_number, read_spelled

_TOKEN: Final = re.compile(
    rf"(?P<url>(?:https?://|www\.)[^\s<>\"'）)\]]+)|(?P<number>{DIGITS})|(?P<cjk>[{CJK}〇]+)"
    rf"|(?P<word>[^\W\d_{CJK}]+(?:['’][^\W\d_{CJK}]{{1,2}}\b)?)"
)
_COUNTED: Final = re.compile(
    r"[一二三四五六七八九十百]{1,4}分之[一二三四五六七八九十百零]{1,7}"
    r"|[一二三四五六七八九〇零]{4}(?=年)"
    r"|[一二三四五六七八九两]成(?:半|(?![为分立功员本果长绩熟就都形品交人因型]))"
    r"|[一二三四五六七八九十两][一二三四五六七八九十百千万亿零]{0,20}[十百千万亿][一二三四五六七八九]?"
    r"|[一二三四五六七八九十两]{1,3}(?=[个種种类類项項大次年家名位座所倍步期篇部条點点层人])"
)
"""Chinese figures; a row of them without end is read in pieces, so that it costs no time and no piece overflows."""
_TAIL: Final = re.compile(r"[A-Za-z]{1,3}(?![A-Za-z])")
_HYPHEN: Final = re.compile(r"[-‐‑\u00ad]\s{0,2}\Z")


@dataclass(slots=True)
class Tokens:
    """A text's tokens: `starts` and `ends` are their places; `words` key -> tokens, in order; `numbers` in order."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    words: dict[str, list[int]] = field(default_factory=dict)
    numbers: list[Number] = field(default_factory=list)
    cjk: int = 0
    """How many tokens are pairs of Chinese, Japanese or Korean signs."""

    def __len__(self) -> int:
        return len(self.starts)


def tokenize(text: str) -> Tokens:
    """Read a text; the work is linear in its length."""
    tokens = Tokens()
    starts, ends, words = tokens.starts, tokens.ends, tokens.words
    before, before_end = "", -1  # the Latin word just read
    unit_end = 0  # behind the number just read with its unit, which is no word
    for match in _TOKEN.finditer(text):
        kind, start, end = match.lastgroup, *match.span()
        if kind == "word":
            at = len(starts)
            starts.append(start)
            ends.append(end)
            word = match[0]
            if start < unit_end:
                continue
            if (found := key(word)) is not None:
                words.setdefault(found, []).append(at)
            if before and start - before_end <= 3 and _HYPHEN.fullmatch(text, before_end, start):
                if (joined := key(before + word)) is not None:
                    words.setdefault(joined, []).append(at)
            elif (spelled := read_spelled(text, start, end, at)) is not None:
                tokens.numbers.append(spelled)
                unit_end = spelled.end
            before, before_end = word, end
        elif kind == "cjk":
            _add_cjk(tokens, text, start, end)
            before = ""
        elif kind == "number":
            at = len(starts)
            starts.append(start)
            ends.append(end)
            glued = bool(before) and before_end == start
            if glued or (before and start - before_end == 1 and text[before_end] in "-‐‑–"):
                words.setdefault(folded(before) + match[0], []).append(at)  # CO2, GPT-4
            if tail := _TAIL.match(text, end):
                words.setdefault((match[0] + tail[0]).casefold(), []).append(at)  # 5G, 3D
            if len(match[0]) < 16 and start >= unit_end:
                number = read_number(text, start, end, at)
                tokens.numbers.append(number)
                unit_end = number.end
            before = ""
    return tokens


def _add_cjk(tokens: Tokens, text: str, start: int, end: int) -> None:
    run, first = text[start:end], len(tokens)
    size = max(1, len(run) - 1)
    tokens.cjk += size
    for at in range(size):
        tokens.starts.append(start + at)
        tokens.ends.append(start + min(at + 2, len(run)))
        tokens.words.setdefault(run[at : at + 2], []).append(first + at)
    for at, name in cjk_concepts(run):
        tokens.words.setdefault(name, []).append(first + min(at, size - 1))
    for match in _COUNTED.finditer(run):
        at = first + min(match.start(), size - 1)
        if (number := read_cjk(text, start + match.start(), start + match.end(), at)) is not None:
            tokens.numbers.append(number)
