"""The offline stack's small web: serves the pages from its files as real HTML.

A row may instead say how its page is served (`serve`): any body with any content type, or a redirect.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field
from starlette.responses import HTMLResponse, RedirectResponse, Response

from aiq.core.base import Record
from aiq.llm.route import OFFLINE_SERVICES
from aiq.tools.corpus import Corpus, CorpusPage, address

_CHINESE = re.compile("[\u4e00-\u9fff]")
_LAYOUT = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta property="article:published_time" content="{published}">
<link rel="canonical" href="{url}">
</head>
<body>
<header><p>{site}</p></header>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About this site</a></li></ul></nav>
<main><article>
<h1>{title}</h1>
{body}
</article></main>
<footer><p>{site}. All rights reserved.</p></footer>
</body>
</html>
"""


class Served(Record):
    """What is served in place of a page's HTML: `text`, `repeat` times, in `encoding`; or a redirect."""

    content_type: str = "text/html; charset=utf-8"
    text: str = ""
    repeat: int = Field(default=1, ge=1)
    encoding: str = "utf-8"
    redirect: str | None = None

    @property
    def body(self) -> bytes:
        return (self.text * self.repeat).encode(self.encoding)


class SitePage(CorpusPage):
    """A row of a page file. `html_extra` goes into the article unescaped (tables, widgets, attacks)."""

    html_extra: str = ""
    serve: Served | None = None


def html_of(page: SitePage) -> str:
    """The page as HTML; title and paragraphs are escaped."""
    paragraphs = [f"<p>{html.escape(line.strip())}</p>" for line in page.text.splitlines() if line.strip()]
    return _LAYOUT.format(
        lang="zh" if len(_CHINESE.findall(page.text)) * 4 > len(page.text) else "en",
        title=html.escape(page.title),
        published=html.escape(page.published or ""),
        url=html.escape(page.url),
        site=html.escape(address(page.url).split("/")[0]),
        body="\n".join([*paragraphs, page.html_extra]),
    )


class Site:
    """All websites of the offline stack, by their `hosts`. The search API finds these same pages.

    Raises UserError or DatasetError, naming file and row, when a file is missing or malformed.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.corpus = Corpus(page for file in files for page in Corpus.load(file, SitePage).pages)
        self.hosts = {re.split("[/?]", address(page.url))[0] for page in self.corpus.pages} - OFFLINE_SERVICES

    def answer(self, url: str) -> Response:
        """The response to a request for a URL: its page, or a 404."""
        page = self.corpus.page(url)
        if not isinstance(page, SitePage):
            return HTMLResponse(f"<title>404 Not Found</title>There is no page at {html.escape(url)}.", 404)
        if page.serve is None:
            return HTMLResponse(html_of(page))
        if page.serve.redirect is not None:
            return RedirectResponse(page.serve.redirect)
        return Response(page.serve.body, headers={"content-type": page.serve.content_type})
