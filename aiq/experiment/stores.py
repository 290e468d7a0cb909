"""What the judges of a run share: pages are fetched and questions paid for once per run, however often it is resumed.

A question's seed is derived from its content, so that it does not matter for which report it is asked first.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from aiq.cassettes.recorder import shared_slot
from aiq.core.base import Record
from aiq.core.concurrency import Locks
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.session import Answers
from aiq.core.sources import Page
from aiq.core.tools import Reader, Web
from aiq.runs.folder import RunFolder
from aiq.runs.journal import KeyedJournal
from aiq.runs.rows import StoredPage


class StoredAnswer(Record):
    """A line of `answers.jsonl`: a usable answer. `key`: the digest of everything that determines it."""

    schema_version: Literal[1] = 1
    key: str
    text: str


class AnswerStore:
    """The answers of one run. Each is written only after its spend, so that a killed run keeps none without it."""

    def __init__(self, folder: RunFolder) -> None:
        self.journal = KeyedJournal(folder.answers_path, StoredAnswer, "key", folder.journals("answers"))
        self.pending: dict[str, StoredAnswer] = {}
        self.locks = Locks()

    def close(self) -> None:
        self.journal.close()


class SharedAnswers(Answers):
    """The run's answers as used by one judge's work on one report; remembers what that work has paid for."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._paid: list[str] = []

    async def get_or_ask(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        store = self._store
        async with store.locks.of(key):
            if key not in store.pending:
                if key in store.journal:
                    return store.journal.read(key).text
                with shared_slot():
                    store.pending[key] = StoredAnswer(key=key, text=await ask())
                self._paid.append(key)
            return store.pending[key].text

    def write(self) -> None:
        """Keep what was paid for; call it once the spend has been written."""
        for key in self._paid:
            self._store.journal.append(self._store.pending.pop(key))
        self._paid.clear()


class PageStore:
    """The web as the judges of one run see it: implements core `Web` on top of another; texts stay on disk.

    A failure is remembered until the process ends; a resumed run tries the page again.
    """

    def __init__(self, web: Web, folder: RunFolder) -> None:
        self._web = web
        self._pages = KeyedJournal(folder.pages_path, StoredPage, "asked", folder.journals("pages"))
        self._failed: dict[str, tuple[ToolErrorKind, str]] = {}
        self._locks = Locks()

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page, from the store or fetched now. Raises ToolError, typed."""
        address = url if reader is None else reader.address(url)
        async with self._locks.of(address):
            if address in self._failed:
                raise ToolError(*self._failed[address])
            if address not in self._pages:
                try:
                    with shared_slot():
                        page = (await self._web.fetch(url, reader)).model_copy(update={"url": url})
                except ToolError as error:
                    self._failed[address] = (error.kind, str(error))
                    raise
                self._pages.append(StoredPage(**page.model_dump(), asked=address, digest=page.digest))
        return self._pages.read(address).page()

    def close(self) -> None:
        self._pages.close()
