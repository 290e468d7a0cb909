"""Markdown as HTML in which pieces of the text are HTML of ours, at their places, whatever stands around them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aiq.site.markdown import render

_OPEN, _CLOSE = "\ue000", "\ue001"
_HELD = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_HELD_OR_TAG = re.compile(rf"<p>{_OPEN}(?P<alone>\d+){_CLOSE}</p>|{_OPEN}(?P<held>\d+){_CLOSE}|<[^>]*>")
_PRIVATE = str.maketrans(_OPEN + _CLOSE, "\ufffd\ufffd")
_MARKED_FENCE = re.compile(rf"^([ \t>]*(?:`{{3,}}|~{{3,}}))[ \t]*((?:{_OPEN}\d+{_CLOSE}[ \t]*)+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """`html` in place of `start:end` of a text; a `block` stands by itself, between paragraphs."""

    start: int
    end: int
    html: str
    block: bool = False


def annotated(text: str, pieces: Iterable[Piece]) -> str:
    """The text as safe HTML with these pieces; of two that overlap the first stays."""
    kept = list(_apart(pieces))
    held = _MARKED_FENCE.sub(r"\1\n\2", _with_holders(text.translate(_PRIVATE), kept))

    def replaced(match: re.Match[str]) -> str:
        if match["alone"]:
            piece = kept[int(match["alone"])]
            return piece.html if piece.block else f"<p>{piece.html}</p>"
        return kept[int(match["held"])].html if match["held"] else _HELD.sub("", match[0])

    return _HELD_OR_TAG.sub(replaced, render(held))


def _apart(pieces: Iterable[Piece]) -> Iterator[Piece]:
    at = 0
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        if piece.start >= at:
            yield piece
            at = piece.end


def _with_holders(text: str, pieces: list[Piece]) -> str:
    parts, at = [], 0
    for number, piece in enumerate(pieces):
        holder = f"{_OPEN}{number}{_CLOSE}"
        parts += [text[at : piece.start], f"\n\n{holder}\n\n" if piece.block else holder]
        at = piece.end
    return "".join([*parts, text[at:]])
