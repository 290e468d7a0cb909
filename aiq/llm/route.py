"""Where a request goes: to the offline stack on this machine, through a proxy, or straight out.

The offline stack has host names of its own, so that no URL depends on the port it listens on.
"""

import re
import ssl
import urllib.request

from aiq.core.errors import ConfigError
from aiq.llm.http import URL, AsyncBaseTransport, AsyncHTTPTransport, Limits, Request, Response, create_ssl_context

OFFLINE_DOMAIN = "offline.example"
OFFLINE_SERVICES = frozenset({f"model.{OFFLINE_DOMAIN}", f"search.{OFFLINE_DOMAIN}"})
"""Hosts of the offline stack that are APIs; every other host below the domain is a website."""
_HTTP_PROXY = re.compile(r"https?://([^/\s]*@)?(\[[\da-f:]+\]|[^/\s:@]+)(:\d+)?/?", re.IGNORECASE)


def is_offline(host: str) -> bool:
    """Whether a host name is one of the offline stack's: `offline.example` or anything below it."""
    return host == OFFLINE_DOMAIN or host.endswith("." + OFFLINE_DOMAIN)


def is_offline_website(host: str) -> bool:
    """Whether a host of the offline stack is a website, not an API."""
    return host.endswith("." + OFFLINE_DOMAIN) and host not in OFFLINE_SERVICES


class RoutingTransport(AsyncBaseTransport):
    """Sends requests to offline hosts to 127.0.0.1:`offline_port` in plain HTTP, and all others on unchanged.

    The offline stack sees the original `Host` header, and the scheme as `x-aiq-scheme`. ConfigError without a port.
    """

    def __init__(self, inner: AsyncBaseTransport, offline_port: int | None) -> None:
        self._inner = inner
        self._port = offline_port

    async def handle_async_request(self, request: Request) -> Response:
        url = request.url
        if not is_offline(url.host):
            return await self._inner.handle_async_request(request)
        if self._port is None:
            raise ConfigError(f"{url.host} is a host of the offline stack, which this command did not start")
        headers = request.headers.copy()
        headers.update({"host": url.netloc.decode("ascii"), "x-aiq-scheme": url.scheme})
        target = url.copy_with(scheme="http", host="127.0.0.1", port=self._port)
        local = Request(request.method, target, headers=headers, stream=request.stream, extensions=request.extensions)
        return await self._inner.handle_async_request(local)

    async def aclose(self) -> None:
        await self._inner.aclose()


class Proxies:
    """The machine's configured proxies (`HTTPS_PROXY`, `NO_PROXY`, ...), read at construction.

    An address without a scheme is HTTP, as in curl. Raises ConfigError for one that is not an HTTP proxy's.
    """

    def __init__(self) -> None:
        proxies = urllib.request.getproxies()
        self.addresses: dict[str, str] = {
            scheme: proxies[scheme] if "://" in proxies[scheme] else f"http://{proxies[scheme]}"
            for scheme in ("http", "https")
            if scheme in proxies
        }
        for scheme, address in self.addresses.items():
            if not _HTTP_PROXY.fullmatch(address):  # it is not shown: it may hold a password
                raise ConfigError(f"{scheme.upper()}_PROXY: not the address of an HTTP proxy; write http://HOST:PORT")

    def of(self, url: URL) -> str | None:
        """The address of the proxy for `url`; None: connect directly. Loopback is never proxied."""
        if not self.addresses or url.host in ("127.0.0.1", "localhost", "::1") or urllib.request.proxy_bypass(url.host):
            return None
        return self.addresses.get(url.scheme)


class NetworkTransport(AsyncBaseTransport):
    """The network over httpx2, through the machine's proxies.

    `tls`: a context that several transports share, because creating one reads all certificates.
    """

    def __init__(self, limits: Limits, tls: ssl.SSLContext | None = None) -> None:
        tls = tls or create_ssl_context()
        self._proxies = Proxies()
        self._transports = {
            address: AsyncHTTPTransport(tls, limits=limits, proxy=address)
            for address in (None, *self._proxies.addresses.values())
        }

    async def handle_async_request(self, request: Request) -> Response:
        return await self._transports[self._proxies.of(request.url)].handle_async_request(request)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()
