"""Says what a line is in a reference list: its title, the start of one entry or several, or more of an entry."""

import re
import tomllib
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from aiq.citations.links import UrlUse, is_url_rest
from aiq.citations.markdown import Place
from aiq.citations.marks import CIRCLED, NAMES, RAISED, numeral_value

Family = Literal["table", "titled", "bracket", "ordered", "circled", "named", "bullet", "spaced", "row", "plain"]
_TAG = r"(?:<(?!sup>|[a-z+]+:)[a-z/][^<>\n]{0,200}>[ \t]*)*"
_LEAD = rf"[ \t>]*{_TAG}"
_BULLET = r"[-*+•·–◦▪●○■‣∙]"
_ITEM = rf"{_LEAD}(?:{_BULLET}[ \t]+)?"
_OPEN = r"(?:\\?[\[【［〔(（〈]){1,2}|<sup>|\^"
_CLOSE = r"(?:\\?[\]】］〕)）〉]){1,2}|</sup>|\^"
_STRONG = r"(?:\*{1,3}|__?|`)?"
_NAME = rf"(?:{NAMES}|注)"
_FORMS: dict[Family, re.Pattern[str]] = {
    "table": re.compile(rf"{_LEAD}\|[ \t]*(?P<mark>(?:\\?\[)?\^?(?P<n>\d{{1,3}})(?:\\?\])?)[ \t]*\|"),
    "titled": re.compile(
        r"[ \t>]*#{2,6}[ \t]+(?P<mark>\*{0,2}(?:\\?[\[【(]\^?)?(?P<n>\d{1,3})(?:\\?[\]】)][:：.]?|[.、:：])\*{0,2})"
        r"(?=[ \t]*\S)"
    ),
    "bracket": re.compile(
        rf"{_ITEM}(?P<mark>{_STRONG}(?:{_OPEN})\^?(?:{_NAME}?[ ]?[:：]?[ ]?)(?P<n>\d{{1,4}})[ ]?\^?"
        rf"(?:†[^\]】\n]{{0,40}})?(?:{_CLOSE}){_STRONG}[:：.]?{_STRONG})",
        re.IGNORECASE,
    ),
    "ordered": re.compile(
        rf"{_LEAD}(?P<mark>{_STRONG}(?P<n>\d{{1,3}})"
        rf"(?:{_STRONG}(?:\\?[.)）．、]|[:：，]){_STRONG}|(?:\*\*|__)(?=[ \t])))"
        r"(?:[ \t]+|(?=[^\s\d])|\Z)"
    ),
    "circled": re.compile(rf"{_ITEM}(?P<mark>(?P<n>[{CIRCLED}]|[{RAISED}]{{1,3}})[.、:：]?)[ \t]*(?=\S)"),
    "named": re.compile(
        rf"{_ITEM}"
        rf"(?P<mark>{_STRONG}{_NAME}[ ]?#?(?P<n>\d{{1,3}}){_STRONG}[ ]?[:：.、)-]{_STRONG})(?=[ \t]*\S)",
        re.IGNORECASE,
    ),
    "bullet": re.compile(
        rf"[ \t>]*(?:<[ou]l\b[^<>\n]*>[ \t]*)*(?P<mark>(?P<n>){_BULLET}(?=[ \t])|<li\b[^<>]*>)[ \t]*(?=\S)",
        re.IGNORECASE,
    ),
    "spaced": re.compile(r"[ \t>]*(?P<mark>(?P<n>\d{1,3})(?:[ \t]+[-–—|])?)[ \t]+(?=\S)"),
    "row": re.compile(r"[ \t>]*(?P<mark>(?P<n>)\|)[ \t]*(?=[^\s|:-])"),
    "plain": re.compile(r"(?=(?P<mark>(?P<n>))\S)"),
}
"""The forms of an entry's first line, in the order in which they are tried; `n` is the number, if there is one."""
UNNUMBERED: frozenset[Family] = frozenset({"bullet", "row", "plain"})
"""The forms whose entries are numbered by position."""
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
_RULE = re.compile(r"[ \t>]*(?:-[ \t]*){3,}$|[ \t>]*(?:\*[ \t]*){3,}$|[ \t>]*(?:_[ \t]*){3,}$")
_TAGS = r"(?=(?:<[a-z][^<>\n]{0,200}>[ \t]*){0,4}"
_GAP = rf"(?:[ \t;；]|(?<=[,，。、.>)）])|(?=<)){_TAGS}"
_GAP_OF_FIGURES = rf"(?:[ \t;；]|(?<=[，。、>）])|(?=<)){_TAGS}"
"""What precedes a number without brackets; in `https://e.com/v1.2. More` the number is part of the URL."""
_NEXT_IN_LINE: dict[Family, re.Pattern[str]] = {
    "bracket": re.compile(
        rf"{_GAP}(?P<mark>(?:\*\*|__)?\\?(?P<style>[\[【［〔(（])\^?(?P<n>\d{{1,3}})\\?[\]】］〕)）](?:\*\*|__)?)"
        r"(?!\s*[.,;)\]。，；、）】]))",
        re.IGNORECASE,
    ),
    "ordered": re.compile(
        rf"{_GAP_OF_FIGURES}(?P<mark>(?P<n>\d{{1,3}})(?P<style>[.)](?=[ \t])|[、．）])))", re.IGNORECASE
    ),
    "circled": re.compile(rf"{_GAP}(?P<mark>(?P<n>[{CIRCLED}])(?P<style>)))", re.IGNORECASE),
    "bullet": re.compile(r"(?=(?P<mark>(?P<style><li)\b[^<>]*>)(?P<n>))", re.IGNORECASE),
}
"""A further entry in a line of this form: the gap before it, its mark, and the mark's style."""
Strength = Literal["strong", "weak"]
_LONGEST = 100
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|\]\([^()]*\)|\\[a-z]+\*?\{?")
_NUMBERING = re.compile(
    r"[\W_]*(?:(?:appendix|annexe?|anhang|anexo|附录|附錄|part|section|chapter)\s*[a-z0-9一二三四五六七八九十]?\s*[:：.、\s-]"
    r"|第?\s*(?:\d{1,3}(?:\.\d{1,3})*|[一二三四五六七八九十百]{1,4})\s*(?:章|节|節|部分|部|장|[.、):]|(?=\s)|$)"
    r"|[ivxlc]{1,6}\s*[.、):]|[a-z][.、):]|\d{1,3}(?=[^\W\d]))\s*"
)
_AFTER = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|\d{1,4})[\W_]*$")
_AND_MORE = re.compile(r"\s*(?:\b(?:and|und|et|y)\b|[&/]|[与及和與])\s*[\w\s]{1,40}$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A reference entry `start:end`: whole lines, or part of a line that holds several.

    In a list without numbers `number` is its position and `number_span` is None. `mark` is the place of its number or
    bullet. `names_target` says whether it contains something to look up. Once the whole report has been parsed,
    `section` is the position of its list, `text` what follows the mark, and `urls` are its URLs in order.
    """

    family: Family
    number: int
    start: int
    end: int
    mark: Place
    number_span: Place | None
    names_target: bool
    section: int = 0
    text: str = ""
    urls: tuple[UrlUse, ...] = ()

    @property
    def body(self) -> int:
        """Where the text after the number begins."""
        return self.mark[1]


def title_strength(line: str) -> Strength | None:
    """`strong` for `References`, `weak` for `Notes` (other things are listed there too), None for any other line."""
    if len(line) > _LONGEST or not line.strip(" \t>-=|"):
        return None
    text = _MARKUP.sub(" ", unicodedata.normalize("NFKC", line).lower()).strip()
    readings = [text, _NUMBERING.sub("", text, count=1)]
    for surplus in (_AFTER, _AND_MORE):
        readings += [surplus.sub("", reading) for reading in readings]
    table, word, title = _title_patterns()
    terms = frozenset(name for reading in readings if title.fullmatch(reading) for name in word.findall(reading))
    return "strong" if terms & table["strong"] else "weak" if terms & table["weak"] else None


@cache
def _title_patterns() -> tuple[dict[str, frozenset[str]], re.Pattern[str], re.Pattern[str]]:
    """The table, a pattern for its terms (the longest first), and a pattern for a title made of them."""
    rows = tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8"))
    table = {name: frozenset(words) for name, words in rows.items()}
    words = sorted(frozenset().union(*table.values()), key=lambda word: (-len(word), word))
    # Chinese and Japanese do not separate words, Korean adds particles: only in other scripts no letter may follow
    terms = "|".join(re.escape(word) + (r"(?![^\W\d_])" if word[-1] < "\u1100" else "") for word in words)
    return table, re.compile(terms), re.compile(rf"(?:[\W_]*+(?>{terms}))*+[\W_]*+")


_TARGET_WITHIN = 4
"""The number of lines below an entry's first in which its target may begin."""


@dataclass(eq=False)
class Line:
    """One of a report's `lines`, read as part of a list; each fact is computed once. `level` is that of a heading."""

    text: str
    lines: Sequence["Line"]
    number: int
    start: int
    end: int
    level: int | None
    fenced: bool
    _begun: dict[Family, Entry | None] = field(default_factory=dict)

    @cached_property
    def words(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def bare(self) -> str:
        """The line without surrounding blanks and quote markers."""
        return self.words.strip(" \t>")

    @property
    def indent(self) -> int:
        return len(self.words) - len(self.words.lstrip(" \t>"))

    @cached_property
    def names_target(self) -> bool:
        """Whether the line contains something to look up."""
        return _TARGET.search(self.text, self.start, self.end) is not None

    @cached_property
    def title(self) -> Strength | None:
        """How surely the line is the title of a list; in code it never is."""
        return None if self.fenced else title_strength(self.words)

    @property
    def is_rule(self) -> bool:
        """Whether the line is a thematic break."""
        return _RULE.match(self.words) is not None

    @property
    def is_label(self) -> bool:
        """Whether the line may label a part of a list: all bold, or with a colon at its end."""
        bold = len(self.bare) > 4 and self.bare[:2] == self.bare[-2:] and self.bare[:2] in ("**", "__")
        return len(self.bare) < 100 and (bold or self.bare.endswith((":", "：", ":**", "：**")))

    @property
    def goes_on(self) -> bool:
        """Whether the line reads like more of an entry: `URL: ...`, `Accessed 2025-01-01`, the rest of a URL."""
        return _AFTERTHOUGHT.match(self.words) is not None or is_url_rest(self.words)

    @cached_property
    def ends_list(self) -> bool:
        """Whether a list above must end here: at code, a rule or another list's title."""
        return self.fenced or self.is_rule or self.title == "strong"

    @property
    def parts_lists(self) -> bool:
        """Whether the line is a heading or ends a list in another way."""
        return self.level is not None or self.ends_list

    def begin(self, family: Family) -> Entry | None:
        """The entry of this form that begins in the line, or None if the line does not have this form."""
        if family not in self._begun:
            match = _FORMS[family].match(self.text, self.start, self.end)
            self._begun[family] = match and _entry(family, match, self.start, self.end)
        return self._begun[family]

    def first_form(self) -> Entry | None:
        """The entry that begins in the line, of the first form that matches."""
        return next(filter(None, map(self.begin, _FORMS)), None)

    def below(self, count: int) -> list["Line"]:
        """Those of the next `count` lines that have text."""
        return [line for line in self.lines[self.number + 1 : self.number + 1 + count] if line.bare]

    def target_near(self, family: Family) -> bool:
        """Whether the entry that begins in this line names its target within its first lines."""
        if self.names_target:
            return True
        for line in self.below(_TARGET_WITHIN):
            sibling = family not in UNNUMBERED or line.indent <= self.indent + 1
            if line.parts_lists or (sibling and line.begin(family)):
                return False
            if line.names_target:
                return True
        return False

    def entries(self, first: Entry) -> list[Entry]:
        """All entries of a line that begins with `first`: two in `[1] A url [2] B url` or `<li>A url</li><li>B url`."""
        mark = self.text[slice(*first.mark)].lower()
        if "<li" in mark:  # the list's own tags around its items belong to no entry
            stripped = self.words.rstrip()
            tail = len(self.words) - len(stripped) + len("</ol>") if stripped.endswith(("</ol>", "</ul>")) else 0
            first = replace(first, start=first.mark[0], end=self.end - tail)
        entries, pattern = [first], _NEXT_IN_LINE.get(first.family)
        matches = list(pattern.finditer(self.text, first.body, first.end)) if pattern and first.names_target else []
        targets = [match.start() for match in _TARGET.finditer(self.text, first.body, first.end)] if matches else []
        for match in matches:
            last = entries[-1]
            target = targets[bisect_left(targets, last.body)]
            targeted = targets[-1] >= match.end("mark")
            if match.start() < target or match["style"].lower() not in mark or not _follows(match, last, targeted):
                continue
            entries[-1:] = replace(last, end=match.start()), _entry(first.family, match, match.end(), first.end)
            if not targeted:
                break
        return entries


def _entry(family: Family, match: re.Match[str], start: int, end: int) -> Entry:
    mark, span = match.span("mark"), match.span("n") if match["n"] else None
    names_target = _TARGET.search(match.string, mark[1], end) is not None
    return Entry(family, numeral_value(match["n"]) if span else 0, start, end, mark, span, names_target)


def _follows(match: re.Match[str], last: Entry, targeted: bool) -> bool:
    """Whether a number within a line begins the next entry and is not merely cited by the current one."""
    number = numeral_value(match["n"]) if match["n"] else last.number + 1
    if targeted and number == last.number + 1:
        return True
    spaced = match.end() > match.start() and match.string.startswith((" ", "\t", ":"), match.end("mark"))
    return spaced and number > last.number and match["style"] in ("[", "【", "［")
