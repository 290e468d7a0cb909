"""What one line is to a reference list: an entry's first line, or more of an entry.

Looks at single lines only; `aiq.citations.reference_list` puts them together. Titles of lists are
known by `aiq.citations.titles`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from aiq.citations.marks import NAMES
from aiq.citations.numerals import CIRCLED, RAISED, value

Family = Literal["table", "titled", "bracket", "ordered", "circled", "named", "bullet", "spaced", "row", "plain"]

_TAG = r"(?:<(?!sup>|[a-z+]+:)[a-z/][^<>\n]{0,200}>[ \t]*)*"
_LEAD = rf"[ \t>]*{_TAG}"
_BULLET = r"[-*+•·–◦▪●○■‣∙]"
_OPEN = r"(?:\\?[\[【［〔(（〈]){1,2}|<sup>|\^"
_CLOSE = r"(?:\\?[\]】］〕)）〉]){1,2}|</sup>|\^"
_STRONG = r"(?:\*{1,3}|__?|`)?"
_NAME = rf"(?:{NAMES}|注)"
FAMILIES: dict[Family, re.Pattern[str]] = {
    "table": re.compile(rf"{_LEAD}\|[ \t]*(?P<mark>(?:\\?\[)?\^?(?P<n>\d{{1,3}})(?:\\?\])?)[ \t]*\|"),
    "titled": re.compile(
        r"[ \t>]*#{2,6}[ \t]+"
        r"(?P<mark>\*{0,2}(?:\\?[\[【(]\^?(?P<n>\d{1,3})\\?[\]】)][:：.]?|(?P<m>\d{1,3})[.)、:：])\*{0,2})(?=[ \t]*\S)"
    ),
    "bracket": re.compile(
        rf"{_LEAD}(?:{_BULLET}[ \t]+)?(?P<mark>{_STRONG}(?:{_OPEN})\^?(?:{_NAME}?[ ]?[:：]?[ ]?)(?P<n>\d{{1,4}})[ ]?\^?"
        rf"(?:†[^\]】\n]{{0,40}})?(?:{_CLOSE}){_STRONG}[:：.]?{_STRONG})",
        re.IGNORECASE,
    ),
    "ordered": re.compile(
        rf"{_LEAD}(?P<mark>{_STRONG}(?P<n>\d{{1,3}})"
        rf"(?:{_STRONG}(?:\\?[.)）．、]|[:：，]){_STRONG}|(?:\*\*|__)(?=[ \t])))"
        r"(?:[ \t]+|(?=[^\s\d])|\Z)"
    ),
    "circled": re.compile(
        rf"{_LEAD}(?:{_BULLET}[ \t]+)?(?P<mark>(?P<n>[{CIRCLED}]|[{RAISED}]{{1,3}})[.、:：]?)[ \t]*(?=\S)"
    ),
    "named": re.compile(
        rf"{_LEAD}(?:{_BULLET}[ \t]+)?"
        rf"(?P<mark>{_STRONG}{_NAME}[ ]?#?(?P<n>\d{{1,3}}){_STRONG}[ ]?[:：.、)-]{_STRONG})(?=[ \t]*\S)",
        re.IGNORECASE,
    ),
    "bullet": re.compile(
        rf"[ \t>]*(?:<[ou]l\b[^<>\n]*>[ \t]*)*(?P<mark>{_BULLET}(?=[ \t])|<li\b[^<>]*>)[ \t]*(?=\S)", re.IGNORECASE
    ),
    "spaced": re.compile(r"[ \t>]*(?P<mark>(?P<n>\d{1,3})(?:[ \t]+[-–—|])?)[ \t]+(?=\S)"),
    "row": re.compile(r"[ \t>]*(?P<mark>\|)[ \t]*(?=[^\s|:-])"),
    "plain": re.compile(r"(?=(?P<mark>)\S)"),
}
"""The forms of an entry's first line, in the order they are tried; `n` is the number."""
UNNUMBERED: frozenset[Family] = frozenset({"bullet", "row", "plain"})
"""The forms that count by position."""

_TARGET = re.compile(
    r"[a-z]://|www\.|\b(?:java|vb)script:|\bdata:\w|\bdoi\b|arxiv"
    r"|\.(?:pdf|docx?|pptx?|xlsx?|csv|txt|md|html?|json)\b",
    re.IGNORECASE,
)
_AFTERTHOUGHT = re.compile(
    r"\s*(?:urls?\b|links?\b|doi\b|available\b|accessed\b|access date|retrieved\b|published\b|visited\b|<?https?:|\("
    r"|访问|訪問|检索|檢索|发布|發布|链接|連結|网址|網址|閲覧|アクセス|접속|abgerufen|consulté|consultado)",
    re.IGNORECASE,
)
_URL_REST = re.compile(r"[ \t>]*(?!\d{4}[-/.]\d|[\w.+-]+://|www\.)[\w/%?&=#~+.-][^\s<>\"`]*[ \t]*$")
_URL_MARKS = re.compile(r"[/=&%?_#]|-.*-|\.\w{2,5}\W?$|^[.-]")
_RULE = re.compile(r"[ \t>]*(?:-[ \t]*){3,}$|[ \t>]*(?:\*[ \t]*){3,}$|[ \t>]*(?:_[ \t]*){3,}$")


@dataclass(frozen=True, slots=True)
class EntryStart:
    """An entry's first line: its number (0 where it has none), where that stands, and its mark's begin and end."""

    family: Family
    number: int
    number_span: tuple[int, int] | None
    mark: tuple[int, int]


def entry_start(text: str, start: int, end: int, family: Family | None = None) -> EntryStart | None:
    """Read the line `start:end` of a text as the first of an entry, of this family or of any but `plain`."""
    for name in [family] if family else FAMILIES:
        match = FAMILIES[name].match(text, start, end) if family or name != "plain" else None
        if match:
            groups = match.groupdict()
            group = next((group for group in ("n", "m") if groups.get(group)), None)
            return EntryStart(
                family=name,
                number=value(match[group]) if group else 0,
                number_span=match.span(group) if group else None,
                mark=match.span("mark"),
            )
    return None


def target_in(text: str, start: int = 0, end: int | None = None) -> int | None:
    """Where in this stretch something begins that can be looked up: a URL, a DOI, a file."""
    found = _TARGET.search(text, start, len(text) if end is None else end)
    return found.start() if found else None


def is_afterthought(line: str) -> bool:
    """Whether a line reads as more of an entry: `URL: ...`, `Accessed 2025-01-01`, `(in German)`."""
    return _AFTERTHOUGHT.match(line) is not None


def is_url_rest(line: str) -> bool:
    """Whether a line looks like the rest of a URL that was wrapped: one word with a URL's punctuation."""
    return _URL_REST.match(line) is not None and _URL_MARKS.search(line.strip(" \t>")) is not None


def is_label(line: str) -> bool:
    """Whether a line names a part of a list: bold as a whole, or with a colon at its end."""
    words = line.strip(" \t>")
    bold = len(words) > 4 and words[:2] == words[-2:] and words[:2] in ("**", "__")
    return len(words) < 100 and (bold or words.endswith((":", "：", ":**", "：**")))


def is_rule(line: str) -> bool:
    """Whether a line is a thematic break."""
    return _RULE.match(line) is not None
