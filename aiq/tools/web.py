"""The tool `fetch_page`, and the closed webs: the offline stack's pages, and the pages of a corpus."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import WebSettings
from aiq.core.sources import Page
from aiq.core.tools import FETCH, Reader, ToolResult, Web
from aiq.llm.http import URL, AsyncClient, InvalidURL
from aiq.llm.route import is_offline_website
from aiq.tools.blocks import Words, as_source, document, iso_date, safe_url, truncate
from aiq.tools.corpus import Corpus
from aiq.tools.deny import DenyList
from aiq.tools.pages import Downloader, page_of


class FetchArguments(BaseModel):
    """Arguments of `fetch_page`."""

    url: Words = Field(description="The full address of the page, beginning with http:// or https://.")


class FetchPage:
    """`fetch_page`: a `<Document>` block with the page's text, cut to `max_chars` characters.

    The page and, after a redirect, the requested address too are sources; a page without text is not.
    """

    name = FETCH
    description = (
        "Open a web page and read its main text, for example one that a search found, "
        "to see more of it than the search showed."
    )
    parameters: type[BaseModel] = FetchArguments
    data_source: str | None = "web"

    def __init__(self, web: Web, *, max_chars: int) -> None:
        self._web = web
        self._max_chars = max_chars

    async def run(self, arguments: FetchArguments) -> ToolResult:
        page = await self._web.fetch(arguments.url)
        text, excerpt = page.text[: self._max_chars], truncate(page.text, self._max_chars)
        addresses = dict.fromkeys((page.final_url, arguments.url)) if text.strip() else ()
        return ToolResult(
            content=document(safe_url(page.final_url), page.title, excerpt, iso_date(page.published)),
            sources=tuple(as_source(self.name, url, page.title, text, page.published) for url in addresses),
        )


class OfflineWeb:
    """Implements core `Web` over the run's client, which routes offline hosts to the offline stack."""

    def __init__(self, client: AsyncClient, settings: WebSettings) -> None:
        self._deny = DenyList(settings.deny)
        self._downloader = Downloader(client, settings, self._allowed)

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page's main text.

        Raises ToolError: denied, not_available, not_found, timeout, too_large, http, malformed.
        """
        _refuse(reader)
        return await page_of(url, await self._downloader.get(url))

    def _allowed(self, url: str) -> URL:
        self._deny.check(url)
        return _offline_only(url)


class CorpusWeb:
    """Implements core `Web` over a corpus, whose pages are already text."""

    def __init__(self, corpus: Corpus, deny: Sequence[str] = ()) -> None:
        self._corpus = corpus
        self._deny = DenyList(deny)

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page; raises ToolError: denied, and not_available for one that the corpus does not hold."""
        _refuse(reader)
        self._deny.check(url)
        page = self._corpus.page(url)
        if page is None:
            raise _not_available(url, "corpus")
        return Page(url=url, final_url=page.url, title=page.title, text=page.text, published=page.published)


def _refuse(reader: Reader | None) -> None:
    if reader is not None:
        raise ToolError(ToolErrorKind.NOT_AVAILABLE, "a closed web has no reader service; take web=live, or no reader")


def _offline_only(url: str) -> URL:
    """The URL of a website of the offline stack. Its APIs are not pages: `/stats` depends on what other samples do."""
    try:
        parsed = URL(url)
    except (InvalidURL, ValueError):
        raise _not_available(url, "offline web") from None
    if parsed.scheme not in ("http", "https") or not is_offline_website(parsed.host):
        raise _not_available(url, "offline web")
    return parsed


def _not_available(url: str, web: str) -> ToolError:
    return ToolError(
        ToolErrorKind.NOT_AVAILABLE, f"{safe_url(url)[:300]} is not in the {web}; only its pages can be read"
    )
