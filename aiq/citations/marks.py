"""Finds inline citation marks (`[1]`, `[1-3]`, `[^1]`, `【1†L2】`, `¹`, `it is.1`) and tells them from other numbers.

Numerals keep their style when a mark is renumbered (`７`, `⑦`, `⁷`).
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from aiq.citations.markdown import Markdown, Place, Span
from aiq.citations.urls import rules

CIRCLED = "①-⑳㉑-㉟㊱-㊿❶-❿"
"""Numbers in circles, for a pattern's character class."""
RAISED = "⁰¹²³⁴-⁹"
"""Superscript digits, for a pattern's character class."""
_CIRCLE = re.compile(f"[{CIRCLED}]")
_CIRCLES = [*map(chr, (*range(0x2460, 0x2474), *range(0x3251, 0x3260), *range(0x32B1, 0x32C0)))]
"""The circled numbers from 1 to 50, in order."""
_STYLES = ("⁰¹²³⁴⁵⁶⁷⁸⁹", "０１２３４５６７８９")
BLANK = r"[ \u00a0\u2002-\u200a\u202f\u3000]"
DASHES = "-‐‑‒–—−－~～〜至到⁻"
"""What separates the ends of a range, for a pattern's character class: models like the non-breaking hyphen."""
DASH = rf"{BLANK}?[{DASHES}]{BLANK}?"
COMMA = (
    rf"(?:{BLANK}*[,，、;；・]{BLANK}*(?:\r?\n)?(?:and |& )?"
    rf"|{BLANK}(?:and|&|und|et|y){BLANK}|{BLANK}?[和与與及]{BLANK}?)"
)
NAMES = (
    r"(?:sources?|references?|refs?\.?|citations?|cite|doc(?:ument)?s?|quellen?"
    r"|来源|來源|引用|(?:参考)?文献|(?:參考)?文獻|(?:参考)?资料|(?:參考)?資料|参考|參考|文档|出典|출처)"
)
"""The word that may precede the number of a citation or an entry: `[Source 1]`, `来源1：`; in any case."""
LARGEST = 999
"""A greater number is a year, unless a list contains it."""
_WIDEST = 100
_RANGE = re.compile(rf"\^?(\d+|[{CIRCLED}]|[{RAISED}]+)(?:{DASH}\^?(\d+|[{RAISED}]+))?")
_DASH = re.compile(DASH)
_COMMA = re.compile(COMMA)
_NUMERAL = re.compile(rf"\d+|[{CIRCLED}]|[{RAISED}]+")
MarkForm = Literal[
    "number",  # [1]
    "group",  # [1, 3]
    "range",  # [1-3], [1]-[3]
    "footnote",  # [^1]
    "lenticular",  # 【1†L2-L4】
    "superscript",  # <sup>1</sup>, <sup>[1]</sup>, ¹
    "circled",  # ①
    "numbered_link",  # [1](url)
    "bare_number",  # So it is.1
]
_SUPERSCRIPT = re.compile(
    r"(?!(?<!\S)<sup>\d{1,3}</sup>(?-i:[A-Z]))"  # an isotope
    rf"<sup>[ ]?(?P<items>\d{{1,3}}(?:(?:{COMMA}|{DASH})\d{{1,3}})*)[ ]?</sup>",
    re.IGNORECASE,
)
# These look for the number first and only then behind it, so that nearly every position fails at once.
_RAISED = re.compile(
    rf"(?=[{RAISED}])(?<=[^\W\d_]{{3}}|.[^\W\d_][.,;:!?'’”\"。，；：！？」）)]|..[。，；：！？」』）]|[\u3040-\u9fff\uac00-\ud7a3]{{3}})"
    rf"(?P<items>[{RAISED}]{{1,3}}(?:[,，⁻][{RAISED}]{{1,3}})*)",
    re.DOTALL,
)
_POWER = re.compile(r"(?:\b(?:sin|cos|tan|log|cot|sec)|[\d)]|[平立米里寸尺])$", re.IGNORECASE)
_UNIT = re.compile(
    r"(?:\d|\b[^\W\u3040-\u9fff\uac00-\ud7a3]|\b(?:[kcdm]?m|ft|in|yd|mi|km|CO|[xyzrRnN])|[=^*·×]\s?[^\W\d_]{1,3})$"
)
_CIRCLED = re.compile(rf"(?P<items>[{CIRCLED}])(?<=\S.)(?=[\s{CIRCLED}.,;:!?)\]。，；：、！？）」』”]|\Z)")
_BARE_NUMBERS = re.compile(
    r"(?=[.!?。！？])(?:(?<=[^\W\d_])|(?<=[)\]%*\"”’]))[.!?。！？][*\"”’)]*(?P<items>\d{1,3}(?:, ?\d{1,3})*)(?=\s|\Z)"
)
_ABBREVIATION = re.compile(r"\b(?:no|nos|fig|figs|vol|p|pp|v|vs|sec|eq|eqs|ch|art|tab|ver|op|ca)\.$", re.IGNORECASE)
_NOWHERE = re.compile("(?!)")
_ENOUGH = 5
"""Numbers without brackets are citations only if there are at least this many, and hardly any other marks."""
_NUMBER = r"\^?\d{1,4}"
SEE = r"(?:see|cf\.|vgl\.|siehe|详见|詳見|参见|參見|见|見)"
_PART = (
    r"(?:pp?\.|pages?|S\.|ch\.|chap\.|chapters?|sec\.|sections?|§|figs?\.|figures?|tab\.|tables?|para(?:graph)?s?"
    r"|第|頁|页|图|圖|表)"
)
_OF_PART = (
    rf"\.?{BLANK}?(?:[.-]?[\d一二三四五六七八九十]"
    r"|(?<![a-z])(?:[a-z]{1,2}[.-]?\d|[ivxlcdm]{1,6}(?![a-z])|[a-z](?![a-z])))"
)
"""What follows the name of a part: `Table S2`, `p. ix`, `第三节`; `[3, sections were cut]` does not cite a part."""
_PAGE = rf"(?:[,，;:：]{BLANK}?{_PART}|{BLANK}(?:pp?\.|第)){_OF_PART}[^\[\]【】\n]{{0,40}}"
_MARK = re.compile(
    rf"(?P<open>\\?[\[【［〔])(?P<prefix>{BLANK}?(?:{SEE}{BLANK}?)?(?:{NAMES}{BLANK}?[:：.#]?{BLANK}?)?)"
    rf"(?P<items>{_NUMBER}(?:(?:{DASH}|{COMMA}){_NUMBER})*)"
    rf"(?P<suffix>\^?{BLANK}?(?:†[^\[\]【】\n]{{0,80}}|{_PAGE})?)(?P<close>\\?[\]】］〕])",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_INTERVAL = re.compile(
    r"(?:[=∈]|\b(?:range|interval|between|domain|vector|array|tuple|CI|IQR)(?: of| is|[:,])?"
    r"|(?:区间|區間|範圍|范围|取值|向量|数组|(?<![A-Za-z])CI)[为為是在：]?) ?$",
    re.IGNORECASE,
)
_OF_INTERVAL = re.compile(r" ?(?:之间|之間|区间|區間)")
_ASSIGNED = re.compile(r"(?:[^\s=<>!]\s?=|\w[\"']:)\s?$")
_WORD = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z0-9_.]+$")
_INDICES = re.compile(r"(?:\[[^\[\]]*+\])+\Z")
_TAG_BEFORE = re.compile(
    r"<(sup|small|span|a)\b(?:[^<>]{0,200}?\shref\s*=\s*[\"']?(?P<url>[^\"'#\s<>][^\"'\s<>]*))?[^<>]{0,200}>$",
    re.IGNORECASE,
)
_LONGEST_TAG = 1000
_FURTHEST = 40
"""The number of characters before a bracket that are examined."""


