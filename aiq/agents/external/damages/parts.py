"""A report's parts as places in its text, and changing some of them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from random import Random
from typing import Final, TypeVar

from aiq.citations.parsing import ParsedReport

T = TypeVar("T")
Place = tuple[int, int]
Edit = tuple[int, int, str]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s\[])|(?<=[。！？])(?!\[)")
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_PHRASE: Final = re.compile(r"[A-Z][\w'’-]+(?: (?:of |the |de )?[A-Z][\w'’-]+)+")
_OPENERS: Final = re.compile(
    r"^(?:(?:In|Since|After|Before|The|A|An|By|As|At|On|For|From|With|When|While|January|February|March|April|May|June"
    r"|July|August|September|October|November|December)\s+)+"
)
_TITLE: Final = re.compile(r"^(.*?)\s*(?:[-–—:|]\s*)?(?:https?://|$)")


def chosen(items: Sequence[T], share: float, random: Random) -> list[T]:
    """So many of them, in their order; at least one where there are any and the share is not 0."""
    order = list(range(len(items)))
    random.shuffle(order)
    taken = set(order[: ceil(share * len(items) - 1e-9)])
    return [item for at, item in enumerate(items) if at in taken]


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with these places replaced; they do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def is_chinese(text: str) -> bool:
    return len(_CHINESE.findall(text)) * 4 > len(text)


def sentences(report: ParsedReport) -> list[Place]:
    """The sentences of all paragraphs, each with its citation marks."""
    found: list[Place] = []
    for start, end in report.paragraphs:
        ends = [match.span() for match in _SENTENCE_END.finditer(report.text, start, end)]
        edges = [(start, start), *ends, (end, end)]
        found += [(first, last) for (_, first), (last, _) in pairwise(edges) if report.text[first:last].strip()]
    return found


def sections(report: ParsedReport) -> list[Place]:
    """The sections below a heading, heading included, as far as they hold paragraphs and no reference list."""
    starts = [match.start() for match in _HEADING.finditer(report.text)]
    spans = pairwise([*starts, len(report.text)])
    return [
        (start, end)
        for start, end in spans
        if any(start <= at < end for at, _ in report.paragraphs)
        and not any(found.start < end and start < found.end for found in report.lists)
    ]


def names(report: ParsedReport) -> list[str]:
    """Names that the report uses: phrases in capitals, and titles of its references; in the order of the text."""
    body = "\n".join(report.text[start:end] for start, end in report.paragraphs)
    phrases = [_OPENERS.sub("", match.group()) for match in _PHRASE.finditer(body)]
    titles = [found[1].strip() for entry in report.entries if (found := _TITLE.match(entry.text)) and found[1].strip()]
    used = [title for title in titles if title in body]
    whole = [phrase for phrase in phrases if " " in phrase]
    return list(dict.fromkeys([*whole, *used]))
