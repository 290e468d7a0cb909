"""The fetch tool: one page's main text, from whichever web the run is configured with."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from aiq.core.sources import Page, Source
from aiq.core.tools import ToolResult, Web
from aiq.tools.blocks import document, iso_date, safe_url


class FetchArguments(BaseModel):
    """Arguments of `fetch_page`."""

    url: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] = Field(
        description="The full address of the page, beginning with http:// or https://."
    )


class FetchPage:
    """`fetch_page`: a `<Document>` block with the page's text, cut to `max_chars` characters.

    Page and, after a redirect, the address that was asked for are both sources; a page without text is none.
    """

    name = "fetch_page"
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
        text = page.text[: self._max_chars]
        shown = text
        if len(page.text) > len(text):
            shown += f"\n[cut: the first {len(text)} of {len(page.text)} characters]"
        published = iso_date(page.published)
        addresses = dict.fromkeys((page.final_url, arguments.url))
        return ToolResult(
            content=document(safe_url(page.final_url), page.title, shown, published),
            sources=tuple(self._source(address, page, text) for address in addresses if text.strip()),
        )

    def _source(self, url: str, page: Page, text: str) -> Source:
        return Source(
            url=safe_url(url),
            title=" ".join(page.title.split()),
            text=text,
            published=iso_date(page.published),
            tool=self.name,
        )
