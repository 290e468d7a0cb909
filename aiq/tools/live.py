"""The live web: pages over connections of its own, each checked by the address guard when it is made.

The guard checks the connection, not the name: a name may resolve to something else a moment later
(DNS rebinding), but the address that was checked is the one that is connected to.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore2

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import WebSettings
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.llm.http import URL, AsyncClient, AsyncHTTPTransport, Request, Response, TransportWrapper, create_ssl_context
from aiq.llm.models import read_key
from aiq.tools.blocks import safe_url
from aiq.tools.deny import DenyList
from aiq.tools.guard import check_address, check_url, is_listed
from aiq.tools.pages import ACCEPT, Downloader, page_by_reader, page_of

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Host and port to IP addresses, best first."""

USER_AGENT = "aiq-bench (research evaluation)"


async def system_resolve(host: str, port: int) -> list[str]:
    """The addresses that this machine's resolver returns, without duplicates."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


class LiveWeb:
    """Implements core `Web` over the internet; a client per fetch, so that nothing is left open.

    Proxies of the environment are not used: through one, the guard could not see the address.
    """

    def __init__(
        self, settings: WebSettings, *, resolve: Resolve = system_resolve, wrap: TransportWrapper = lambda way: way
    ) -> None:
        """`wrap` wraps the guarded transport of each fetch."""
        self._settings = settings
        self._allowed = settings.allow_hosts
        self._deny = DenyList(settings.deny)
        self._resolve = resolve
        self._wrap = wrap
        self._slots = asyncio.Semaphore(settings.max_connections)
        self._ssl_context = create_ssl_context()

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page's main text. Raises ToolError: denied, blocked, timeout, too_large, not_found, http, malformed.

        A reader service only gets URLs that the guard would let through. Raises ConfigError if its key is missing.
        """
        address, secret = url, None
        if reader is not None:
            self._check(url)
            address = reader.address(url)
            secret = read_key(reader.key_env, "reader_key_env") or None
        transport = self._wrap(GuardedTransport(self._ssl_context, GuardedBackend(self._allowed, self._resolve)))
        async with self._slots, AsyncClient(transport=transport, headers={"user-agent": USER_AGENT}) as client:
            accept = ACCEPT if reader is None else "application/json, text/plain;q=0.9"
            downloader = Downloader(client, self._settings, self._check, accept)
            download = await downloader.get(address, secret)
        page = await (page_of if reader is None else page_by_reader)(url, download)
        self._deny.check(page.final_url)
        return page

    def _check(self, url: str) -> URL:
        self._deny.check(url)
        parsed = check_url(url, self._allowed)
        self._deny.check(str(parsed))  # without `..`, which may exceed the characters that are checked
        return parsed


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens TCP connections to checked addresses only.

    A host is refused when any of its addresses is not public: a name that points both ways is a trick.
    """

    def __init__(self, allowed: Sequence[str], resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raises ToolError (`blocked`) before any packet is sent, httpcore2.ConnectError if no address answers."""
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:  # UnicodeError: a label is empty or too long
            raise httpcore2.ConnectError(f"{host} has no address ({error})") from error
        if not is_listed(host, port, self._allowed):
            for address in addresses:
                check_address(address, host)
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class GuardedTransport(AsyncHTTPTransport):
    """The library's transport over a pool that only uses the guarded network; its constructor is not called."""

    def __init__(self, context: ssl.SSLContext, network: GuardedBackend) -> None:
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=context, max_connections=4, network_backend=network)

    async def handle_async_request(self, request: Request) -> Response:
        """Raises ToolError (`malformed`) for a body compressed more than once.

        The library decompresses it in one go: a kilobyte may take minutes and gigabytes, whatever the limits.
        """
        response = await super().handle_async_request(request)
        if "," in response.headers.get("content-encoding", ""):
            await response.aclose()
            reason = "its body is compressed more than once"
            raise ToolError(ToolErrorKind.MALFORMED, f"{safe_url(str(request.url))[:300]} is not read: {reason}")
        return response
