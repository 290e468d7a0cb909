"""Reads inline citation marks: `[1]`, `[1, 3]`, `[1-3]`, `[^1]`, `【1†L2】`, and tells them from other brackets."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from aiq.citations.markdown import Markdown
from aiq.citations.rules import rules

_NUMBER = r"\^?\d{1,4}"
_DASH = r"[ ]?[-–—~～至][ ]?"
_COMMA = r"[ ]*[,，、;；][ ]*"
_MARK = re.compile(
    rf"(?P<open>\\?[\[【［〔])(?P<prefix>[ ]?(?:(?:citation|cite|refs?\.?|reference|source|来源|引用)[ ]?[:：.]?[ ]?)?)"
    rf"(?P<items>{_NUMBER}(?:(?:{_DASH}|{_COMMA}){_NUMBER})*)"
    r"(?P<suffix>[ ]?(?:†[^\[\]【】\n]{0,80})?)(?P<close>\\?[\]】］〕])",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(rf"<sup>[ ]?(?P<items>\d{{1,3}}(?:{_COMMA}\d{{1,3}})*)[ ]?</sup>", re.IGNORECASE)
_RANGE = re.compile(rf"\^?(\d+)(?:{_DASH}\^?(\d+))?")
_INTERVAL = re.compile(r"(?:∈|\b(?:range|interval|between|domain)(?: of)?|区间|範圍|范围|区間) ?$", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9_.]+$")
_LARGEST = 999
_WIDEST = 100
_PLAIN = re.compile(r"(?:[^\W\d_][*\"”’)\]]*|[)\]%])[.!?。！？][*\"”’)]*(?P<items>\d{1,3}(?:, ?\d{1,3})*)(?=\s|$)")
_ABBREVIATION = re.compile(r"\b(?:no|nos|fig|figs|vol|p|pp|v|vs|sec|eq|eqs|ch|art|tab|ver|op|ca)\.$", re.IGNORECASE)
_ENOUGH = 5
"""Bare numbers behind sentences are citations only as a habit: this many at least, and hardly any other marks."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An inline mark `start:end` that cites `numbers`; its items stand at `items`, `form` says how it is written.

    Forms: `bracket`, `group` (`[1, 3]`), `range` (`[1-3]`), `footnote` (`[^1]`), `lenticular`
    (`【1†L2】`), `superscript`, `link` (`[1](url)`, with the URL at `url`), `plain` (`So it is.1`).
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    items: tuple[int, int]
    form: str
    url: tuple[int, int] | None = None


def find_marks(markdown: Markdown, body: Collection[tuple[int, int]], listed: frozenset[int]) -> tuple[Mark, ...]:
    """The marks in these stretches, in order; `listed` are the numbers that the reference lists have."""
    prose = markdown.prose()
    links = _NumberLinks(markdown)
    found: list[Mark] = []
    for start, end in body:
        last = -1
        for match in _MARK.finditer(prose, start, end):
            numbers = _numbers(match["items"])
            if _is_citation(prose, match, numbers, listed, behind_mark=match.start() == last):
                found.append(links.linked(_mark(prose, match, numbers)))
                last = match.end()
        found += _superscripts(markdown.text, prose, (start, end), listed)
    plain = [mark for stretch in body for mark in _plain(prose, stretch, listed)]
    if len(plain) >= max(_ENOUGH, 4 * len(found)):
        found += plain
    return tuple(sorted(found, key=lambda mark: mark.start))


def _numbers(items: str) -> tuple[int, ...]:
    """The numbers that are cited, ranges expanded; empty where a range is none."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(items):
        if last and not int(first) < int(last) <= min(_LARGEST, int(first) + _WIDEST):
            return ()
        numbers += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(numbers))


def _is_citation(
    prose: str, match: re.Match[str], numbers: tuple[int, ...], listed: frozenset[int], *, behind_mark: bool
) -> bool:
    """Years, indices and intervals stand in brackets too: see docs/citations.md for each rule."""
    known = [number in listed for number in numbers]
    if not numbers or any(not ok and not 0 < n <= _LARGEST for n, ok in zip(numbers, known, strict=True)):
        return False
    before = prose[max(0, match.start() - 40) : match.start()]
    if len(numbers) > 1 and _INTERVAL.search(before):
        return False
    if before.endswith("]") and not behind_mark:
        return all(known)
    word = _WORD.search(before)
    if word is None or match["open"] not in ("[", "\\[") or "^" in match["items"]:
        return True
    if "_" in word[0] or word[0] in rules().code_words or (len(word[0]) == 1 and word[0].islower()):
        return False
    plain = word[0].isalpha() and word[0][1:] in (word[0][1:].lower(), word[0][1:].upper())
    return plain or all(known)


def _mark(prose: str, match: re.Match[str], numbers: tuple[int, ...]) -> Mark:
    items = match["items"]
    if match["open"] == "【" or "†" in match["suffix"]:
        form = "lenticular"
    elif "^" in items:
        form = "footnote"
    elif re.search(_DASH, items):
        form = "range"
    else:
        form = "group" if len(numbers) > 1 else "bracket"
    start, end = match.span()
    if prose[max(0, start - 1) : start] == "[" and prose[end : end + 1] == "]":
        start, end = start - 1, end + 1
    return Mark(start, end, numbers, match.span("items"), form)


def _superscripts(text: str, prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    """`<sup>1</sup>`, where the list has the number: a power looks the same."""
    for match in _SUPERSCRIPT.finditer(text, *stretch):
        numbers = _numbers(match["items"])
        if numbers and listed.issuperset(numbers) and "\x00" not in prose[slice(*match.span("items"))]:
            yield Mark(*match.span(), numbers, match.span("items"), "superscript")


def _plain(prose: str, stretch: tuple[int, int], listed: frozenset[int]) -> Iterator[Mark]:
    """`So it is.1`, where the list has the number: how reports look whose superscripts were lost."""
    for match in _PLAIN.finditer(prose, *stretch):
        numbers = _numbers(match["items"])
        start, end = match.span("items")
        if listed.issuperset(numbers) and not _ABBREVIATION.search(prose[max(0, start - 6) : start]):
            yield Mark(start, end, numbers, (start, end), "plain")


class _NumberLinks:
    """Links whose whole label is a mark: `[1](url)` and `[[1]](url)`."""

    def __init__(self, markdown: Markdown) -> None:
        links = [span for span in markdown.spans if span.kind == "link"]
        self._by_end = {span.label[1]: span for span in links}

    def linked(self, mark: Mark) -> Mark:
        span = self._by_end.get(mark.end) or self._by_end.get(mark.end - 1)
        if span is None or span.start > mark.start or mark.start - span.start > 1:
            return mark
        return replace(mark, start=span.start, end=span.end, form="link", url=span.target)
