"""Keeps what a removal leaves from joining to a mark that nobody wrote: a sign stays where it would, `[1 ␡]`."""

import re
from collections.abc import Sequence

from aiq.citations.composition import moved
from aiq.citations.edits import Edit, apply_edits
from aiq.citations.marks import DASHES

_SCAR = "\u2421"
_LIKE_A_MARK = re.compile(
    rf"[\[【［〔]\D{{0,12}}\d[{DASHES}^\d\s,，、;；・和与與及]*(?:†[^\[\]【】\n]{{0,80}})?[\]】］〕]"
)  # the dashes first: behind another sign the hyphen would make a range of it
_LONGEST_MARK = 120


def parted(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, with a sign for what was removed where `[1 [9]]` would become a mark that nobody wrote."""
    result = apply_edits(text, edits)
    places = moved([edit.end for edit in edits], edits)
    found: list[Edit] = []
    at = -1
    for edit, place in zip(edits, places, strict=True):
        joins = not edit.replacement and place != at and _joins(result, place)
        found.append(scar(edit) if joins else edit)
        at = place
    return tuple(found)


def scar(edit: Edit) -> Edit:
    """The edit, with the sign where it only removes."""
    return edit if edit.replacement else edit.model_copy(update={"replacement": _SCAR})


def _joins(text: str, place: int) -> bool:
    """Whether a mark lies across this place."""
    start = max(text.rfind(bracket, max(0, place - _LONGEST_MARK), place) for bracket in "[【［〔")
    found = _LIKE_A_MARK.match(text, start) if start >= 0 else None
    return found is not None and found.end() > place
