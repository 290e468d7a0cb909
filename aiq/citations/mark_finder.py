"""Finds inline citation marks: `[1]`, `[1, 3]`, `[1-3]`, `[^1]`, `【1†L2】`, and tells them from other brackets.

Marks without brackets are found by `aiq.citations.raised_marks`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from aiq.citations.inline import Span
from aiq.citations.markdown import Markdown
from aiq.citations.marks import BLANK, COMMA, DASH, LARGEST, NAMES, Mark, MarkForm, numbers_in
from aiq.citations.raised_marks import raised_marks
from aiq.citations.rules import rules

_NUMBER = r"\^?\d{1,4}"
_SEE = r"(?:see|cf\.|vgl\.|siehe|详见|詳見|参见|參見|见|見)"
_PART = (
    r"(?:pp?\.|pages?|S\.|ch\.|chap\.|chapters?|sec\.|sections?|§|figs?\.|figures?|tab\.|tables?|para(?:graph)?s?"
    r"|第|頁|页|图|圖|表)"
)
_OF_PART = (
    rf"\.?{BLANK}?(?:[.-]?[\d一二三四五六七八九十]"
    r"|(?<![a-z])(?:[a-z]{1,2}[.-]?\d|[ivxlcdm]{1,6}(?![a-z])|[a-z](?![a-z])))"
)
"""What a part has behind its name: `Table S2`, `p. ix`, `第三节`; `[3, sections were cut]` is no citation of a part."""
_PAGE = rf"(?:[,，;:：]{BLANK}?{_PART}|{BLANK}(?:pp?\.|第)){_OF_PART}[^\[\]【】\n]{{0,40}}"
_MARK = re.compile(
    rf"(?P<open>\\?[\[【［〔])(?P<prefix>{BLANK}?(?:{_SEE}{BLANK}?)?(?:{NAMES}{BLANK}?[:：.#]?{BLANK}?)?)"
    rf"(?P<items>{_NUMBER}(?:(?:{DASH}|{COMMA}){_NUMBER})*)"
    rf"(?P<suffix>\^?{BLANK}?(?:†[^\[\]【】\n]{{0,80}}|{_PAGE})?)(?P<close>\\?[\]】］〕])",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_BETWEEN = re.compile(DASH)
_INTERVAL = re.compile(
    r"(?:[=∈]|\b(?:range|interval|between|domain|vector|array|tuple|CI|IQR)(?: of| is|[:,])?"
    r"|(?:区间|區間|範圍|范围|取值|向量|数组|(?<![A-Za-z])CI)[为為是在：]?) ?$",
    re.IGNORECASE,
)
_OF_INTERVAL = re.compile(r" ?(?:之间|之間|区间|區間)")
_ASSIGNED = re.compile(r"[^\s=<>!]\s?=\s?$")
_WORD = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z0-9_.]+$")
_INDICES = re.compile(r"(?:\[[^\[\]]*+\])+\Z")
_TAG_BEFORE = re.compile(
    r"<(sup|small|span|a)\b(?![^<>]*(?:href|src)\s*=\s*[\"']?[^\"'#\s])[^<>]{0,200}>$", re.IGNORECASE
)
_FURTHEST = 40
"""Characters before a bracket that say what it is."""


def find_marks(
    markdown: Markdown,
    prose: str,
    body: Collection[tuple[int, int]],
    listed: frozenset[int],
    circled: frozenset[int] = frozenset(),
) -> tuple[Mark, ...]:
    """The marks in these stretches, in order.

    `prose` is the text's; `listed` are the numbers that its lists have, `circled` those written as ①.
    """
    links = _NumberLinks(markdown)
    found: list[Mark] = []
    for stretch in body:
        marks = _with_ranges(prose, _bracketed(prose, stretch, listed))
        found += [_in_tags(markdown.text, links.linked(mark)) for mark in marks]
    found += raised_marks(markdown.text, prose, body, listed, circled, len(found))
    return tuple(sorted(found, key=lambda mark: mark.start))


def _bracketed(prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    last = -1
    for match in _MARK.finditer(prose, *stretch):
        numbers = numbers_in(match["items"])
        if _is_citation(prose, match, numbers, listed, behind_mark=match.start() == last):
            yield _mark(prose, match, numbers)
            last = match.end()


def _is_citation(
    prose: str, match: re.Match[str], numbers: tuple[int, ...], listed: frozenset[int], *, behind_mark: bool
) -> bool:
    """Years, indices and intervals stand in brackets too: see docs/citations.md for each rule."""
    known = [number in listed for number in numbers]
    if not numbers or any(not ok and not 0 < n <= LARGEST for n, ok in zip(numbers, known, strict=True)):
        return False
    if _THOUSANDS.fullmatch(match["items"]) and not all(known):
        return False
    before = prose[max(0, match.start() - _FURTHEST) : match.start()]
    if _ASSIGNED.search(before):
        return False
    if len(numbers) > 1 and (_INTERVAL.search(before) or _OF_INTERVAL.match(prose, match.end())):
        return False
    if before.endswith("]") and not behind_mark:
        word = _WORD.search(_INDICES.sub("", before))
        return all(known) and not (word and _is_indexed(word[0]))
    word = _WORD.search(before)
    if word is None or match["open"] not in ("[", "\\[") or "^" in match["items"]:
        return True
    if _is_indexed(word[0]):
        return False
    plain = word[0].isalpha() and word[0][1:] in (word[0][1:].lower(), word[0][1:].upper())
    return plain or all(known)


def _is_indexed(word: str) -> bool:
    """Whether a bracket behind this word is an index, and so are the brackets behind that: `arr[0][1]`."""
    if word.endswith("_"):
        word = word.strip("_")  # emphasis: `__So it is__[1]`
    last = word.rpartition(".")[2]  # of `self.items`
    return "_" in word or last in rules().code_words or (len(word) == 1 and word.islower())


def _mark(prose: str, match: re.Match[str], numbers: tuple[int, ...]) -> Mark:
    items = match["items"]
    form: MarkForm
    if match["open"] == "【" or "†" in match["suffix"]:
        form = "lenticular"
    elif "^" in items:
        form = "footnote"
    elif _BETWEEN.search(items):
        form = "range"
    else:
        form = "group" if len(numbers) > 1 else "number"
    start, end = match.span()
    if prose[max(0, start - 1) : start] == "[" and prose[end : end + 1] == "]":
        start, end = start - 1, end + 1
    elif prose[max(0, start - 1) : start] == "^" and prose[end : end + 1] == "^":
        start, end, form = start - 1, end + 1, "superscript"
    return Mark(start, end, numbers, match.span("items"), form)


def _with_ranges(prose: str, marks: Iterable[Mark]) -> list[Mark]:
    """`[1]-[3]` is one mark that means `[1-3]`."""
    joined: list[Mark] = []
    for mark in marks:
        before = joined[-1] if joined else None
        if before and before.form == mark.form == "number" and _BETWEEN.fullmatch(prose, before.end, mark.start):
            numbers = numbers_in(f"{before.numbers[0]}-{mark.numbers[0]}")
            if numbers:
                joined[-1] = Mark(before.start, mark.end, numbers, (before.items[0], mark.items[1]), "range")
                continue
        joined.append(mark)
    return joined


def _in_tags(text: str, mark: Mark) -> Mark:
    """The mark with the tags around it alone, so that they go with it: `<sup>[1]</sup>`, `<a href="#1">[1]</a>`."""
    while opened := _TAG_BEFORE.search(text, max(0, mark.start - 220), mark.start):
        closing = f"</{opened[1].lower()}>"
        end = mark.end + len(closing)
        if text[mark.end : end].lower() != closing:
            break
        form = "superscript" if opened[1].lower() == "sup" and mark.url is None else mark.form
        mark = replace(mark, start=opened.start(), end=end, form=form)
    return mark


class _NumberLinks:
    """Links whose whole label is a mark: `[1](url)` and `[[1]](url)`."""

    def __init__(self, markdown: Markdown) -> None:
        self._text = markdown.text
        self._by_end: dict[int, Span] = {span.label[1]: span for span in markdown.spans if span.kind == "link"}

    def linked(self, mark: Mark) -> Mark:
        """The mark with its link; one that leads into the report itself (`[1](#ref1)`) has no URL and no new form."""
        span = self._by_end.get(mark.end) or self._by_end.get(mark.end - 1)
        if span is None or span.start > mark.start or mark.start - span.start > 1:
            return mark
        mark = replace(mark, start=span.start, end=span.end)
        if self._text.startswith("#", span.target[0]) or span.target[0] == span.target[1]:
            return mark
        return replace(mark, form="numbered_link", url=span.target)
