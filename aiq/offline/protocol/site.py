"""The offline stack's small web: the pages of its files, as real HTML by address.

A row may say how its page is served instead (`serve`): as any body of any type, or as a redirect.
"""

import gzip
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.plugins import describe
from aiq.tools.corpus import Corpus, address

_CHINESE = re.compile("[\u4e00-\u9fff]")
_LAYOUT = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<title>{title}</title>
{meta}<link rel="canonical" href="{url}">
</head>
<body>
<header><p>{site}</p></header>
<nav><ul><li><a href="/">{home}</a></li><li><a href="/about">{about}</a></li></ul></nav>
<main><article>
<h1>{title}</h1>
{body}
</article></main>
<footer><p>{site}. {rights}</p></footer>
</body>
</html>
"""
_DATE = '<meta property="article:published_time" content="{}">\n'
_WORDS = {
    "en": {"home": "Home", "about": "About this site", "rights": "All rights reserved."},
    "zh": {"home": "首页", "about": "关于本站", "rights": "版权所有。"},
}


class Served(Record):
    """What a page's address answers in place of its HTML: `text`, `repeat` times, in `encoding`; or a redirect."""

    content_type: str = "text/html; charset=utf-8"
    text: str = ""
    repeat: int = Field(default=1, ge=1)
    encoding: str = "utf-8"
    redirect: str | None = None

    @property
    def body(self) -> bytes:
        return (self.text * self.repeat).encode(self.encoding)


class Site:
    """All websites of the offline stack. The same pages are what its search API finds.

    Raises UserError or DatasetError, naming file and row, when a file is absent or malformed.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        loaded = [Corpus.load(file) for file in files]
        self.corpus = loaded[0] if len(loaded) == 1 else Corpus(page for part in loaded for page in part.pages)
        self._extra: dict[str, str] = {}
        self._served: dict[str, Served] = {}
        for file in files:
            self._read_more(file)

    def served(self, url: str) -> Served | None:
        """How this URL answers, where its row says so."""
        return self._served.get(address(url))

    def _read_more(self, file: Path) -> None:
        """What rows hold beside the corpus: `html_extra`, `serve`. They were checked to be JSON when it was loaded."""
        path = next((file / name for name in ("pages.jsonl", "pages.jsonl.gz") if (file / name).is_file()), file)
        packed = path.read_bytes()[:2] == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if b'"html_extra"' in line or b'"serve"' in line:
                    row = json.loads(line.decode("utf-8-sig"))
                    place = address(row["url"])
                    self._extra[place] = str(row.get("html_extra") or "")
                    try:
                        self._served |= {place: Served.model_validate(row["serve"])} if row.get("serve") else {}
                    except ValidationError as error:
                        raise DatasetError(f"{path}, row {number}: serve: {describe(error)}") from None

    def render(self, url: str) -> str | None:
        """The page at this URL as HTML; None where there is none.

        Title and paragraphs are escaped; `html_extra` is in the article as it is (tables, widgets, attacks).
        """
        page = self.corpus.page(url)
        if page is None:
            return None
        lang = "zh" if len(_CHINESE.findall(page.text)) * 4 > len(page.text) else "en"
        paragraphs = [f"<p>{html.escape(line.strip())}</p>" for line in page.text.splitlines() if line.strip()]
        return _LAYOUT.format(
            lang=lang,
            title=html.escape(page.title),
            meta=_DATE.format(html.escape(page.published)) if page.published else "",
            url=html.escape(page.url),
            site=html.escape(address(page.url).split("/")[0]),
            body="\n".join(filter(None, [*paragraphs, self._extra.get(address(page.url))])),
            **_WORDS[lang],
        )