def numeral_value(numeral: str) -> int:
    """The value of decimal digits of any script, superscript digits or one circled number."""
    return int(unicodedata.numeric(numeral) if len(numeral) == 1 else unicodedata.normalize("NFKC", numeral))


def in_style_of(numeral: str, number: int) -> str:
    """The number in the style of `numeral`: circled (up to 50), superscript, full-width, or with leading zeros."""
    if _CIRCLE.match(numeral):
        return _CIRCLES[number - 1] if number <= len(_CIRCLES) else f"({number})"
    for digits in _STYLES:
        if numeral and numeral[0] in digits:
            return "".join(digits[int(digit)] for digit in str(number))
    return str(number).zfill(len(numeral) if numeral.startswith("0") else 0)


@dataclass(frozen=True, slots=True)
class Mark:
    """An inline mark `start:end` that cites `numbers`, which are written at `items`; `form` says how it is written.

    A `numbered_link` leads to the URL at `url`.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    items: Place
    form: MarkForm
    url: Place | None = None


def numbers_in(items: str) -> tuple[int, ...]:
    """The numbers that a mark's items cite, with ranges expanded; empty if a range is descending or too wide."""
    numbers: dict[int, None] = {}
    for first, last in _RANGE.findall(items):
        low = numeral_value(first)
        high = numeral_value(last) if last else low
        if last and not low < high <= min(LARGEST, low + _WIDEST):
            return ()
        numbers |= dict.fromkeys(range(low, high + 1))
    return tuple(numbers)


