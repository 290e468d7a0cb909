"""What one line is to a reference list: its heading, an entry's first line, or more of an entry.

Looks at single lines only; `aiq.citations.reference_list` puts them together.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from aiq.citations.rules import rules

Family = Literal["table", "bracket", "ordered", "bullet"]

_LEAD = r"[ \t>]*"
_OPEN = r"(?:\\?[\[【［〔(（]){1,2}|<sup>"
_CLOSE = r"(?:\\?[\]】］〕)）]){1,2}|</sup>"
FAMILIES: dict[Family, re.Pattern[str]] = {
    "table": re.compile(rf"{_LEAD}\|[ \t]*(?P<mark>(?:\\?\[)?\^?(?P<n>\d{{1,3}})(?:\\?\])?)[ \t]*\|"),
    "bracket": re.compile(
        rf"{_LEAD}(?:[-*+•·–][ \t]+)?(?P<mark>(?:\*\*|__)?(?:{_OPEN})\^?(?:citation:)?[ ]?(?P<n>\d{{1,4}})[ ]?"
        rf"(?:†[^\]】\n]{{0,40}})?(?:{_CLOSE})(?:\*\*|__)?[:：.]?(?:\*\*|__)?)"
    ),
    "ordered": re.compile(
        rf"{_LEAD}(?P<mark>(?:\*\*)?(?P<n>\d{{1,3}})(?:\\?[.)）．、]|[:：])(?:\*\*)?)(?:[ \t]+|(?=[^\s\d]))"
    ),
    "bullet": re.compile(rf"{_LEAD}(?P<mark>[-*+•·–])[ \t]+(?=\S)"),
}
"""The forms of an entry's first line, in the order they are tried; `n` is the number."""

_TARGET = re.compile(
    r"[a-z][a-z0-9+.-]+://|www\.|\b(?:java|vb)script:|\bdata:\w|\bdoi\b|arxiv"
    r"|\.(?:pdf|docx?|pptx?|xlsx?|csv|txt|md|html?|json)\b",
    re.IGNORECASE,
)
_AFTERTHOUGHT = re.compile(
    r"\s*(?:urls?\b|links?\b|doi\b|available\b|accessed\b|access date|retrieved\b|published\b|visited\b|<?https?:|\("
    r"|访问|訪問|检索|檢索|发布|發布|链接|連結|网址|網址|閲覧|アクセス|접속|abgerufen|consulté|consultado)",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"(?:\d+(?:\.\d+)*|[ivxlc]+|第?[一二三四五六七八九十百]+[章节節]?|[a-z])\s*[.、)）:．]\s*|\d+\s+", re.IGNORECASE
)
_TAIL = re.compile(r"\s*(?:\([^()]*\)|(?:and|&|und|et|y|/|与|及|和|與)\s*[\w\s]{1,40}|cited|used|consulted)$")
_RULE = re.compile(r"[ \t>]*(?:-[ \t]*){3,}$|[ \t>]*(?:\*[ \t]*){3,}$|[ \t>]*(?:_[ \t]*){3,}$")


@dataclass(frozen=True, slots=True)
class EntryStart:
    """An entry's first line: its number (0 for a bullet), where that stands, and where its mark begins and ends."""

    family: Family
    number: int
    number_span: tuple[int, int] | None
    mark: tuple[int, int]


def entry_start(text: str, start: int, end: int, family: Family | None = None) -> EntryStart | None:
    """Read the line `start:end` of a text as the first of an entry, of this family or of any."""
    for name in [family] if family else FAMILIES:
        match = FAMILIES[name].match(text, start, end)
        if match:
            number = match["n"] if name != "bullet" else None
            return EntryStart(
                family=name,
                number=int(number) if number else 0,
                number_span=match.span("n") if number else None,
                mark=match.span("mark"),
            )
    return None


def is_heading(line: str) -> bool:
    """Whether a line says no more than `References`, in one of the table's languages, however marked up."""
    return not _titles(line).isdisjoint(rules().headings)


def is_weak_heading(line: str) -> bool:
    """Whether a line says `Notes` or the like, under which references may stand."""
    return not _titles(line).isdisjoint(rules().weak_headings)


def _titles(line: str) -> set[str]:
    """What a heading may mean: its words, without numbering, without what stands behind them."""
    if len(line) > 100:
        return set()
    words = unicodedata.normalize("NFKC", line).lower().strip("#*_>=~:-—–[]|. \t")
    while words and not words[0].isalnum():
        words = words[1:]
    titles = {words.strip(), _NUMBERING.sub("", words, count=1).strip("*_ ")}
    return titles | {_TAIL.sub("", title).strip("*_: ") for title in titles}


def has_target(text: str) -> bool:
    """Whether something in the text can be looked up: a URL, a DOI, a file."""
    return _TARGET.search(text) is not None


def is_afterthought(line: str) -> bool:
    """Whether a line reads as more of an entry: `URL: ...`, `Accessed 2025-01-01`, `(in German)`."""
    return _AFTERTHOUGHT.match(line) is not None


def is_url_rest(line: str) -> bool:
    """Whether a line looks like the rest of a URL that was wrapped: one word with a URL's punctuation."""
    words = line.split()
    return len(words) == 1 and any(c in "/-_.?=&%" for c in words[0][:-1])


def is_label(line: str) -> bool:
    """Whether a line names a part of a list: bold as a whole, or with a colon at its end."""
    words = line.strip(" \t>")
    bold = len(words) > 4 and words[:2] == words[-2:] and words[:2] in ("**", "__")
    return len(words) < 100 and (bold or words.endswith((":", "：", ":**", "：**")))


def is_rule(line: str) -> bool:
    """Whether a line is a thematic break."""
    return _RULE.match(line) is not None
