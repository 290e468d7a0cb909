"""Edits upon edits: what two rounds of changes, one after the other, do to the text that the first one met."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aiq.citations.edits import Edit, apply_edits


@dataclass(frozen=True, slots=True)
class _Stretch:
    """`start:end` of the text between the rounds, `origin:until` of the text before; `edit` made it, or none did."""

    start: int
    end: int
    origin: int
    until: int
    edit: Edit | None


def composed(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of `text` that do at once what `first` does and then `second`, which are edits of the result.

    Each keeps the rule of the round that decided on its stretch; what comes back as it was is no edit.
    """
    result: list[Edit] = []
    waiting = deque(second)
    for stretch in _stretches(text, first):
        result += _changed(stretch, _cuts(stretch, waiting))
    return tuple(edit for edit in result if text[edit.start : edit.end] != edit.replacement)


def moved(offsets: Iterable[int], edits: Sequence[Edit]) -> list[int]:
    """Where offsets of a text, in order, lie after its edits; inside of an edit, where its replacement begins."""
    result = []
    number = shift = 0
    for offset in offsets:
        while number < len(edits) and edits[number].end <= offset:
            shift += len(edits[number].replacement) - (edits[number].end - edits[number].start)
            number += 1
        inside = number < len(edits) and edits[number].start < offset
        result.append((edits[number].start if inside else offset) + shift)
    return result


def _stretches(text: str, edits: Sequence[Edit]) -> Iterator[_Stretch]:
    """The result of these edits in stretches: kept text and replacements in turn, either may be empty."""
    at = origin = 0
    for edit in edits:
        kept, written = at + edit.start - origin, len(edit.replacement)
        yield _Stretch(at, kept, origin, edit.start, None)
        yield _Stretch(kept, kept + written, edit.start, edit.end, edit)
        at, origin = kept + written, edit.end
    yield _Stretch(at, at + len(text) - origin, origin, len(text), None)


def _cuts(stretch: _Stretch, waiting: deque[Edit]) -> list[Edit]:
    """What the waiting edits do to a stretch, in its own offsets; of one that goes on behind it, the rest waits."""
    cuts = []
    while waiting and (waiting[0].start < stretch.end or waiting[0].start == waiting[0].end == stretch.end):
        edit = waiting.popleft()
        end = min(edit.end, stretch.end)
        cuts.append(edit.model_copy(update={"start": edit.start - stretch.start, "end": end - stretch.start}))
        if edit.end > end:
            waiting.appendleft(edit.model_copy(update={"start": end, "replacement": ""}))
            break
    return cuts


def _changed(stretch: _Stretch, cuts: Sequence[Edit]) -> list[Edit]:
    if stretch.edit is None:
        origin = stretch.origin
        return [cut.model_copy(update={"start": cut.start + origin, "end": cut.end + origin}) for cut in cuts]
    if not cuts:
        return [stretch.edit]
    written = apply_edits(stretch.edit.replacement, cuts)
    return [stretch.edit.model_copy(update={"replacement": written, "rule": cuts[-1].rule})]
