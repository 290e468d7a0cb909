"""One GET with the limits of `web.*`: redirects followed by hand and checked each, time and size bounded."""

import asyncio
from collections.abc import Callable

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.llm.http import SEND_ERRORS, URL, AsyncClient, InvalidURL, Response, Timeout, TimeoutException
from aiq.tools.documents import safe_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})

ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1"


class Download(Record):
    """A body as it came over the wire, decompressed, not yet decoded to text."""

    final_url: str
    content_type: str
    body: bytes


class Downloader:
    """Fetches through `client`. `check` is called with every URL before it is asked and raises ToolError to refuse."""

    def __init__(self, client: AsyncClient, settings: WebSettings, check: Callable[[str], URL]) -> None:
        self._client = client
        self._seconds = settings.timeout_seconds
        self._max_bytes = settings.max_bytes
        self._max_redirects = settings.max_redirects
        self._check = check

    async def get(self, url: str, secret: str | None = None) -> Download:
        """The answer with status 200 that `url` ends at, within `web.timeout_seconds` for all of it.

        `secret` goes along as a bearer token to the origin of `url`, and to no other that it redirects to.
        Raises ToolError: blocked (by `check`), timeout, too_large, not_available (404, 410), http.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(url, secret)
        except (TimeoutError, TimeoutException):
            raise _error(ToolErrorKind.TIMEOUT, url, f"no complete answer within {self._seconds:g} s") from None
        except (*SEND_ERRORS, InvalidURL) as error:
            raise _error(ToolErrorKind.HTTP, url, f"{error or type(error).__name__}") from None

    async def _follow(self, url: str, secret: str | None) -> Download:
        here = first = self._check(url)
        for _ in range(self._max_redirects + 1):
            own = (here.scheme, here.host, here.port) == (first.scheme, first.host, first.port)
            headers = {"accept": ACCEPT, **({"authorization": f"Bearer {secret}"} if secret and own else {})}
            timeout = Timeout(self._seconds, pool=None)
            async with self._client.stream("GET", here, headers=headers, timeout=timeout) as response:
                if response.status_code not in REDIRECTS:
                    return await self._read(here, response)
                here = self._check(str(here.join(response.headers.get("location", ""))))
        raise _error(ToolErrorKind.HTTP, url, f"more than {self._max_redirects} redirects")

    async def _read(self, url: URL, response: Response) -> Download:
        status = response.status_code
        if status in (404, 410):
            raise _error(ToolErrorKind.NOT_AVAILABLE, str(url), f"there is no such page (HTTP {status})")
        if status != 200:
            raise _error(ToolErrorKind.HTTP, str(url), f"HTTP {status}")
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > self._max_bytes:
                raise _error(ToolErrorKind.TOO_LARGE, str(url), f"more than {self._max_bytes} bytes")
        return Download(final_url=str(url), content_type=response.headers.get("content-type", ""), body=bytes(body))


def _error(kind: ToolErrorKind, url: str, why: str) -> ToolError:
    return ToolError(kind, f"{safe_url(url)[:300]} could not be fetched: {why}")
