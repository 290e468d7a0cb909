"""A report taken apart for judging: its prose with each citation reduced to a pin, and its reference lists.

Judges of content must not be swayed by how much is cited, so they read the prose without pins (the
official RACE lets a model take citations out); FACT reads which sentence carries which pin. What is
a mark, a list or a URL is decided by `aiq.citations.parsing`; the report itself is never changed.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from aiq.citations.body import cut, lists_of, trimmed
from aiq.citations.links import UrlUse
from aiq.citations.marks import Mark
from aiq.citations.parsing import ParsedReport, parse_report

_PIN: Final = re.compile("\ue000(\\d+)\ue001")
_PRIVATE: Final = str.maketrans("\ue000\ue001", "\ufffd\ufffd")
_BRACKETED: Final = re.compile(
    f"[ \t]?[(（][ \t]?(?:(?:source|sources|see|via|来源)[:： ]*)?((?:{_PIN.pattern}[,，; ]*)+)[)）]", re.IGNORECASE
)
_SPACE_BEFORE: Final = re.compile("[ \t](?=\ue000)")


class Cite(NamedTuple):
    """One thing that a place in the report cites: its number and URL, as far as the report gives them."""

    number: int | None
    url: str | None


class Prose(NamedTuple):
    """Prose with pins; the n-th pin stands for `cites[n]`. `references` are the lists' entries as written."""

    pinned: str
    cites: tuple[tuple[Cite, ...], ...]
    references: str

    @property
    def plain(self) -> str:
        """The prose without any trace of a citation."""
        return unpinned(self.pinned)


def unpinned(text: str) -> str:
    """The text without its pins."""
    return _PIN.sub("", text)


def pins(text: str) -> list[int]:
    """The numbers of the pins in a text, in order."""
    return [int(number) for number in _PIN.findall(text)]


def without_citations(text: str) -> str:
    """The report without reference lists, citation marks and link targets; code stays as it is."""
    return read_prose(text).plain


def read_prose(text: str) -> Prose:
    """The report's prose and what it cites where."""
    parsed = parse_report(text.translate(_PRIVATE))
    listed: dict[int, str] = {}
    for entry in parsed.entries:
        if entry.urls:
            listed.setdefault(entry.number, entry.urls[0].url)
    cites: list[tuple[Cite, ...]] = []
    edits = [(found.start, found.end, "") for found in parsed.lists]
    for start, end, kept, cited in _places(parsed, listed):
        edits.append((start, end, f"{kept}\ue000{len(cites)}\ue001"))
        cites.append(cited)
    pinned = _BRACKETED.sub(r"\1", cut(parsed.text, edits))
    return Prose(trimmed(_SPACE_BEFORE.sub("", pinned)), tuple(cites), lists_of(parsed))


def _places(parsed: ParsedReport, listed: dict[int, str]) -> Iterator[tuple[int, int, str, tuple[Cite, ...]]]:
    """Every citing place outside the lists: where it is, what stays of it, and what it cites."""
    uses: list[Mark | UrlUse] = sorted([*parsed.marks, *parsed.body_urls], key=lambda use: use.start)
    for use in uses:
        if isinstance(use, UrlUse):
            yield use.start, use.end, parsed.text[slice(*use.label)], (Cite(None, use.url),)
        elif use.url is not None:
            yield use.start, use.end, "", (Cite(use.numbers[0], parsed.text[slice(*use.url)]),)
        else:
            yield use.start, use.end, "", tuple(Cite(number, listed.get(number)) for number in use.numbers)
