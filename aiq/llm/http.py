"""The run's one HTTP client, and the only module that knows which library stands underneath it.

`openai` 3 is built on `httpx2`; everything of ours that speaks HTTP imports it from here.
"""

import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import anyio
from httpx2 import (
    URL,
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncClient,
    AsyncHTTPTransport,
    BaseTransport,
    Client,
    ConnectError,
    ConnectTimeout,
    Headers,
    HTTPError,
    HTTPStatusError,
    InvalidURL,
    Limits,
    PoolTimeout,
    ReadTimeout,
    Request,
    RequestError,
    Response,
    Timeout,
    TimeoutException,
    TransportError,
    UnsupportedProtocol,
)

if TYPE_CHECKING:
    from aiq.core.settings import LlmSettings

__all__ = [
    "SEND_ERRORS",
    "URL",
    "AsyncBaseTransport",
    "AsyncByteStream",
    "AsyncClient",
    "AsyncHTTPTransport",
    "BaseTransport",
    "Client",
    "ConnectError",
    "ConnectTimeout",
    "HTTPError",
    "HTTPStatusError",
    "Headers",
    "InvalidURL",
    "Limits",
    "PoolTimeout",
    "ReadTimeout",
    "Request",
    "RequestError",
    "Response",
    "Timeout",
    "TimeoutException",
    "TransportError",
    "UnsupportedProtocol",
    "open_client",
]

SEND_ERRORS = (RequestError, ssl.SSLError, anyio.EndOfStream)
"""What sending a request or reading its answer may raise; the last two are TLS failures httpx2 leaves unmapped."""

CONNECT_SECONDS = 10.0
"""A reachable host accepts a connection well within this; the time for an answer is `llm.timeout_seconds`."""


def open_client(
    settings: "LlmSettings", *, offline_port: int | None, inner: AsyncBaseTransport | None = None
) -> AsyncClient:
    """The client of a run: SessionTransport over RoutingTransport over the network (or over `inner`).

    `offline_port` is where the offline stack listens, None where it was not started. Close it with
    `aclose`, or use it as a context manager. Cookies are refused: they would tie samples together.
    """
    # These stand on this module, so they are imported where they are used.
    from aiq.llm.route import NetworkTransport, RoutingTransport
    from aiq.llm.transport import SessionTransport

    network = inner or NetworkTransport(pool_limits(settings))
    return AsyncClient(
        transport=SessionTransport(RoutingTransport(network, offline_port), settings),
        timeout=timeouts(settings),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
    )


def pool_limits(settings: "LlmSettings") -> Limits:
    return Limits(max_connections=settings.max_connections, max_keepalive_connections=settings.max_connections)


def timeouts(settings: "LlmSettings", most: float | None = None) -> Timeout:
    """Those of one send, at most `most` seconds where it is given.

    No time limit on waiting for a free connection: a full pool is no failure.
    """
    seconds = settings.timeout_seconds if most is None else min(settings.timeout_seconds, most)
    return Timeout(seconds, connect=min(CONNECT_SECONDS, seconds), pool=None)
