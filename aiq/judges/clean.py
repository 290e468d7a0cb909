"""Taking citations out of a report by rules: the reference list, and the marks in the text.

Judges of content must not be swayed by how much is cited; the official RACE lets a model do this.
The text is only read here: the report itself is never changed.
"""

import re
from typing import Final, NamedTuple

_NAMES: Final = (
    r"references?(?: list)?|reference materials?|(?:list of )?sources?(?: cited| used| list)?|works? cited|citations?|"
    r"bibliography|endnotes|footnotes|参考文献|参考资料|参考来源|参考链接|引用来源|引用文献|引用|引文|来源|资料来源|"
    r"数据来源|信息来源|參考文獻|參考資料|資料來源|引用的著作|引用的文獻|文献|注释"
)
_NUMBERING: Final = r"(?:(?:\d+|[ivx]+|[一二三四五六七八九十]+)\\?[.、)]\s*)?"
_HEADING: Final = re.compile(
    rf"(?P<marks>#{{1,6}}\s+)?(?:\*\*|__)?{_NUMBERING}(?:{_NAMES})\s?[:：]?(?:\*\*|__)?[:：]?(?:\s#+)?", re.IGNORECASE
)
_LONGEST_HEADING: Final = 60  # characters; longer lines are never read as one
_ATX: Final = re.compile(r"(#{1,6})\s+\S")
_ENTRY: Final = re.compile(r"(?:[-*+]\s+)?(?:\[\^?\d{1,4}\]|【\d{1,4}】|\d{1,4}\\?[.)、])")
_BRACKETED: Final = re.compile(r"(?:[-*+]\s+)?\[\^?\d{1,4}\]")
_RULE: Final = re.compile(r"(?:-{3,}|\*{3,}|_{3,})")

_CODE: Final = re.compile(r"^(?P<mark>`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^(?P=mark)|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_NUMBERS: Final = r"\^?\d{1,4}(?:\s*[,，;、–-]\s*\^?\d{1,4})*"
_TARGET: Final = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)"
_MARKS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), kept)
    for pattern, kept in (
        (rf"[ \t]?\[\[{_NUMBERS}\]\](?:{_TARGET})?", ""),  # [[1]](url)
        (rf"[ \t]?\[{_NUMBERS}\](?:{_TARGET})?", ""),  # [1]  [1, 3]  [1-3]  [^1]  [1](url)
        (r"[ \t]?【\d{1,4}(?:[†:：][^】\n]{0,80})?】", ""),  # 【1†L3-L9】
        (r"[ \t]?<sup>[\s\[\]\d,]+</sup>", ""),
        (rf"!?\[([^\[\]\n]*)\]{_TARGET}", r"\1"),  # [words](url) keeps its words
        (r"[ \t]?[(（](?:source|来源|see|via)?\s*[:：]?\s*<?https?://[^\s)）]*>?\s*[)）]", ""),
        (r"[ \t]?<?https?://[^\s<>)\]，。；）】]+>?", ""),
        # "inheritance.1 This": a raised number that lost its raising; "Fig.1" and "v1.2" stay
        (
            r"(?<=[a-z)\"”])(?<!\bfig)(?<!\bno)(?<!\bvol)(?<!\bsec)(?<!\beq)([.,;])\d{1,3}(?:,\s?\d{1,3})*(?=\s|$)",
            r"\1",
        ),
    )
)


class Parts(NamedTuple):
    """A report's text without its reference lists, and the lists."""

    body: str
    references: str


def split_references(text: str) -> Parts:
    """Cut out each section that is headed as a reference list and holds entries, and a bare list at the end."""
    body: list[str] = []
    lists: list[str] = []
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        end = _list_end(lines, position)
        if end is None:
            body.append(lines[position])
            position += 1
        else:
            lists += lines[position + 1 : end]
            position = end
    tail = _bare_list_start(body)
    lists += body[tail:]
    del body[tail:]
    while body and (not body[-1].strip() or _RULE.fullmatch(body[-1].strip())):
        body.pop()
    return Parts("\n".join(body).strip(), "\n".join(line for line in lists if line.strip()))


def _list_end(lines: list[str], start: int) -> int | None:
    """The line after the reference list that is headed at `start`; None where none is."""
    line = lines[start].strip()
    heading = _HEADING.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
    if heading is None:
        return None
    level = len((heading["marks"] or "######").strip())
    end = start + 1
    while end < len(lines) and not ((other := _ATX.match(lines[end])) and len(other[1]) <= level):
        end += 1
    return end if any(_is_entry(other) for other in lines[start + 1 : end]) else None


def _is_entry(line: str) -> bool:
    return "http://" in line or "https://" in line or _ENTRY.match(line.strip()) is not None


def _bare_list_start(lines: list[str]) -> int:
    """Where a list of `[n] ...` lines without a heading begins at the end of the text; its length where none does."""
    start = found = len(lines)
    while start > 0:
        line = lines[start - 1].strip()
        if line and not _BRACKETED.match(line):
            break
        start -= 1
        found = start if line else found
    return found


def without_references(text: str) -> str:
    """The report without its reference list; marks in the text stay."""
    return split_references(text).body


def without_citations(text: str) -> str:
    """The report without reference list, citation marks and link targets; code stays as it is."""
    body = without_references(text)
    cleaned, position = [], 0
    for code in _CODE.finditer(body):
        cleaned += [unmarked(body[position : code.start()]), code.group()]
        position = code.end()
    return "".join([*cleaned, unmarked(body[position:])]).strip()


def unmarked(text: str) -> str:
    """The text without citation marks and link targets."""
    for pattern, kept in _MARKS:
        text = pattern.sub(kept, text)
    return text
