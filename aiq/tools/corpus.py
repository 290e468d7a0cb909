"""A file of pages that can be searched (BM25 over passages) and looked up by URL."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import ConfigDict, ValidationError

from aiq.core.base import Record
from aiq.core.errors import DatasetError, UserError
from aiq.core.files import resolve
from aiq.core.plugins import describe
from aiq.core.text import has_halves
from aiq.tools.ranking import PassageIndex


class CorpusPage(Record):
    """A row of the corpus file; keys it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    url: str
    title: str
    text: str
    published: str | None = None


class CorpusHit(Record):
    """A page that answers a query. `score` > 0; `text` holds its best passages in page order."""

    url: str
    title: str
    text: str
    score: float
    published: str | None = None


class Corpus:
    """Pages in document order; `page` looks one up, `search` ranks them (the index is made at the first search)."""

    def __init__(self, pages: Iterable[CorpusPage]) -> None:
        """Of several rows with the same URL the one with the longest text counts, at the first one's place."""
        self._by_address: dict[str, CorpusPage] = {}
        for page in pages:
            known = self._by_address.setdefault(address(page.url), page)
            if len(page.text) > len(known.text):
                self._by_address[address(page.url)] = page
        self.pages = tuple(self._by_address.values())

    @classmethod
    def load(cls, path: str | Path, row: type[CorpusPage] = CorpusPage) -> "Corpus":
        """Read JSONL or gzipped JSONL of {url, title, text, published?}, or a folder's pages.jsonl[.gz].

        A `row` of another class may have further fields.
        Raises UserError when there is no such file, DatasetError naming file and row when a row is malformed.
        """
        return cls(_read(_find(resolve(str(path))), row))

    @cached_property
    def _index(self) -> PassageIndex:
        return PassageIndex([(page.title, page.text) for page in self.pages])

    def build_index(self) -> None:
        """Make the search index now and not at the first search; it takes seconds for 10 MB of text."""
        _ = self._index

    def page(self, url: str) -> CorpusPage | None:
        """The page of this URL, whatever its scheme, fragment, percent-encoding or trailing slash."""
        return self._by_address.get(address(url))

    def search(
        self, query: str, k: int, *, max_chars: int = 2000, among: Callable[[CorpusPage], bool] | None = None
    ) -> list[CorpusHit]:
        """The `k` best pages, best first, equal scores in document order; none where no term is known.

        `max_chars` bounds each hit's text: the page's best passages. Only pages that `among` accepts are ranked.
        """
        allowed = None if among is None else [among(page) for page in self.pages]
        return [
            CorpusHit(**self.pages[number].model_dump(include={"url", "title", "published"}), text=text, score=score)
            for number, score, text in self._index.search(query, k, max_chars, allowed)
        ]


def address(url: str) -> str:
    """The URL as pages are looked up: host in lower case and path, without scheme, fragment and last slash."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # such as an unclosed bracket: no address, but it may still be looked up as it is
        return url.strip()
    query = f"?{unquote(parts.query)}" if parts.query else ""
    return parts.netloc.lower() + unquote(parts.path).rstrip("/") + query


def _find(path: Path) -> Path:
    if path.is_dir():
        for name in ("pages.jsonl", "pages.jsonl.gz"):
            if (path / name).is_file():
                return path / name
        raise UserError(f"{path}: the folder holds no pages.jsonl or pages.jsonl.gz; name the file itself")
    if not path.is_file():
        raise UserError(f"{path}: there is no such corpus file; set search.corpus to a JSONL of url, title, text")
    return path


def _read(path: Path, row: type[CorpusPage]) -> Iterator[CorpusPage]:
    """The file's pages; gzip is known by its first bytes, whatever the name."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _row(line, row, path, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DatasetError(f"{path}: the gzip file is damaged ({error}); make or download it again") from None


def _row(line: bytes, row: type[CorpusPage], path: Path, number: int) -> CorpusPage:
    remedy = "each line must be a JSON object with text url, title, text"
    try:
        text = line.decode("utf-8-sig")
        value = json.loads(text)
        page = row.model_validate(value)
    except ValidationError as error:
        raise DatasetError(f"{path}, row {number}: {describe(error)}; {remedy}") from None
    except ValueError as error:
        raise DatasetError(f"{path}, row {number}: not JSON in UTF-8 ({error}); {remedy}") from None
    if has_halves(text, value):
        raise DatasetError(f"{path}, row {number}: an escape (\\ud...) spells half a character; mend it")
    if not page.url.strip():
        raise DatasetError(f"{path}, row {number}: url is empty; {remedy}")
    return page