def rewritten_items(items: str, numbers: Sequence[int]) -> str:
    """These numbers in the style of a mark's items: its numerals, its separator, its dash, its carets."""
    dash, comma, numeral = _DASH.search(items), _COMMA.search(items), _NUMERAL.search(items)
    caret = "^" if "^" in items else ""
    runs: list[list[int]] = []
    for number in sorted(numbers) if dash else numbers:
        if dash and runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = []
    for run in runs:
        numerals = [caret + in_style_of(numeral[0] if numeral else "", number) for number in run]
        parts += [f"{numerals[0]}{dash[0]}{numerals[-1]}"] if dash and len(run) > 2 else numerals
    return (re.sub(r"\r?\n", " ", comma[0]) if comma else ", ").join(parts)


def find_marks(markdown: Markdown, prose: str, body: Collection[Place], listed: Mapping[int, str]) -> tuple[Mark, ...]:
    """The marks in the body, in order; `prose` is that of the text, `listed` maps list numbers to their spelling."""
    links = {span.label[1]: span for span in markdown.spans if span.kind == "link"}
    bracketed = [mark for stretch in body for mark in _bracketed(prose, stretch, frozenset(listed))]
    marks = [_in_tags(markdown.text, _linked(markdown.text, mark, links)) for mark in bracketed]
    if listed:
        marks += _unbracketed(markdown.text, prose, body, listed, len(marks))
    return tuple(sorted(marks, key=lambda mark: mark.start))


def _bracketed(prose: str, stretch: Place, listed: frozenset[int]) -> list[Mark]:
    """The marks in brackets; `[1]-[3]` is one mark, the same as `[1-3]`."""
    marks: list[Mark] = []
    last_end = -1
    for match in _MARK.finditer(prose, *stretch):
        numbers = numbers_in(match["items"])
        if not _is_citation(prose, match, numbers, listed, after_mark=match.start() == last_end):
            continue
        mark, previous, last_end = _mark(prose, match, numbers), marks[-1] if marks else None, match.end()
        if previous and previous.form == mark.form == "number" and _DASH.fullmatch(prose, previous.end, mark.start):
            numbers = numbers_in(f"{previous.numbers[0]}-{mark.numbers[0]}")
            if numbers:
                mark = Mark(marks.pop().start, mark.end, numbers, (previous.items[0], mark.items[1]), "range")
        marks.append(mark)
    return marks


def _is_citation(
    prose: str, match: re.Match[str], numbers: tuple[int, ...], listed: frozenset[int], *, after_mark: bool
) -> bool:
    """Whether a bracket is a citation, not a year, an index or an interval: docs/citations.md explains each rule."""
    all_listed = listed.issuperset(numbers)
    if not numbers or not all(0 < number <= LARGEST or number in listed for number in numbers):
        return False
    before = prose[max(0, match.start() - _FURTHEST) : match.start()]
    if _ASSIGNED.search(before) or (_THOUSANDS.fullmatch(match["items"]) and not all_listed):
        return False
    if len(numbers) > 1 and (_INTERVAL.search(before) or _OF_INTERVAL.match(prose, match.end())):
        return False
    if before.endswith("]") and not after_mark:
        word = _WORD.search(_INDICES.sub("", before))
        return all_listed and not (word and _is_indexed(word[0]))
    word = _WORD.search(before)
    if word is None or match["open"] not in ("[", "\\[") or "^" in match["items"]:
        return True
    rest = word[0][1:]
    return not _is_indexed(word[0]) and (all_listed or (word[0].isalpha() and rest in (rest.lower(), rest.upper())))


