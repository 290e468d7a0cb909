"""What models have answered a run's judges to questions that stand for themselves, in `answers.jsonl`.

A page with its statements may be cited by two reports, or by two epochs' reports. The question is then asked
once, with a seed of its own content, so that it makes no difference whose turn it was.

The pages that a run's judges have read: fetched once a run, kept in `pages.jsonl`, found again by URL.

Judges hold statements against pages. Two reports that cite one page, a resumed run and a second judge must
see the same text of it, and pay for it once.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.once import Locks
from aiq.core.sources import Page
from aiq.core.tools import Reader, Web
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Shelf, read_rows

ANSWERS_FILE: Final = "answers.jsonl"


class StoredAnswer(Record):
    """`key`: the digest of everything that decides the answer. `text`: the answer, one that could be used."""

    schema_version: Literal[1] = 1
    key: str
    text: str


class AnswerStore:
    """The answers of one run. One is written only when the spend of who asked for it has been written.

    Otherwise a run that is killed in between would come by answers that stand in no books.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._written = Shelf(folder.path / ANSWERS_FILE, StoredAnswer, "key")
        self._unwritten: dict[str, StoredAnswer] = {}
        self._locks = Locks()

    def of_one(self) -> "AskedAnswers":
        """The store as one judge's work on one report uses it."""
        return AskedAnswers(self)

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """The answer, and whether it was asked for now."""
        async with self._locks.held(key):
            if key in self._unwritten:
                return self._unwritten[key].text, False
            if key in self._written:
                return self._written.read(key).text, False
            answer = StoredAnswer(key=key, text=await ask())
            self._unwritten[key] = answer
            return answer.text, True

    def write(self, key: str) -> None:
        """Keep an answer: its spend stands in the books."""
        self._written.append(self._unwritten.pop(key))

    def close(self) -> None:
        self._written.close()


class AskedAnswers:
    """Implements core `Answers` for one judge's work on one report, and knows what that work has paid for."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._paid: list[str] = []

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        text, now = await self._store.once(key, ask)
        if now:
            self._paid.append(key)
        return text

    def write(self) -> None:
        """Keep what was paid for; called when the spend has been written."""
        for key in self._paid:
            self._store.write(key)
        self._paid.clear()


PAGES_FILE: Final = "pages.jsonl"


class StoredPage(Record):
    """A page as it was fetched first. `digest`: SHA-256 of title and text, first 16 hex digits.

    `asked` is the address that it was asked for: its own `url`, or a reader service's for it.
    """

    schema_version: Literal[1] = 1
    asked: str
    url: str
    final_url: str
    digest: str
    title: str
    text: str
    published: str | None = None

    def page(self) -> Page:
        return Page(**self.model_dump(include=set(Page.model_fields)))


def read_pages(folder: RunFolder) -> dict[str, StoredPage]:
    """The pages of a run by the URL they are cited by; empty where none was fetched."""
    return {page.url: page for page in read_rows(folder.path / PAGES_FILE, StoredPage)}


class PageStore:
    """The web as the judges of one run see it: implements core `Web` over another; texts stay on the disk.

    Who wants a page that is being fetched waits for it. A failure is remembered for as long as the
    process lives, so that a page cited a hundred times is tried once; a resumed run tries it again.
    """

    def __init__(self, web: Web, folder: RunFolder) -> None:
        self._web = web
        self._pages = Shelf(folder.path / PAGES_FILE, StoredPage, "asked")
        self._failed: dict[str, tuple[ToolErrorKind, str]] = {}
        self._locks = Locks()

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page, from the store or fetched now. Raises ToolError, typed."""
        asked = url if reader is None else reader.address(url)
        async with self._locks.held(asked):
            if asked in self._failed:
                raise ToolError(*self._failed[asked])
            if asked not in self._pages:
                await self._fetch(asked, url, reader)
        return self._pages.read(asked).page()

    async def _fetch(self, asked: str, url: str, reader: Reader | None) -> None:
        try:
            page = (await self._web.fetch(url, reader)).model_copy(update={"url": url})
        except ToolError as error:
            self._failed[asked] = (error.kind, str(error))
            raise
        self._pages.append(StoredPage(**page.model_dump(), asked=asked, digest=page.digest))

    def close(self) -> None:
        self._pages.close()
