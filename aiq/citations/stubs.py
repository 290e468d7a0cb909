"""Says whether completing a cut-off URL would complete a number or an identifier, which is a guess."""

import re

_WORD = r"[^\W_\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit; ideographs and syllables are words of their own and belong to no identifier."""
_MARK = r"(?:_|[^\w/?&=])"
_LEFT = re.compile(rf"({_WORD}*)({_MARK}?)\Z")
_RIGHT = re.compile(rf"({_WORD}*)({_MARK}?)({_WORD}*)")


def completes_identifier(start: str, whole: str) -> bool:
    """Whether `whole`, which begins with `start`, goes on with what is part of an identifier.

    That is so where the cut runs through a word with a digit (`/pull/1` and `/pull/112`, `4f2a` and
    `4f2a91c`, `article` and `article12`), and where words with digits stand on both sides of one mark
    (`1706` and `1706.03762`, the groups of a UUID or a date).
    """
    left, right = _LEFT.search(start[-200:]), _RIGHT.match(whole, len(start), len(start) + 200)
    if left is None or right is None:
        return False
    before, mark, after = left[1], left[2] or right[2], right[1]
    if before and after and not left[2]:
        return _has_digit(before + after)
    if not before or not (left[2] or (right[2] and not after)):
        return False
    return bool(mark) and _has_digit(before) and _has_digit(after if left[2] else right[3])


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)
