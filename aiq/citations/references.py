"""Finds a report's reference lists: title, entries with their numbers, and where the list ends.

Works on lines, because models write lists that Markdown sees as one paragraph. What stands in an
entry's text is read by `aiq.citations.parse`, how far a list goes by `aiq.citations.references`.

What one line is to a reference list: an entry's first line, or more of an entry.

Looks at single lines only; `aiq.citations.references` puts them together. Titles of lists are
known by `aiq.citations.references`.

Reads the entries that begin in one line of a reference list: mostly one, where line breaks were lost several.

Says whether a line is the title of a reference list, in any of the languages of `titles.toml`, however marked up.

A report's lines as its reference lists see them; each fact about a line is found once.

What the forms of an entry are stands in `aiq.citations.references`.

Follows a reference list from its first entry: which lines are entries, which are more of one, and where it ends.
"""

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Literal

from aiq.citations.markdown import Markdown
from aiq.citations.marks import CIRCLED, NAMES, RAISED, value
from aiq.core.base import Record

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


_TAGS = r"(?=(?:<[a-z][^<>\n]{0,200}>[ \t]*){0,4}"
_GAP = rf"(?:[ \t;；]|(?<=[,，。、.>)）])|(?=<)){_TAGS}"
_GAP_OF_FIGURES = rf"(?:[ \t;；]|(?<=[，。、>）])|(?=<)){_TAGS}"
"""Before a number without brackets, which in `https://e.com/v1.2. More` is the URL's."""
_NEXT_IN_LINE: dict[Family, re.Pattern[str]] = {
    "bracket": re.compile(
        rf"{_GAP}(?P<mark>(?:\*\*|__)?\\?(?P<style>[\[【［〔(（])\^?(?P<n>\d{{1,3}})\\?[\]】］〕)）](?:\*\*|__)?)"
        r"(?!\s*[.,;)\]。，；、）】]))",
        re.IGNORECASE,
    ),
    "ordered": re.compile(
        rf"{_GAP_OF_FIGURES}(?P<mark>(?P<n>\d{{1,3}})(?P<style>[.)](?=[ \t])|[、．])))", re.IGNORECASE
    ),
    "circled": re.compile(rf"{_GAP}(?P<mark>(?P<n>[{CIRCLED}])(?P<style>)))", re.IGNORECASE),
    "bullet": re.compile(r"(?=(?P<mark>(?P<style><li)\b[^<>]*>)(?P<n>))", re.IGNORECASE),
}
"""A further entry in a line of this form: what parts it from the one before, its mark, and how that is written."""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry `start:end`: whole lines, or a stretch of a line that holds several.

    `number_span` is where its number stands, None where the list does not number itself; `body` is
    where the text behind the number begins. `names_target` says whether there is something to look up in it.
    """

    number: int
    start: int
    end: int
    body: int
    number_span: tuple[int, int] | None
    names_target: bool = True


def entries_in_line(text: str, start: EntryStart, line: tuple[int, int]) -> list[ListedEntry]:
    """The entries of one line: `[1] A - url [2] B - url` holds two, `<li>A url</li><li>B url</li>` too."""
    begin = start.mark[1]
    line = _within_html_list(text, start, line)
    ahead = target_in(text, begin, line[1])
    found = [ListedEntry(start.number, line[0], line[1], begin, start.number_span, ahead is not None)]
    pattern = _NEXT_IN_LINE.get(start.family)
    if pattern is None or ahead is None:
        return found
    style, named = text[slice(*start.mark)].lower(), ahead  # `named` is what the entry at hand names
    for match in pattern.finditer(text, begin, line[1]):
        body = match.end("mark")
        if match.start() < named or match["style"].lower() not in style:
            continue
        if ahead is not None and ahead < body:
            ahead = target_in(text, body, line[1])
        if not _begins_next(text, match, found[-1].number, names_target=ahead is not None):
            continue
        found[-1] = replace(found[-1], end=match.start())
        span = match.span("n") if match["n"] else None
        number = value(match["n"]) if match["n"] else 0
        found.append(ListedEntry(number, match.end(), line[1], body, span, ahead is not None))
        if ahead is None:
            break
        named = ahead
    return found


def _begins_next(text: str, match: re.Match[str], current: int, *, names_target: bool) -> bool:
    """Whether a number within a line begins the next entry, and is not one that the entry at hand cites."""
    if not match["n"]:
        return names_target
    number = value(match["n"])
    if number == current + 1 and names_target:
        return True
    apart = match.end() > match.start() and text[match.end("mark") : match.end("mark") + 1] in (" ", "\t", ":")
    return match["style"] in ("[", "【", "［") and number > current and apart


def _within_html_list(text: str, start: EntryStart, line: tuple[int, int]) -> tuple[int, int]:
    """A line without the tags of the list around its items, which are of no entry."""
    first, end = line
    if "<li" not in text[slice(*start.mark)].lower():
        return line
    end = first + len(text[first:end].rstrip())
    closed = text.endswith(("</ol>", "</ul>"), first, end)
    return start.mark[0], end - len("</ol>") if closed else line[1]


Strength = Literal["strong", "weak"]

_LONGEST = 100
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|\]\([^()]*\)|\\[a-z]+\*?\{?")
_NUMBERING = re.compile(
    r"[\W_]*(?:(?:appendix|annexe?|anhang|anexo|附录|附錄|part|section|chapter)\s*[a-z0-9一二三四五六七八九十]?\s*[:：.、\s-]"
    r"|第?\s*(?:\d{1,3}(?:\.\d{1,3})*|[一二三四五六七八九十百]{1,4})\s*(?:章|节|節|部分|部|장|[.、):]|(?=\s)|$)"
    r"|[ivxlc]{1,6}\s*[.、):]|[a-z][.、):]|\d{1,3}(?=[^\W\d]))\s*"
)
_BEHIND = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|\d{1,4})[\W_]*$")
_AND_MORE = re.compile(r"\s*(?:\b(?:and|und|et|y)\b|[&/]|[与及和與])\s*[\w\s]{1,40}$")


class _Words(Record):
    strong: frozenset[str]
    weak: frozenset[str]
    beside: frozenset[str]


def title_strength(line: str) -> Strength | None:
    """`strong` for `References`, `weak` for `Notes` (other things stand there too), None for any other line."""
    if len(line) > _LONGEST or not line.strip(" \t>-=|"):
        return None
    words = _MARKUP.sub(" ", unicodedata.normalize("NFKC", line).lower()).strip()
    meanings = [words, _NUMBERING.sub("", words, count=1)]
    meanings += [_BEHIND.sub("", meaning) for meaning in dict.fromkeys(meanings)]
    meanings += [_AND_MORE.sub("", meaning) for meaning in dict.fromkeys(meanings)]
    found = {_strength(meaning) for meaning in dict.fromkeys(meanings)}
    return "strong" if "strong" in found else "weak" if "weak" in found else None


def _strength(words: str) -> Strength | None:
    """Of a title made of the table's words only; a word of several weighs before the words in it."""
    table, pattern = _words()
    found: list[str] = []
    at = 0
    while at < len(words):
        word = pattern.match(words, at)
        if word is None:
            return None
        found.append(word[1] or "")
        at = word.end()
    if table.strong.isdisjoint(found):
        return None if table.weak.isdisjoint(found) else "weak"
    return "strong"


