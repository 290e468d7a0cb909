"""A file of pages that can be searched (BM25 over passages) and looked up by URL."""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import ConfigDict, ValidationError

from aiq.core.errors import ConfigError, DatasetError
from aiq.core.files import Files, Row, find, jsonl_rows, resolve
from aiq.core.plugins import describe
from aiq.tools.ranking import PassageIndex
from aiq.tools.search import SearchHit, SearchPage

FORM = "a JSONL of url, title, text"


class CorpusPage(SearchPage):
    """A row of the corpus file; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Corpus:
    """Pages in document order; `page` looks one up, `search` ranks them (the index is built at the first search)."""

    def __init__(self, pages: Iterable[CorpusPage]) -> None:
        """Of several rows with the same URL, the one with the longest text is kept, in the first one's place."""
        self._by_address: dict[str, CorpusPage] = {}
        for page in pages:
            stored = self._by_address.setdefault(address(page.url), page)
            if len(page.text) > len(stored.text):
                self._by_address[address(page.url)] = page
        self.pages = tuple(self._by_address.values())

    @classmethod
    def load(cls, path: str | Path | None, row: type[CorpusPage] = CorpusPage) -> "Corpus":
        """Read JSONL or gzipped JSONL of {url, title, text, published?}, or a folder's pages.jsonl[.gz].

        A subclass for `row` may have further fields. Raises ConfigError without a path, and DatasetError naming
        the file and the malformed row.
        """
        if path is None:
            raise ConfigError(f"search.corpus must be set: {FORM}")
        file = resolve(str(path))
        if file.is_dir():
            file = find(file, "pages.jsonl") or file / "pages.jsonl"
        return cls(_page(line, row) for line in jsonl_rows(Files().text(file, f"search.corpus ({FORM})"), str(file)))

    @cached_property
    def _index(self) -> PassageIndex:
        return PassageIndex([(page.title, page.text) for page in self.pages])

    def build_index(self) -> None:
        """Build the search index now, not at the first search; it takes seconds for 10 MB of text."""
        _ = self._index

    def page(self, url: str) -> CorpusPage | None:
        """The page with this URL, regardless of scheme, fragment, percent-encoding and trailing slash."""
        return self._by_address.get(address(url))

    def search(
        self, query: str, k: int, *, max_chars: int = 2000, among: Callable[[CorpusPage], bool] | None = None
    ) -> list[SearchHit]:
        """The `k` best pages, best first, equal scores in document order; none if no term is known.

        `max_chars` bounds each hit's text: the page's best passages in page order. Only pages that `among` accepts are
        ranked. The relevance is BM25's score relative to the best page, which has 1.
        """
        allowed = None if among is None else [among(page) for page in self.pages]
        results = self._index.search(query, k, max_chars, allowed)
        pages = (self.pages[number].model_dump(include={"url", "title", "published"}) for number, _, _ in results)
        return [
            SearchHit(**page, text=text, relevance=round(score / results[0][1], 6))
            for page, (_, score, text) in zip(pages, results, strict=True)
        ]


def address(url: str) -> str:
    """The key that pages are looked up by: lower-case host, path and query, without scheme, fragment and last slash."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # such as an unclosed bracket: not a URL, but it may still be looked up as it is
        return url.strip()
    query = f"?{unquote(parts.query)}" if parts.query else ""
    return parts.netloc.lower() + unquote(parts.path).rstrip("/") + query


def _page(row: Row, kind: type[CorpusPage]) -> CorpusPage:
    try:
        page = kind.model_validate(row.values)
    except ValidationError as error:
        remedy = "each line must be a JSON object with text url, title, text"
        raise DatasetError(f"{row.where}: {describe(error)}; {remedy}") from None
    row.required("url")
    return page
