"""Numbers of citations as they are written: `7`, `７`, `⑦`, `⁷`; read, and written again in the style they had."""

import re
import unicodedata

CIRCLED = "①-⑳㉑-㉟㊱-㊿❶-❿"
"""The characters that are a number in a circle, as a range for a pattern."""
RAISED = "⁰¹²³⁴-⁹"
"""The digits that stand raised, as a range for a pattern."""
_CIRCLE = re.compile(f"[{CIRCLED}]")
_RAISE = re.compile(f"[{RAISED}]")
_CIRCLES = ((1, 20, "①"), (21, 35, "㉑"), (36, 50, "㊱"))
_PLAIN = "0123456789"
_RAISED_DIGITS = str.maketrans(_PLAIN, "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WIDE_DIGITS = str.maketrans(_PLAIN, "０１２３４５６７８９")


def is_circled(written: str) -> bool:
    """Whether this is a number in a circle."""
    return _CIRCLE.fullmatch(written) is not None


def value(written: str) -> int:
    """The number that decimal digits of any script, raised digits or one circled number mean."""
    if is_circled(written):
        return int(unicodedata.numeric(written))
    return int(unicodedata.normalize("NFKC", written))


def like(written: str, number: int) -> str:
    """The number in the style of another one: circled (up to 50), raised, full-width, or with leading zeros."""
    if _CIRCLE.match(written):
        circle = next((chr(ord(char) + number - low) for low, high, char in _CIRCLES if low <= number <= high), None)
        return circle or f"({number})"
    if _RAISE.match(written):
        return str(number).translate(_RAISED_DIGITS)
    if "０" <= written[:1] <= "９":
        return str(number).translate(_WIDE_DIGITS)
    return str(number).zfill(len(written)) if written.startswith("0") else str(number)