@cache
def _words() -> tuple[_Words, re.Pattern[str]]:
    """The table, and a pattern for its next word, the longest first, with what is no word around it."""
    table = _Words.model_validate(tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8")))
    words = sorted(table.strong | table.weak | table.beside, key=lambda word: (-len(word), word))
    spelled = (re.escape(word) + (r"(?![^\W\d_])" if _has_blanks(word[-1]) else "") for word in words)
    return table, re.compile(rf"[\W_]*(?:({'|'.join(spelled)})[\W_]*|$)")


def _has_blanks(letter: str) -> bool:
    """Whether words in this letter's script are set apart: Chinese and Japanese are not, Korean adds particles."""
    return letter < "\u1100"


_NEAR = 4
"""Lines in which what an entry names must begin."""


class ListLines:
    """Lines by number, with what Markdown says of them."""

    def __init__(self, markdown: Markdown) -> None:
        self.text = markdown.text
        self.spans = markdown.lines
        self.levels = {heading.first: heading.level for heading in markdown.headings}
        self.fenced: set[int] = set()
        for start, end in markdown.fences:
            self.fenced.update(range(markdown.line_at(start), markdown.line_at(end) + 1))
        self._targets: dict[int, bool] = {}
        self._starts: dict[tuple[int, Family | None], EntryStart | None] = {}
        self._titles: dict[int, Strength | None] = {}

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def _blank(self) -> list[bool]:
        return [not self.text[start:end].strip(" \t>") for start, end in self.spans]

    def line(self, number: int) -> str:
        """The line without its break."""
        return self.text[slice(*self.spans[number])]

    def blank(self, number: int) -> bool:
        """Whether nothing stands in the line, but for marks of quotation."""
        return self._blank[number]

    def indent(self, number: int) -> int:
        """Blanks and marks of quotation before the line's text."""
        line = self.line(number)
        return len(line) - len(line.lstrip(" \t>"))

    def target(self, number: int) -> bool:
        """Whether the line has something to look up."""
        if number not in self._targets:
            self._targets[number] = target_in(self.text, *self.spans[number]) is not None
        return self._targets[number]

    def title(self, number: int) -> Strength | None:
        """Whether the line is the title of a list; in code it is none."""
        if number not in self._titles:
            self._titles[number] = None if number in self.fenced else title_strength(self.line(number))
        return self._titles[number]

    def start(self, number: int, family: Family | None = None) -> EntryStart | None:
        """The line as the first of an entry, of this form or of any."""
        if (number, family) not in self._starts:
            self._starts[number, family] = entry_start(self.text, *self.spans[number], family)
        return self._starts[number, family]

    def ends_list(self, number: int) -> bool:
        """Whether nothing of a list above can stand here: code, a rule, another list's title."""
        return number in self.fenced or is_rule(self.line(number)) or self.title(number) == "strong"

    def below(self, number: int, most: int) -> list[int]:
        """The next lines with text behind this one, of at most so many lines."""
        return [n for n in range(number + 1, min(number + 1 + most, len(self))) if not self.blank(n)]

    def target_near(self, number: int, family: Family) -> bool:
        """Whether the entry that begins in this line has a target in its first lines."""
        if self.target(number):
            return True
        for below in self.below(number, _NEAR):
            if below in self.levels or self.ends_list(below):
                return False
            if self.start(below, family) and (
                family not in UNNUMBERED or self.indent(below) <= self.indent(number) + 1
            ):
                return False
            if self.target(below):
                return True
        return False


_CITES = re.compile(r"[\[【]\^?\d")
_FAR = 6
"""Lines to look ahead for what an entry lacks."""
_REMARK = 4
"""Lines to look ahead for the next entry, over what is said about this one."""


def entries_from(
    lines: ListLines, first: int, family: Family, level: int | None = None
) -> tuple[int, list[ListedEntry]]:
    """Entries from line `first` on, and the last line that is theirs.

    `level` is that of the heading above, 0 for another title; without a title (None) no text may stand between entries.
    """
    follower = _Follower(lines, family, level)
    for number in range(first, len(lines)):
        if not lines.blank(number) and not follower.takes(number):
            break
    return follower.last, _numbered(follower.entries, family)


class _Follower:
    """A list as far as it has been read; asked line by line whether it goes on."""

    def __init__(self, lines: ListLines, family: Family, level: int | None) -> None:
        self.entries: list[ListedEntry] = []
        self.last = -1
        self._lines = lines
        self._family = family
        self._level = level
        self._indent = 0

    def takes(self, number: int) -> bool:
        """Whether this line belongs to the list; if so it is added."""
        if number in self._lines.fenced:
            return False
        start = self._lines.start(number, self._family)
        if start is not None and self._begins_entry(start, number):
            if not self.entries:
                self._indent = self._lines.indent(number)
            elif self._restarts(start, number):
                return False
            self.entries += self._entries_in(start, number)
        elif not self.entries:
            return False
        elif self._continues(number) or self._goes_on_below(number):
            target = self.entries[-1].names_target or self._lines.target(number)
            self.entries[-1] = replace(self.entries[-1], end=self._lines.spans[number][1], names_target=target)
        else:
            return self._labels_more(number)
        self.last = number
        return True

    def _begins_entry(self, start: EntryStart, number: int) -> bool:
        """Items of a list within an entry are none; lines without a mark are entries if they name a target."""
        if not self.entries:
            return True
        if self._family == "plain":
            adjacent = number == self.last + 1 and (
                is_afterthought(self._lines.line(number)) or is_url_rest(self._lines.line(number))
            )
            heading = number in self._lines.levels or self._lines.ends_list(number)
            return self._lines.target(number) and not adjacent and not heading
        if self._family == "spaced" and start.number <= self.entries[-1].number:
            return False
        nested = self._family in ("ordered", "bullet") and self._lines.indent(number) > self._indent + 1
        return not nested

    def _restarts(self, start: EntryStart, number: int) -> bool:
        """Whether a numbered line behind a blank belongs to another list: `1. Method one` after the sources."""
        if start.number_span is None or number == self.last + 1:
            return False
        return start.number <= self.entries[-1].number and not self._lines.target_near(number, self._family)

    def _entries_in(self, start: EntryStart, number: int) -> list[ListedEntry]:
        """The entries of a line; a number in it that the next entry's line has again was only cited."""
        line = self._lines.spans[number]
        found = entries_in_line(self._lines.text, start, line)
        if len(found) == 1:
            return found
        following = (self._lines.start(below, self._family) for below in self._lines.below(number, _FAR))
        after = next((below.number for below in following if below is not None), 0)
        again = next((at for at, entry in enumerate(found) if at and entry.number == after), len(found))
        return [*found[: again - 1], replace(found[again - 1], end=line[1])] if after else found

    def _continues(self, number: int) -> bool:
        """Whether a line that starts no entry is more of the one above it."""
        line = self._lines.line(number)
        if number in self._lines.levels or self._lines.ends_list(number):
            return False
        indented = line.startswith(("  ", "\t"))
        adjacent = number == self.last + 1
        if self.entries[-1].names_target:
            return indented or (adjacent and (is_afterthought(line) or is_url_rest(line)))
        if not adjacent:
            return self._lines.target(number) and (indented or is_afterthought(line) or is_url_rest(line))
        return self._target_ahead(number)

    def _target_ahead(self, number: int) -> bool:
        """Whether this line or one right below it, before the next entry, has what the entry lacks."""
        for ahead in range(number, min(number + _FAR, len(self._lines))):
            if self._lines.blank(ahead) or ahead in self._lines.levels or self._lines.start(ahead, "bracket"):
                return False
            if self._lines.target(ahead):
                return True
        return False

    def _goes_on_below(self, number: int) -> bool:
        """Whether this is a remark between two entries: the one with the next number follows soon."""
        if self._family in UNNUMBERED or self._level is None or _CITES.search(self._lines.line(number)):
            return False
        for ahead in [number, *self._lines.below(number, _REMARK)]:
            deeper = self._family == "titled" and self._lines.start(ahead, "titled")
            if (ahead in self._lines.levels and not deeper) or self._lines.ends_list(ahead):
                return False
            start = self._lines.start(ahead, self._family)
            if start is not None and ahead > number:
                follows = start.number == self.entries[-1].number + 1
                return follows and self._lines.target_near(ahead, self._family)
        return False

    def _labels_more(self, number: int) -> bool:
        """Whether a line parts the list or names a further part of it, because entries go on below it."""
        rule = is_rule(self._lines.line(number))
        if self._lines.ends_list(number) and not rule:
            return False
        deeper = 0 < (self._level or 0) < self._lines.levels.get(number, 0)
        if not (deeper or rule) and (number in self._lines.levels or not is_label(self._lines.line(number))):
            return False
        below = next((n for n in self._lines.below(number, _FAR) if not is_rule(self._lines.line(n))), None)
        start = self._lines.start(below, self._family) if below is not None else None
        if below is None or start is None or not self._lines.target_near(below, self._family):
            return False
        if rule:
            return start.number_span is not None and start.number == self.entries[-1].number + 1
        return start.number_span is None or start.number > self.entries[-1].number


def _numbered(entries: list[ListedEntry], family: Family) -> list[ListedEntry]:
    """Bullets, and Markdown lists that say `1.` throughout, count by position."""
    same = family == "ordered" and len(entries) > 1 and len({entry.number for entry in entries}) == 1
    if family not in UNNUMBERED and not same:
        return entries
    return [replace(entry, number=n, number_span=None) for n, entry in enumerate(entries, 1)]


_FIRST_ENTRY_WITHIN = 8
"""Lines to look ahead from a title to the first entry."""
_INTRODUCTION = 3
"""Lines of text that may stand between a heading and the first entry."""
_COLON_WITHIN = 40


@dataclass(frozen=True, slots=True)
class ReferenceList:
    """A list `start:end` from its title (or first entry, where it has none) to its last entry."""

    start: int
    end: int
    entries: tuple[ListedEntry, ...]


def reference_lists(markdown: Markdown) -> tuple[ReferenceList, ...]:
    """Every list under a title and every run of footnotes; without any, a list in its title's line or without title.

    A list that names nothing to look up (a bibliography in prose) counts only where no other does,
    a list without numbers only where none has them.
    """
    reader = _ListReader(ListLines(markdown))
    lists = list(reader.titled())
    lists = sorted([*lists, *reader.footnotes(lists)], key=lambda found: found.start)
    lists = lists or list(reader.behind_colon()) or list(reader.headless())
    lists = [found for found in lists if any(entry.names_target for entry in found.entries)] or lists
    return tuple([found for found in lists if found.entries[0].number_span] or lists)


class _ListReader:
    def __init__(self, lines: ListLines) -> None:
        self._lines = lines

    def titled(self) -> Iterator[ReferenceList]:
        number = 0
        while number < len(self._lines):
            last, entries = self._below_title(number)
            if entries:
                yield ReferenceList(self._lines.spans[number][0], entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def headless(self) -> Iterator[ReferenceList]:
        """A run of `[1] Title - URL` lines, numbered upwards, with nothing but blanks behind it."""
        lines = self._lines
        first = len(lines)
        for number in range(len(lines) - 1, -1, -1):
            if lines.blank(number):
                continue
            start = lines.start(number, "bracket") if number not in lines.fenced | lines.levels.keys() else None
            if start is None or lines.text[start.mark[0]] in "(（" or not lines.target(number):
                break
            first = number
        entries = entries_from(lines, first, "bracket")[1] if first < len(lines) else []
        numbers = [entry.number for entry in entries]
        if len(entries) > 1 and numbers == sorted(set(numbers)):
            yield ReferenceList(entries[0].start, entries[-1].end, tuple(entries))

    def footnotes(self, taken: Sequence[ReferenceList]) -> Iterator[ReferenceList]:
        """Runs of `[^1]: ...` and `[1]: https://...`, wherever they stand outside the lists found."""
        lines, number = self._lines, 0
        begins = [found.start for found in taken]
        while number < len(lines):
            start, last = lines.spans[number][0], number
            list_before = bisect_right(begins, start) - 1
            free = list_before < 0 or start >= taken[list_before].end
            if free and self._is_definition(number):
                last, entries = entries_from(lines, number, "bracket")
                entries = list(takewhile(lambda entry: lines.text[entry.body - 1] in ":：", entries))
                yield ReferenceList(start, entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def _is_definition(self, number: int) -> bool:
        if number in self._lines.fenced or not (start := self._lines.start(number, "bracket")):
            return False
        mark = self._lines.text[slice(*start.mark)]
        return mark.endswith((":", "：")) and ("^" in mark or self._lines.target(number))

    def behind_colon(self) -> Iterator[ReferenceList]:
        """`Sources: [1] Title - URL`, where the first entry stands in the title's line."""
        lines, number = self._lines, 0
        while number < len(lines):
            last, entries = self._behind_colon(number)
            if entries:
                yield ReferenceList(lines.spans[number][0], entries[-1].end, tuple(entries))
            number = max(last, number) + 1

    def _behind_colon(self, number: int) -> tuple[int, list[ListedEntry]]:
        lines = self._lines
        first, end = lines.spans[number]
        colon = next((at for at in range(first, min(first + _COLON_WITHIN, end)) if lines.text[at] in ":："), None)
        if colon is None or number in lines.fenced or title_strength(lines.text[first:colon]) != "strong":
            return number, []
        begin = colon + 1
        while begin < end and lines.text[begin] in "*_ \t":
            begin += 1
        start = entry_start(lines.text, begin, end, "bracket")
        if start is None or not lines.target(number):
            return number, []
        entries = entries_in_line(lines.text, start, (begin, end))
        following = lines.start(number + 1, "bracket") if number + 1 < len(lines) else None
        if following is None or following.number <= entries[-1].number:
            return number, entries
        last, more = entries_from(lines, number + 1, "bracket")
        return last, entries + more

    def _below_title(self, title: int) -> tuple[int, list[ListedEntry]]:
        """The list that a title in this line opens, and its last line; no entries where it opens none."""
        strength = self._lines.title(title)
        first = self._first_entry(title, strong=strength == "strong") if strength else None
        if first is None:
            return title, []
        last, entries = entries_from(self._lines, *first, self._lines.levels.get(title, 0))
        if strength == "weak" and not any(entry.names_target for entry in entries):
            return title, []
        return last, entries

    def _first_entry(self, title: int, *, strong: bool) -> tuple[int, Family] | None:
        """Line and form of the first entry below a title: at once, or below a heading's introduction."""
        lines = self._lines
        formal = title in lines.levels or is_label(lines.line(title)) or "<" in lines.line(title)
        passed = 0
        for number in lines.below(title, _FIRST_ENTRY_WITHIN):
            if number == title + 1 and not lines.line(number).strip(" \t=-"):
                continue  # underlines the title
            if lines.ends_list(number):
                return None
            family = self._family(number, strong=strong, formal=formal)
            if family and (not passed or lines.target_near(number, family)):
                return number, family
            level = lines.levels.get(number)
            if level is not None and level <= lines.levels.get(title, 6):
                return None
            row = lines.line(number).lstrip(" \t>").startswith("|")
            passed += not row
            if passed > (_INTRODUCTION if formal and strong else 0):
                return None
        return None

    def _family(self, number: int, *, strong: bool, formal: bool) -> Family | None:
        """The form in which an entry begins here; forms without brackets or points must name a target at once."""
        start = self._lines.start(number)
        if start is not None and start.family in ("table", "bracket", "ordered", "circled", "titled"):
            return start.family if start.family != "titled" or self._lines.target_near(number, "titled") else None
        if start is not None and self._lines.target_near(number, start.family):
            return start.family if strong or start.family not in ("spaced", "row") else None
        target = target_in(self._lines.text, *self._lines.spans[number]) if strong and formal else None
        return "plain" if target is not None and number not in self._lines.levels else None
