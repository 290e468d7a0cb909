"""The pages that a run's judges have read: fetched once a run, kept in `pages.jsonl`, found again by URL.

Judges hold statements against pages. Two reports that cite one page, a resumed run and a second judge must
see the same text of it, and pay for it once.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

from aiq.core.base import Record
from aiq.core.sources import Page
from aiq.core.tools import Web
from aiq.experiment.folder import RunFolder
from aiq.experiment.journal import cut_torn_line, json_line, read_rows, whole_lines

FILE_NAME = "pages.jsonl"


class StoredPage(Record):
    """A page as it was fetched first. `digest`: SHA-256 of title and text, first 16 hex digits."""

    schema_version: Literal[1] = 1
    url: str
    final_url: str
    digest: str
    title: str
    text: str
    published: str | None = None

    @classmethod
    def of(cls, page: Page) -> Self:
        return cls(**page.model_dump(), digest=digest_of(page))

    def page(self) -> Page:
        return Page(**self.model_dump(include=set(Page.model_fields)))


def digest_of(page: Page) -> str:
    """What two pages with the same title and text have in common."""
    return hashlib.sha256(f"{page.title}\n\n{page.text}".encode("utf-8", "replace")).hexdigest()[:16]


def read_pages(folder: RunFolder) -> dict[str, StoredPage]:
    """The pages of a run by the URL they were asked for; empty where none was fetched."""
    return {page.url: page for page in read_rows(folder.path / FILE_NAME, StoredPage)}


class PageStore:
    """The web as the judges of one run see it: implements core `Web` over another; texts stay on the disk.

    A failure is remembered for as long as the process lives, so that a page cited a hundred times
    is tried once; a resumed run tries it again.
    """

    def __init__(self, web: Web, folder: RunFolder) -> None:
        self._web = web
        path = folder.path / FILE_NAME
        cut_torn_line(path)
        self._file = path.open("a+b")
        self._places = dict(_places(path))
        self._under_way: dict[str, asyncio.Task[StoredPage]] = {}

    async def fetch(self, url: str) -> Page:
        """The page, from the store or fetched now. Raises ToolError, typed."""
        if url in self._places:
            return self._stored(self._places[url]).page()
        if url not in self._under_way:
            self._under_way[url] = asyncio.ensure_future(self._fetch(url))
        # shielded: one sample's end must not take the page from another that waits for it
        return (await asyncio.shield(self._under_way[url])).page()

    async def _fetch(self, url: str) -> StoredPage:
        stored = StoredPage.of((await self._web.fetch(url)).model_copy(update={"url": url}))
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(json_line(stored).encode())
        self._file.flush()
        self._places[url] = place
        del self._under_way[url]
        return stored

    def _stored(self, place: int) -> StoredPage:
        self._file.seek(place)
        return StoredPage.model_validate_json(self._file.readline())

    async def close(self) -> None:
        """End what is still being fetched for nobody, and the file."""
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        self._file.close()


def _places(path: Path) -> Iterator[tuple[str, int]]:
    """URL and place in the file, in bytes, of each page."""
    place = 0
    for line in whole_lines(path):
        yield json.loads(line)["url"], place
        place += len(line)
