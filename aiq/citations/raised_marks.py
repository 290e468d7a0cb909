"""Finds citation marks without brackets: `<sup>1</sup>`, `¹`, `①`, and bare numbers behind sentences.

Powers, units and enumerations look the same, so each counts only where a list has the number, and
the bare ones only where a report has the habit.
"""

import re
from collections.abc import Collection, Iterator

from aiq.citations.marks import COMMA, DASH, Mark, numbers_in
from aiq.citations.numerals import CIRCLED, RAISED

_SUPERSCRIPT = re.compile(rf"<sup>[ ]?(?P<items>\d{{1,3}}(?:(?:{COMMA}|{DASH})\d{{1,3}})*)[ ]?</sup>", re.IGNORECASE)
# _RAISED and _PLAIN begin with what they look for, and only then look back: nearly every place of a text fails at once.
_RAISED = re.compile(
    rf"(?=[{RAISED}])(?<=[^\W\d_]{{3}}|.[^\W\d_][.,;:!?'’”\"。，；：！？」）)]|..[。，；：！？」』）]|[\u3040-\u9fff\uac00-\ud7a3]{{3}})"
    rf"(?P<items>[{RAISED}]{{1,3}}(?:[,，⁻][{RAISED}]{{1,3}})*)",
    re.DOTALL,
)
_POWER = re.compile(r"(?:\b(?:sin|cos|tan|log|cot|sec)|[\d)]|[平立米里寸尺])$", re.IGNORECASE)
_UNIT = re.compile(
    r"(?:\d|\b[^\W\u3040-\u9fff\uac00-\ud7a3]|\b(?:[kcdm]?m|ft|in|yd|mi|km|CO|[xyzrRnN])|[=^*·×]\s?[^\W\d_]{1,3})$"
)
_ISOTOPE = re.compile(r"(?<!\S)<(?i:sup)>\d{1,3}</(?i:sup)>[A-Z]")
_CIRCLED = re.compile(rf"(?<=\S)(?P<items>[{CIRCLED}])(?=[\s{CIRCLED}.,;:!?)\]。，；：、！？）」』”]|\Z)")
_PLAIN = re.compile(
    r"(?=[.!?。！？])(?:(?<=[^\W\d_])|(?<=[)\]%*\"”’]))[.!?。！？][*\"”’)]*(?P<items>\d{1,3}(?:, ?\d{1,3})*)(?=\s|\Z)"
)
_ABBREVIATION = re.compile(r"\b(?:no|nos|fig|figs|vol|p|pp|v|vs|sec|eq|eqs|ch|art|tab|ver|op|ca)\.$", re.IGNORECASE)
_ENOUGH = 5
"""Numbers without brackets are citations only as a habit: this many at least, and hardly any other marks."""


def raised_marks(
    text: str,
    prose: str,
    body: Collection[tuple[int, int]],
    listed: frozenset[int],
    circled: frozenset[int],
    bracketed: int,
) -> list[Mark]:
    """These marks in these stretches; `bracketed` is how many marks have brackets."""
    if not listed:
        return []
    found = [mark for stretch in body for mark in _superscripts(text, prose, stretch, listed)]
    if circled:
        found += [mark for stretch in body for mark in _circled(prose, stretch, circled)]
    raised = [mark for stretch in body for mark in _raised(prose, stretch, listed)]
    if not bracketed or len(raised) >= max(_ENOUGH, 4 * bracketed):
        found += raised
    plain = [mark for stretch in body for mark in _plain(prose, stretch, listed)]
    if len(plain) >= max(_ENOUGH, 4 * (bracketed + len(found))):
        found += plain
    return found


def _superscripts(text: str, prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    """`<sup>1</sup>`, but not behind a number, a unit or a formula, nor before an element (`<sup>14</sup>C`)."""
    for match in _SUPERSCRIPT.finditer(text, *stretch):
        numbers = numbers_in(match["items"])
        masked = "\x00" in prose[slice(*match.span("items"))]
        power = len(numbers) == 1 and _UNIT.search(text[max(0, match.start() - 6) : match.start()])
        power = power or _ISOTOPE.match(text, match.start())
        if numbers and listed.issuperset(numbers) and not masked and not power:
            yield Mark(*match.span(), numbers, match.span("items"), "superscript")


def _raised(prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    for match in _RAISED.finditer(prose, *stretch):
        numbers = numbers_in(match["items"])
        power = _POWER.search(prose[max(0, match.start() - 6) : match.start()])
        if numbers and listed.issuperset(numbers) and not power:
            yield Mark(*match.span(), numbers, match.span("items"), "superscript")


def _circled(prose: str, stretch: tuple[int, int], circled: frozenset[int]) -> Iterator[Mark]:
    """`如此①。`: an enumeration's number stands before its item, a citation's behind what is said."""
    for match in _CIRCLED.finditer(prose, *stretch):
        numbers = numbers_in(match["items"])
        if circled.issuperset(numbers):
            yield Mark(*match.span(), numbers, match.span("items"), "circled")


def _plain(prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    """`So it is.1`: how reports look whose superscripts were lost."""
    for match in _PLAIN.finditer(prose, *stretch):
        numbers = numbers_in(match["items"])
        start, end = match.span("items")
        if listed.issuperset(numbers) and not _ABBREVIATION.search(prose[max(0, start - 6) : start]):
            yield Mark(start, end, numbers, (start, end), "bare_number")
