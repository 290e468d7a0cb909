"""A page's text cut into passages: windows of whole paragraphs that search ranks one by one."""

import re

WINDOW = 900
"""Characters a passage aims at: long enough for a fact with its context, short enough to rank well."""

_PARAGRAPH = re.compile(r"\n\s*\n|\n")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


def passages(text: str) -> list[str]:
    """The text's passages in order; none for a blank text.

    Paragraphs (lines) are joined up to `WINDOW` characters; a longer paragraph is cut between
    sentences, and a longer sentence between characters. Nothing is lost but white space.
    """
    found: list[str] = []
    current = ""
    for piece in _pieces(text):
        if current and len(current) + len(piece) + 1 > WINDOW:
            found.append(current)
            current = ""
        current = f"{current}\n{piece}" if current else piece
    return [*found, current] if current else found


def _pieces(text: str) -> list[str]:
    """Paragraphs, the longer ones as groups of sentences, none longer than the window."""
    found: list[str] = []
    for paragraph in _PARAGRAPH.split(text):
        paragraph = paragraph.strip()
        if len(paragraph) <= WINDOW:
            found.extend([paragraph] if paragraph else [])
        else:
            found.extend(_sentences(paragraph))
    return found


def _sentences(paragraph: str) -> list[str]:
    found: list[str] = []
    current = ""
    for sentence in _SENTENCE.split(paragraph):
        for start in range(0, len(sentence), WINDOW):
            part = sentence[start : start + WINDOW]
            if current and len(current) + len(part) + 1 > WINDOW:
                found.append(current)
                current = ""
            current = f"{current} {part}" if current else part
    return [*found, current] if current else found
