"""The pages that a run's judges have read: fetched once a run, kept in `pages.jsonl`, found again by URL.

Judges hold statements against pages. Two reports that cite one page, a resumed run and a second judge must
see the same text of it, and pay for it once.
"""

from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.once import Locks
from aiq.core.sources import Page
from aiq.core.tools import Reader, Web
from aiq.experiment.folder import RunFolder
from aiq.experiment.journal import read_rows
from aiq.experiment.shelf import Shelf

FILE_NAME: Final = "pages.jsonl"


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
    return {page.url: page for page in read_rows(folder.path / FILE_NAME, StoredPage)}


class PageStore:
    """The web as the judges of one run see it: implements core `Web` over another; texts stay on the disk.

    Who wants a page that is being fetched waits for it. A failure is remembered for as long as the
    process lives, so that a page cited a hundred times is tried once; a resumed run tries it again.
    """

    def __init__(self, web: Web, folder: RunFolder) -> None:
        self._web = web
        self._pages = Shelf(folder.path / FILE_NAME, StoredPage, "asked")
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
