"""Pages over HTTP: the download within the limits of `web.*`, and its text (of HTML the main text, by trafilatura)."""

import asyncio
import codecs
import logging
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from html import unescape
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from aiq.cassettes.guard import other_counter
from aiq.core.base import Record
from aiq.core.concurrency import binding
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import WebSettings
from aiq.core.sources import Page
from aiq.llm.http import BOUNDS, SEND_ERRORS, URL, AsyncClient, Bounds, InvalidURL, Response
from aiq.tools.blocks import safe_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})

ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1"

TEXT_TYPES = re.compile(r"text/(?!html)|application/(?:[\w.-]+\+)?(?:json|xml|yaml|x-ndjson)\b")
HTML_TYPES = re.compile(r"text/html|application/xhtml\+xml")

SHORT = 250
"""A shorter extracted main text, in characters, is doubted and compared with the whole page's text."""

MOST_TAGS = 50_000
"""The extractor's time grows with the square of a page's elements: some 3 s at this many tags, minutes at ten times."""

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_SUPERSETS = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
"""What browsers read if a page declares the older, smaller character set (WHATWG Encoding 4.2)."""
_HOST_CODECS = frozenset({"idna", "punycode"})
"""Codecs in Python, but not character sets; decoding a page as punycode takes hours (the square of its length)."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

_SILENT = logging.NullHandler()
"""Keeps the libraries' complaints about odd pages off the terminal; a configured log still gets them."""


class Download(Record):
    """A body as it came over the wire, decompressed, not yet decoded to text."""

    final_url: str
    content_type: str
    body: bytes


class _ReaderData(BaseModel):
    content: str = Field(min_length=1)
    url: str | None = None
    title: str | None = None
    description: str | None = None
    published: str | None = Field(default=None, alias="publishedTime")

    @property
    def page(self) -> dict[str, Any]:
        metadata = {"title": self.title or "", "description": self.description or ""}
        return {**metadata, "text": self.content, "published": self.published}


class _ReaderAnswer(BaseModel):
    data: _ReaderData


@dataclass(frozen=True)
class Downloader:
    """Fetches through `client`. `check` is called with every URL before its request and raises ToolError to refuse."""

    client: AsyncClient
    settings: WebSettings
    check: Callable[[str], URL]
    accept: str = ACCEPT

    async def get(self, url: str, secret: str | None = None) -> Download:
        """The answer with status 200 that `url` leads to, within `web.timeout_seconds` in all.

        `secret` is sent as a bearer token to the origin of `url`, and to no other that it redirects to.
        Raises ToolError: blocked (by `check`), timeout, too_large, not_found (404, 410), http.
        """
        seconds = self.settings.timeout_seconds
        bounds = Bounds(asyncio.get_running_loop().time() + seconds, self.settings.max_bytes)
        try:
            async with asyncio.timeout_at(bounds.deadline):
                return await self._follow(url, secret, bounds)
        except TimeoutError:
            raise _error(ToolErrorKind.TIMEOUT, url, f"no complete answer within {seconds:g} s") from None
        except (*SEND_ERRORS, InvalidURL) as error:
            raise _error(ToolErrorKind.HTTP, url, f"{error or type(error).__name__}") from None

    async def _follow(self, url: str, secret: str | None, bounds: Bounds) -> Download:
        current = origin = self.check(url)
        for _ in range(self.settings.max_redirects + 1):
            own = (current.scheme, current.host, current.port) == (origin.scheme, origin.host, origin.port)
            headers = {"accept": self.accept, **({"authorization": f"Bearer {secret}"} if secret and own else {})}
            options: dict[str, Any] = {"headers": headers, "timeout": None, "extensions": {BOUNDS: bounds}}
            async with self.client.stream("GET", current, **options) as response:
                if response.status_code not in REDIRECTS:
                    return await self._read(current, response)
                current = self.check(str(current.join(response.headers.get("location", ""))))
        raise _error(ToolErrorKind.HTTP, url, f"more than {self.settings.max_redirects} redirects")

    async def _read(self, url: URL, response: Response) -> Download:
        status = response.status_code
        if status in (404, 410):
            raise _error(ToolErrorKind.NOT_FOUND, str(url), f"there is no such page (HTTP {status})")
        if status != 200:
            raise _error(ToolErrorKind.HTTP, str(url), f"HTTP {status}")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self.settings.max_bytes:
                raise _error(ToolErrorKind.TOO_LARGE, str(url), f"more than {self.settings.max_bytes} bytes")
        return Download(final_url=str(url), content_type=response.headers.get("content-type", ""), body=bytes(body))


