"""Writing: numbered citations, reference lists in the format the prompt asks for, and choices of wording."""

from collections.abc import Sequence
from typing import TypeVar

from aiq.core.seeds import derive
from aiq.offline.reading.documents import Document
from aiq.offline.reading.instructions import Instructions

T = TypeVar("T")


class Citations:
    """Numbers documents in the order in which they are first cited."""

    def __init__(self, instructions: Instructions) -> None:
        self._instructions = instructions
        self._cited: dict[str, Document] = {}

    def mark(self, *documents: Document) -> str:
        """` [1]`, ` [1][3]`; empty where the prompt asks for no citations."""
        if not self._instructions.cites:
            return ""
        numbers = []
        for document in documents:
            self._cited.setdefault(document.key, document)
            numbers.append(list(self._cited).index(document.key) + 1)
        return " " + "".join(f"[{number}]" for number in dict.fromkeys(numbers)) if numbers else ""

    def references(self) -> str:
        """The reference section with its heading, to be put behind the text; empty where none is asked for."""
        heading = self._instructions.heading
        if heading is None or not self._cited:
            return ""
        lines = [f"[{number}] {_reference(document)}" for number, document in enumerate(self._cited.values(), 1)]
        return "\n\n" + heading + "\n" + "\n".join(lines)


def _reference(document: Document) -> str:
    """`Title - URL`; the key alone where it begins with the title, as that of a file does."""
    return document.key if document.key.startswith(document.title) else f"{document.title} - {document.key}"


def cite(sentence: str, mark: str) -> str:
    """The sentence with the mark before its full stop."""
    body = sentence.rstrip()
    if body.endswith(("。", "！", "？")):
        return body[:-1] + mark.lstrip() + body[-1]
    if body.endswith((".", "!", "?")) and not body.endswith("..."):
        return body[:-1] + mark + body[-1]
    return body + mark + "."


def shorten(sentence: str, limit: int = 320) -> str:
    """The sentence, cut at a word where it is longer than `limit` characters."""
    if len(sentence) <= limit:
        return sentence
    return sentence[:limit].rsplit(" ", 1)[0].rstrip(",;:") + " ..."


def pick(options: Sequence[T], *seed: object) -> T:
    """One of the options, the same for the same seed parts."""
    return options[derive(*seed) % len(options)]


def happens(percent: int, *seed: object) -> bool:
    """True for `percent` of all seeds."""
    return derive(*seed) % 100 < percent
