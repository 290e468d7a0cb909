"""The closed webs: the offline stack's pages, and the pages of a corpus. Anything else is `not_available`."""

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.llm.http import URL, AsyncClient, InvalidURL
from aiq.llm.route import is_offline_website
from aiq.tools.blocks import safe_url
from aiq.tools.corpus import Corpus
from aiq.tools.pages import Downloader, page_of


class OfflineWeb:
    """Implements core `Web` over the run's client, which leads offline hosts to the offline stack."""

    def __init__(self, client: AsyncClient, settings: WebSettings) -> None:
        self._downloader = Downloader(client, settings, offline_only)

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page's main text. Raises ToolError: not_available, timeout, too_large, http, malformed."""
        refuse(reader)
        return await page_of(url, await self._downloader.get(url))


class CorpusWeb:
    """Implements core `Web` over a corpus: pages are text already."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page; raises ToolError (`not_available`) for one that the corpus does not hold."""
        refuse(reader)
        page = self._corpus.page(url)
        if page is None:
            raise ToolError(
                ToolErrorKind.NOT_AVAILABLE, f"{safe_url(url)[:300]} is not in the corpus; only its pages can be read"
            )
        return Page(url=url, final_url=page.url, title=page.title, text=page.text, published=page.published)


def refuse(reader: Reader | None) -> None:
    """Raises ToolError (`not_available`) where a reader service is asked for: only the live web has them."""
    if reader is not None:
        raise ToolError(ToolErrorKind.NOT_AVAILABLE, "a closed web has no reader service; take web=live, or no reader")


def offline_only(url: str) -> URL:
    """The URL, where it is a website of the offline stack; raises ToolError (`not_available`) elsewhere.

    Its APIs are no pages: what `/stats` says depends on what other samples do.
    """
    try:
        parsed = URL(url)
    except (InvalidURL, ValueError):
        parsed = URL("")
    if parsed.scheme not in ("http", "https") or not is_offline_website(parsed.host):
        raise ToolError(
            ToolErrorKind.NOT_AVAILABLE, f"{safe_url(url)[:300]} is not in the offline web; only its pages can be read"
        )
    return parsed