async def page_of(url: str, download: Download) -> Page:
    """The page of a download, extracted in a thread. Raises ToolError (`malformed`) for anything but text."""
    media_type = download.content_type.partition(";")[0].strip().lower()
    head = download.body[:1024].lstrip().lower()
    if media_type == "application/pdf" or head.startswith(b"%pdf-"):
        raise _malformed(url, "it is a PDF, which is not supported; look for a web page with the same content")
    sniffed = not media_type or media_type == "application/octet-stream"
    is_html = HTML_TYPES.match(media_type) or (sniffed and (head.startswith(b"<!doctype html") or b"<html" in head))
    if not is_html and not TEXT_TYPES.match(media_type) and not (sniffed and b"\0" not in download.body):
        raise _malformed(url, f"it is {media_type or 'binary data'}, not text")
    text = decoded(download.body, download.content_type)
    if not is_html:
        return Page(url=url, final_url=download.final_url, title="", text=text.strip())
    try:
        fields = await asyncio.to_thread(_extract, text, download.final_url)
    except Exception as error:  # the page is hostile or the parser has a bug: either way this page gives nothing
        raise _malformed(url, f"its HTML cannot be read ({type(error).__name__})") from error
    if not fields["text"]:
        raise _malformed(url, "the page has no readable text")
    return Page(url=url, final_url=download.final_url, **fields)


async def page_by_reader(url: str, download: Download) -> Page:
    """The page in a reader service's answer: `{"data": {"title", "description", "content"}}`, or a page of text.

    Raises ToolError (`malformed`).
    """
    try:
        answer = _ReaderAnswer.model_validate_json(download.body)
    except ValidationError:
        return await page_of(url, download)
    return Page(url=url, final_url=answer.data.url or url, **answer.data.page)


def decoded(body: bytes, content_type: str) -> str:
    """The body as text: by byte order mark, as UTF-8 if it is valid, then as declared, then by guess.

    Valid UTF-8 is hardly ever anything else (unless an escape byte suggests ISO-2022); declarations are often wrong.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    declared = [*_CHARSET.findall(content_type), *_CHARSET.findall(body[:2048].decode("latin-1"))]
    encodings = [*declared, "utf-8"] if b"\x1b" in body else ["utf-8", *declared]
    for encoding in encodings:
        try:
            if (encoding := codecs.lookup(encoding).name) in _HOST_CODECS:
                continue
            text = body.decode(_SUPERSETS.get(encoding, encoding))
            text.encode()  # some of Python's own codecs give lone surrogates
            return text
        except (LookupError, UnicodeError):
            continue
    text = body.decode("utf-8", "replace")
    if text.count("\ufffd") * 10 < sum(not c.isascii() for c in text):
        return text  # UTF-8 with a few broken characters; a guess would spoil all of it
    from charset_normalizer import from_bytes

    guess = from_bytes(body[:20_000]).best()
    return body.decode(guess.encoding if guess else "cp1252", "replace")


def _extract(html: str, url: str) -> dict[str, Any]:
    """Title, description, main text, publication date; beyond `MOST_TAGS` elements only title and all text."""
    with binding(other_counter, Counter[str]()):  # importing urllib3 opens an unconnected socket, to see which exist
        import trafilatura
        from trafilatura.settings import DEFAULT_CONFIG, Document

    for library in ("trafilatura", "htmldate"):
        logging.getLogger(library).addHandler(_SILENT)
    if html.count("<") > MOST_TAGS:
        if "<html" not in html[:2048].lower():  # the extractor does not take a fragment of this size for a page
            html = f"<html><body>{html}</body></html>"
        title = re.search(r"<title[^<>]*>([^<]*)", html, re.IGNORECASE)
        return {"title": unescape(title.group(1)).strip() if title else "", "text": trafilatura.html2txt(html).strip()}
    config = deepcopy(DEFAULT_CONFIG)
    config["DEFAULT"]["MIN_EXTRACTED_SIZE"] = "10"  # short pages are pages too
    page = trafilatura.bare_extraction(
        html,
        url=url,
        with_metadata=True,
        include_comments=False,
        include_links=False,
        config=config,
        # Only what the page itself declares; the default refuses dates after this machine's today.
        date_extraction_params={"extensive_search": False, "original_date": False, "max_date": "9999-12-31"},
    )
    page = page if isinstance(page, Document) else Document()
    text = (page.text or "").strip()
    if len(text) < SHORT:
        full_text = trafilatura.html2txt(html).strip()
        text = full_text if len(full_text) > 4 * len(text) else text
    metadata = {"title": page.title or "", "description": (page.description or "").strip()}
    return {**metadata, "text": text, "published": page.date}


def _error(kind: ToolErrorKind, url: str, reason: str, verb: str = "fetched") -> ToolError:
    return ToolError(kind, f"{safe_url(url)[:300]} could not be {verb}: {reason}")


def _malformed(url: str, reason: str) -> ToolError:
    return _error(ToolErrorKind.MALFORMED, url, reason, "read")
