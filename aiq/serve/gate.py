"""What every request passes before a route sees it: checks of key, rate and size; and the headers of responses."""

import asyncio
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aiq.serve.errors import Refused
from aiq.serve.keys import KEY_HEADER, Keys
from aiq.serve.settings import MOST_BYTES, ServeSettings, is_loopback

API = "/api/"
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Gate:
    """Middleware. If no key is required, both a request's host and the page it comes from must be this machine's, or
    any page on the web could use what only this machine can reach.
    """

    def __init__(self, app: ASGIApp, keys: Keys, settings: ServeSettings) -> None:
        self._app, self._keys, self._settings = app, keys, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        try:
            if self._keys.keyless:
                _check_local(headers, self._settings.origins)
            if scope["path"].startswith(API):
                scope.setdefault("state", {})["owner"] = self._keys.owner(headers.get(KEY_HEADER, ""))
                receive = await self._body(scope, headers, receive)
        except Refused as refused:
            await refused.answer()(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Read the body; returns a `receive` that replays it, then whatever follows. Raises Refused."""
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > MOST_BYTES:
            raise _TOO_LARGE
        body, more_body = b"", True
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while more_body:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        break
                    body += message.get("body", b"")
                    more_body = message.get("more_body", False)
                    if len(body) > MOST_BYTES:
                        raise _TOO_LARGE
        except TimeoutError:
            raise Refused(408, "timeout", "the body did not arrive in time") from None
        if body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "not_json", "send Content-Type: application/json")
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        return replay


_TOO_LARGE = Refused(413, "too_large", f"a body may have at most {MOST_BYTES} bytes")


def _check_local(headers: Headers, origins: tuple[str, ...]) -> None:
    """Raises Refused for a request to a host other than this machine, from a foreign page, or through a proxy."""
    origin = headers.get("origin")
    if origin is not None and origin not in origins and not is_loopback(_host(origin)):
        raise Refused(403, "foreign_origin", "without keys only pages of this machine may send requests")
    if not is_loopback(_host(f"//{headers.get('host', '')}")) or "forwarded" in headers or "x-forwarded-for" in headers:
        raise Refused(403, "not_local", "without keys only this machine may connect; make one with aiq serve --add-key")


def _host(address: str) -> str:
    """The host of an address; empty if it has none or is invalid."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