def _is_indexed(word: str) -> bool:
    """Whether a bracket after this word is an index, and so are further brackets: `arr[0][1]`."""
    if word.endswith("_"):
        word = word.strip("_")  # emphasis: `__So it is__[1]`
    name = word.rpartition(".")[2]  # `items` of `self.items`
    return "_" in word or name in rules().code_words or (len(word) == 1 and word.islower())


def _mark(prose: str, match: re.Match[str], numbers: tuple[int, ...]) -> Mark:
    items = match["items"]
    form: MarkForm = "group" if len(numbers) > 1 else "number"
    if match["open"] == "【" or "†" in match["suffix"]:
        form = "lenticular"
    elif "^" in items:
        form = "footnote"
    elif _DASH.search(items):
        form = "range"
    start, end = match.span()
    around = prose[max(0, start - 1) : start] + prose[end : end + 1]
    if around in ("[]", "^^"):
        start, end, form = start - 1, end + 1, "superscript" if around == "^^" else form
    return Mark(start, end, numbers, match.span("items"), form)


def _in_tags(text: str, mark: Mark) -> Mark:
    """The mark widened by the tags that enclose only it: `<sup>[1]</sup>`, `<a href="url">[1]</a>`."""
    while opening := _TAG_BEFORE.search(text, max(0, mark.start - _LONGEST_TAG), mark.start):
        closing = f"</{opening[1].lower()}>"
        end = mark.end + len(closing)
        if text[mark.end : end].lower() != closing:
            break
        url = mark.url or (opening.span("url") if opening["url"] else None)
        form = "numbered_link" if url else "superscript" if closing == "</sup>" else mark.form
        mark = replace(mark, start=opening.start(), end=end, form=form, url=url)
    return mark


def _linked(text: str, mark: Mark, links: Mapping[int, Span]) -> Mark:
    """The mark widened to the link whose whole label it is, `[1](url)` or `[[1]](url)`; `links` are keyed by label end.

    A link within the report (`[1](#ref1)`) gives it neither a URL nor another form.
    """
    span = links.get(mark.end) or links.get(mark.end - 1)
    if span is None or not 0 <= mark.start - span.start <= 1:
        return mark
    mark = replace(mark, start=span.start, end=span.end)
    internal = text.startswith("#", span.target[0]) or span.target[0] == span.target[1]
    return mark if internal else replace(mark, form="numbered_link", url=span.target)


def _unbracketed(
    text: str, prose: str, body: Collection[Place], listed: Mapping[int, str], bracketed: int
) -> list[Mark]:
    """The marks without brackets in the body; `bracketed` is the number of marks with brackets.

    Powers, units and enumerations look the same, so each number must be listed, and bare ones must be habitual.
    """

    def find(form: MarkForm, pattern: re.Pattern[str], not_after: re.Pattern[str], source: str = prose) -> list[Mark]:
        marks = []
        for match in chain.from_iterable(pattern.finditer(source, *stretch) for stretch in body):
            numbers, items = numbers_in(match["items"]), match.span("items")
            if not numbers or not listed.keys() >= {*numbers} or "\x00" in prose[slice(*items)]:
                continue
            start = items[0] if form == "bare_number" else match.start()
            power = not_after.search(source[max(0, start - 6) : start])
            if not power or (form == "superscript" and len(numbers) > 1):
                marks.append(Mark(start, match.end(), numbers, items, form))
        return marks

    # `如此①。`: an enumeration's number precedes its item, a citation's number follows the statement
    circled = [mark for mark in find("circled", _CIRCLED, _NOWHERE) if _CIRCLE.match(listed[mark.numbers[0]])]
    result = find("superscript", _SUPERSCRIPT, _UNIT, source=text) + circled
    raised = find("superscript", _RAISED, _POWER)
    if not bracketed or len(raised) >= max(_ENOUGH, 4 * bracketed):
        result += raised
    # `So it is.1`: a report that lost its superscripts
    bare = find("bare_number", _BARE_NUMBERS, _ABBREVIATION)
    return result + bare if len(bare) >= max(_ENOUGH, 4 * (bracketed + len(result))) else result
