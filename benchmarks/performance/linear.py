"""A plain implementation of the rules for URLs in docs/reference/citations.md: each look-up tries all sources.

Tests compare the index of `aiq.citations` with it, and the benchmark measures what the index saves.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from benchmarks.performance.plain_urls import Address, read_address

_AROUND_A_CUT = "([<)]>*.…‥⋯,;:!?"
"""Characters that may surround the `...` of a truncated URL."""


@dataclass(frozen=True)
class Found:
    """The source, by its position, the level, and whether the report itself marked the URL as truncated."""

    position: int
    level: str
    marked: bool = False


class LinearRegistry:
    """The same sources and rules as `SourceIndex`, without an index."""

    def __init__(self, urls: Sequence[str]) -> None:
        by_meaning: dict[object, tuple[int, Address]] = {}
        for position, url in enumerate(urls):
            address = read_address(url)
            if address is not None:
                by_meaning.setdefault(address.meaning, (position, address))
        self._known = list(by_meaning.values())

    def find(self, url: str) -> Found | None:
        """The source that a cited URL refers to: the first level with exactly one match decides."""
        address = read_address(url)
        if address is not None and (found := self._equal(address)):
            return _result(found, "exact")
        text = re.sub("%E2%80%A6", "…", url, flags=re.IGNORECASE)
        stub = text.rstrip(_AROUND_A_CUT)
        tail = text[len(stub) :]
        marked = "..." in tail or any(mark in tail for mark in "…‥⋯")
        cited = read_address(stub if marked else url)
        if cited is None:
            return None
        if marked:
            return _result(self._by_stub(cited, stub), "truncation", marked=True)
        if found := _only(self._continuing(cited)):
            longer = len(found[1].path) > len(cited.path)
            level = "truncation" if longer and found[1].written.startswith(cited.written) else "prefix"
            return _result(found, level)
        if found := self._parent(cited):
            return _result(found, "child_path")
        if found := _only(self._with_more_parameters(cited)):
            return _result(found, "query_subset")
        is_word = len(cited.query) == 1 and len(re.findall(r"[^\W_]+", cited.query[0][1])) == 1  # is whole as it is
        match = self._by_stub(cited, url) if cited.query and not is_word and "#" not in url else None
        return _result(match, "truncation") if match and match[1].spelling != cited.spelling else None

    def _equal(self, cited: Address) -> tuple[int, Address] | None:
        return next((item for item in self._known if item[1].meaning == cited.meaning), None)

    def _by_stub(self, cited: Address, stub: str) -> tuple[int, Address] | None:
        """The only source that begins like a stub longer than the host, unless the cut is within an identifier."""
        start = cited.spelling
        if "%" in stub:  # an encoded character may have been cut in two
            start = re.sub(r"(%[0-9A-Fa-f]?|[\ud800-\udfff]+)$", "", start)
        if "/" not in start:
            return None
        extensions = [item for item in self._known if item[1].spelling.startswith(start)]
        if equal := self._equal(cited):
            return equal if extensions in ([], [equal]) else None
        found = _only(extensions)
        if found is None or _completes(start, found[1].spelling):
            return None
        host, path = found[1].site[0], found[1].path
        is_work = host in ("doi.org", "arxiv.org") and "/" in "".join(path[-1:])  # one segment, whatever its slashes
        return None if is_work and len(cited.path) >= len(path) else found

    def _continuing(self, cited: Address) -> list[tuple[int, Address]]:
        """Sources with further path segments, or with the same path and something more."""
        if not cited.bare:
            return []
        depth = len(cited.path)
        return [
            item
            for item in self._known
            if item[1].site == cited.site
            and item[1].path[:depth] == cited.path
            and (len(item[1].path) > depth or not item[1].bare)
        ]

    def _parent(self, cited: Address) -> tuple[int, Address] | None:
        """The nearest parent with at least two segments; of several with the same path, the one without parameters."""
        parents = [
            item
            for item in self._known
            if item[1].site == cited.site
            and len(item[1].path) < len(cited.path)
            and sum(segment != "" for segment in item[1].path) >= 2
            and cited.path[: len(item[1].path)] == item[1].path
        ]
        nearest = max((len(item[1].path) for item in parents), default=0)
        candidates = [item for item in parents if len(item[1].path) == nearest]
        return _only([item for item in candidates if item[1].bare]) or _only(candidates)

    def _with_more_parameters(self, cited: Address) -> list[tuple[int, Address]]:
        """Sources with the same path and route that have all parameters of the report's URL, as many times."""
        candidates = [item for item in self._known if item[1].site == cited.site and item[1].path == cited.path]
        return [
            item
            for item in candidates
            if cited.query and cited.route in ("", item[1].route) and Counter(cited.query) <= Counter(item[1].query)
        ]


def _only(items: Sequence[tuple[int, Address]]) -> tuple[int, Address] | None:
    return items[0] if len(items) == 1 else None


def _result(item: tuple[int, Address] | None, level: str, *, marked: bool = False) -> Found | None:
    return None if item is None else Found(item[0], level, marked)


def _completes(start: str, text: str) -> bool:
    """Whether the cut is within an identifier: a word with a digit, or two such words joined by one mark."""
    end = len(start)
    mark = ""
    before = _word(start[::-1])[::-1]
    if not before and start and _is_mark(start[-1]):
        mark, before = start[-1], _word(start[-2::-1])[::-1]
    after = _word(text[end:])
    if not mark and not after and _is_mark(text[end : end + 1]):
        mark, after = text[end], _word(text[end + 1 :])
    if not before or not after:
        return False
    return _has_digit(before) and _has_digit(after) if mark else _has_digit(before + after)


def _word(text: str) -> str:
    """The letters and digits at the start of a text; CJK characters are never part of an identifier."""
    return "".join(takewhile(lambda letter: letter.isalnum() and not _is_cjk(letter), text))


def _is_cjk(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af"


def _is_mark(text: str) -> bool:
    return len(text) == 1 and not text.isalnum() and text not in "/?&="


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)
