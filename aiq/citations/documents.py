"""Reads document citations such as `report.pdf, p.15` (a name, perhaps pages) and finds the retrieved document."""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from sys import maxsize

from aiq.core.sources import Source

_NUMBER = r"(?:\d+|[〇零一二三四五六七八九十百]+)"
_RANGE = rf"{_NUMBER}(?:\s*(?:[-–—~～至到]|to|bis|à|a)\s*{_NUMBER})?"
_NO_DATE = r"(?![0-9a-z]|\s+(?!(?:and|und|et|y|of|von|de)\b)[a-z])"
"""After a further page: in `p. 15, 3 May` the 3 is not a page."""
_RANGES = rf"{_RANGE}(?:\s*(?:[,;，；、&]|and|und|et|y|和|及)\s*{_RANGE}{_NO_DATE}){{0,7}}"
_PAGES = re.compile(
    rf"""
    (?: (?:(?<=\.\w\w)|(?<=\w\w\w)) [#](?:page=)?p?(?P<anchor>\d+)(?!\w)(?:&[\w.,=&-]*)?
      | (?<![\w.])(?:pages?|pp?\.?|s\.|seiten?|pág(?:s|inas?)?\.?|slides?)\s*
        (?P<west>{_RANGES})(?:\s*(?:of|von|/|de)\s*\d+)?(?!\w)
      | (?<!\w)(?P<east>{_RANGES})\s*(?:쪽|페이지|ページ|頁|页)
      | 第\s*(?P<cjk>{_RANGES})\s*[页頁]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FILE = re.compile(r"[^\s/\\](?:[^/\\]*[^\s/\\])?\.(?=\w*[a-z])\w{2,5}", re.IGNORECASE)
_EXTENSION = re.compile(r"\.(?=\w*[a-z])\w{2,5}\Z", re.IGNORECASE)
_URI = re.compile(r"(?<!\w)[a-z][a-z0-9+.-]+://[^\s<>\"'`()\[\]]+", re.IGNORECASE)
"""The name that an MCP server gives a resource, such as `notes://2026/march`."""
_STRONG = re.compile(r" [-–—|]+ |[:：] ?| ?[|] ?")
"""Separates a document's name from words about it; after it, any words before a page are a name."""
_WEAK = re.compile(r"[,;，；、] ?|\. +|。|[()（）\[\]]")
"""May separate them too; after it, only a file name is a name."""
_REMARK = re.compile(r" ?[(（][^()（）]*[)）]$")
_LONGEST_ENTRY = 2000
"""The number of characters of an entry in which a document's name is looked for."""
_MOST_STARTS, _MOST_ENDS, _MOST_PAGES = 12, 6, 12
"""At most how many places are tried as a name's start (counted back from its end) and as its end; how many pages."""
_TRIM = " \t\n*_`~<>\"'“”‘’«»《》「」[]。."
_BEFORE_PAGES = " ,;:，；：、|(（[-–—" + _TRIM
_Pages = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """A document's `name` (NFKC, lower case), and the first and last page cited (None: the whole document)."""

    name: str
    first: int | None = None
    last: int | None = None

    def pages_from(self, other: "DocumentKey") -> int:
        """The distance in pages between two places of one document; 0 if they share a page."""
        if self.first is None or other.first is None:
            return maxsize
        return max(0, other.first - (self.last or self.first), self.first - (other.last or other.first))


def parse_key(text: str) -> DocumentKey:
    """Read a citation key; a page counts only at its end."""
    text = " ".join(text.split())[:_LONGEST_ENTRY]
    end = len(text.rstrip(_TRIM + ")）"))
    for start, stop, pages in _page_references(text):
        name = _name(text[:start].rstrip(_BEFORE_PAGES))
        if stop >= end and name:
            return DocumentKey(name, *pages[0])
    return DocumentKey(_name(text))


@lru_cache(maxsize=4096)  # matching, the audit and its record look up the same entries, in each round again
def named_documents(entry: str) -> tuple[DocumentKey, ...]:
    """The keys that an entry's text may mean, most literal first: the whole text, its URIs, its parts at separators.

    A part must name a file or a page; the whole text may be any name. Pages anywhere in the entry
    apply to every part, with one key for each page: no part means a document without its page.
    """
    entry = " ".join(entry.split())[:_LONGEST_ENTRY]
    references = list(islice(_page_references(entry), _MOST_ENDS))
    keys = [DocumentKey(_name(entry)), *map(parse_key, _URI.findall(entry))]
    for start, end in _name_places(entry, [start for start, _, _ in references]):
        outside = dict.fromkeys(page for at, stop, pages in references if at >= end or stop <= start for page in pages)
        name = _name(entry[start:end])
        keys += [DocumentKey(name, *page) for page in islice(outside, _MOST_PAGES)] or [DocumentKey(name)]
    return tuple(dict.fromkeys(key for key in keys if key.name))


def looks_like_document(entry: str) -> bool:
    """Whether an entry without a URL names a file, a page or a URI, so that it counts as a document citation."""
    keys = named_documents(entry)
    return any(key.first is not None or _FILE.fullmatch(key.name) or _URI.fullmatch(key.name) for key in keys)


def _name_places(entry: str, references: list[int]) -> Iterator[tuple[int, int]]:
    """Where in an entry a document's name may be: before a page, as a file name, or all but a final remark."""
    strong, weak = list(_STRONG.finditer(entry)), list(_WEAK.finditer(entry))
    if remark := _REMARK.search(entry):
        yield 0, remark.start()
    after_strong = [0, *(cut.end() for cut in strong)]
    after_any = sorted({*after_strong, *(cut.end() for cut in weak)})
    before_pages = [len(entry[:at].rstrip(_BEFORE_PAGES)) for at in references]
    cuts = sorted({len(entry), *before_pages, *(cut.start() for cut in (*strong, *weak))})
    files = [end for end in cuts if _EXTENSION.search(entry[max(0, end - 16) : end].rstrip(_TRIM))]
    for end in sorted({*before_pages, *files[-_MOST_ENDS:]}, reverse=True):
        starts = after_any if end in files else after_strong
        for start in dict.fromkeys((0, *starts[: bisect_right(starts, end)][-_MOST_STARTS:])):
            if end in before_pages or _FILE.fullmatch(entry[start:end].strip(_TRIM)):
                yield start, end


def _page_references(text: str) -> Iterator[tuple[int, int, tuple[_Pages, ...]]]:
    """Where a text names pages (start, end), and which ones."""
    for match in _PAGES.finditer(text):
        ranges = next(group for group in match.groups() if group)
        yield match.start(), match.end(), tuple(map(_pages, re.findall(_RANGE, ranges, re.IGNORECASE)))


def _pages(page_range: str) -> _Pages:
    """First and last page; `123-5` ends at 125, and a range that runs backwards means its first page."""
    first, last = (re.findall(_NUMBER, page_range) * 2)[:2]
    start = _value(first)
    if _value(last) < start and (first + last).isdigit():
        last = first[: max(0, len(first) - len(last))] + last
    return start, max(start, _value(last))


def _value(numeral: str) -> int:
    """A number in digits or in Chinese numerals below a thousand (`十五`, `一百二十`, `二〇`)."""
    if numeral.isdigit():
        return int(numeral)
    total = digit = 0
    for unit in map(int, map(unicodedata.numeric, numeral)):
        total, digit = (total + (digit or 1) * unit, 0) if unit >= 10 else (total, digit * 10 + unit)
    return total + digit


def _name(text: str) -> str:
    text = " ".join(text.strip(_TRIM).rstrip(",;，；、 ").split())
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


class DocumentIndex:
    """The documents among the sources, by name; `window`: how many pages a cited page may be from a retrieved one."""

    def __init__(self, sources: Iterable[Source], window: int) -> None:
        self._window = window
        self._sources: dict[DocumentKey, Source] = {}
        self._keys = defaultdict[str, list[DocumentKey]](list)
        for source in sources:
            key = parse_key(source.citation_key or "")
            if key.name and self._sources.setdefault(key, source) is source:
                self._keys[key.name].append(key)

    def __bool__(self) -> bool:
        return bool(self._sources)

    def find(self, cited: DocumentKey) -> Source | None:
        """The source with the cited page: an equal key, a shared page, a whole document, or a page near enough.

        A citation without pages means the whole document: any of its sources, one with an equal key first.
        """
        keys = self._keys.get(cited.name)
        if cited in self._sources or not keys:
            return self._sources.get(cited)
        if cited.first is None:
            return self._sources[keys[0]]
        nearest, whole = min(keys, key=cited.pages_from), self._sources.get(DocumentKey(cited.name))
        distance = cited.pages_from(nearest)
        return whole if whole and distance else self._sources[nearest] if distance <= self._window else None
