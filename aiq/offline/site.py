"""The offline stack's small web: the pages of its files, as real HTML by address."""

import gzip
import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from aiq.tools.corpus import Corpus, CorpusPage, address

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
_NOT_FOUND = """<!DOCTYPE html>
<html lang="en">
<head><title>404 Not Found</title></head>
<body><h1>404 Not Found</h1><p>There is no page at {url}.</p></body>
</html>
"""
_WORDS = {
    "en": {"home": "Home", "about": "About this site", "rights": "All rights reserved."},
    "zh": {"home": "首页", "about": "关于本站", "rights": "版权所有。"},
}


class Site:
    """All websites of the offline stack. The same pages are what its search API finds.

    Raises UserError or DatasetError, naming file and row, when a file is absent or malformed.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        loaded = [Corpus.load(file) for file in files]
        self.corpus = loaded[0] if len(loaded) == 1 else Corpus(tuple(page for part in loaded for page in part.pages))
        self._extra = {address(url): extra for file in files for url, extra in _extras(file)}

    def render(self, url: str) -> str | None:
        """The page at this URL as HTML; None where there is none."""
        page = self.corpus.page(url)
        return None if page is None else _html(page, self._extra.get(address(page.url), ""))


def _html(page: CorpusPage, extra: str) -> str:
    """Title and paragraphs escaped; `extra` stands in the article as it is (tables, widgets, attacks)."""
    lang = "zh" if len(_CHINESE.findall(page.text)) * 4 > len(page.text) else "en"
    published = (
        f'<meta property="article:published_time" content="{html.escape(page.published)}">\n' if page.published else ""
    )
    paragraphs = [f"<p>{html.escape(line.strip())}</p>" for line in page.text.splitlines() if line.strip()]
    return _LAYOUT.format(
        lang=lang,
        title=html.escape(page.title),
        meta=published,
        url=html.escape(page.url),
        site=html.escape(address(page.url).split("/")[0]),
        body="\n".join([*paragraphs, extra] if extra else paragraphs),
        **_WORDS[lang],
    )


def not_found(url: str) -> str:
    """The body of a 404."""
    return _NOT_FOUND.format(url=html.escape(url))


def _extras(file: Path) -> Iterator[tuple[str, str]]:
    """URL and `html_extra` of the rows that have one; rows were checked when the corpus was loaded."""
    path = next((file / name for name in ("pages.jsonl", "pages.jsonl.gz") if (file / name).is_file()), file)
    packed = path.read_bytes()[:2] == b"\x1f\x8b"
    with gzip.open(path, "rb") if packed else path.open("rb") as lines:
        for line in lines:
            if b'"html_extra"' in line:
                row = json.loads(line.decode("utf-8-sig"))
                yield row["url"], str(row.get("html_extra") or "")
