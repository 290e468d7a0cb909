"""The network of a run: model calls go over aiohttp, which parses HTTP in C and hands out connections at no cost.

Most of the processor time of a call over httpx2 went to its parser, written in Python, and to its pool, which looks at
every connection for every request.
"""

import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from aiq.llm.apis import api_of
from aiq.llm.http import (
    AsyncBaseTransport,
    AsyncByteStream,
    ConnectError,
    ConnectTimeout,
    Limits,
    ReadError,
    ReadTimeout,
    Request,
    RequestError,
    Response,
    create_ssl_context,
)
from aiq.llm.route import NetworkTransport, Proxies

if TYPE_CHECKING:  # takes a tenth of a second to import, which only runs that call an endpoint must wait for
    from aiohttp import ClientResponse, ClientSession

KEPT_SECONDS = 5.0
"""How long an idle connection is kept: servers close theirs about then, and a call sent on a closed one is lost."""

LONGEST_HEADER = 65_536
"""Bytes. Gateways put all their policies into one header; aiohttp's own limit is 8,190."""


class Network(AsyncBaseTransport):
    """Model calls, as many as their flow allows; the rest has its own connections, so that slow pages delay no call."""

    def __init__(self, limit: int) -> None:
        tls = create_ssl_context()
        self._models = ModelTransport(tls)
        self._others = NetworkTransport(Limits(max_connections=limit, max_keepalive_connections=limit), tls)

    async def handle_async_request(self, request: Request) -> Response:
        return await (self._models if api_of(request) else self._others).handle_async_request(request)

    async def aclose(self) -> None:
        await self._models.aclose()
        await self._others.aclose()


class ModelTransport(AsyncBaseTransport):
    """Any number of connections, through the machine's proxies; bodies come as they were sent, still encoded.

    The error says whether the request went out: with ConnectError and ConnectTimeout not, with any other perhaps.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls, self._proxies = tls, Proxies()
        self._session: ClientSession | None = None

    async def handle_async_request(self, request: Request) -> Response:
        from aiohttp import ClientError, ClientTimeout
        from yarl import URL

        self._session = self._session or self._open_session()
        limits = request.extensions.get("timeout", {})
        try:
            answer = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=[(name.decode(), value.decode("latin-1")) for name, value in request.headers.raw],
                data=await request.aread(),
                proxy=self._proxies.of(request.url),
                timeout=ClientTimeout(sock_connect=limits.get("connect"), sock_read=limits.get("read")),
                allow_redirects=False,
            )
            complete = answer.content.is_eof() and answer.content_length is not None  # it came at once with its headers
            body: dict[str, Any] = {"content": answer.content.read_nowait()} if complete else {"stream": _Body(answer)}
        except (ClientError, OSError) as error:
            raise _failure(error) from error
        return Response(answer.status, headers=list(answer.raw_headers), **body)

    def _open_session(self) -> "ClientSession":
        """A session that adds nothing to requests and keeps nothing from answers; it belongs to the running loop."""
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        return ClientSession(
            connector=TCPConnector(limit=0, ssl=self._tls, keepalive_timeout=KEPT_SECONDS),
            cookie_jar=DummyCookieJar(),
            skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            auto_decompress=False,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


class _Body(AsyncByteStream):
    def __init__(self, answer: "ClientResponse") -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        from aiohttp import ClientError

        try:
            async for piece, _ in self._answer.content.iter_chunks():  # as the server cut it: each event of a stream
                if piece:
                    yield piece
        except (ClientError, OSError) as error:
            raise _failure(error) from error

    async def aclose(self) -> None:
        self._answer.close()


def _failure(error: Exception) -> RequestError:
    """The error in httpx2's terms; aiohttp's own message for a failed connection only repeats the address."""
    from aiohttp import ClientConnectorError, ClientPayloadError, ConnectionTimeoutError

    if isinstance(error, TimeoutError):
        return (ConnectTimeout if isinstance(error, ConnectionTimeoutError) else ReadTimeout)("")
    if isinstance(error, ClientConnectorError):
        return ConnectError(str(error.__cause__ or error))
    if isinstance(error, ClientPayloadError):
        return ReadError("the connection closed before the answer was whole")
    return ReadError(str(error) or type(error).__name__)
