"""The HTTP library (`openai` 3 is built on `httpx2`), and what went wrong with a request, in one line without our key.

All our code that speaks HTTP imports the library from here.
"""

import functools
import json
import os
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
from httpx2 import URL as URL
from httpx2 import AsyncBaseTransport as AsyncBaseTransport
from httpx2 import AsyncByteStream as AsyncByteStream
from httpx2 import AsyncClient as AsyncClient
from httpx2 import AsyncHTTPTransport as AsyncHTTPTransport
from httpx2 import BaseTransport as BaseTransport
from httpx2 import ByteStream as ByteStream
from httpx2 import Client as Client
from httpx2 import ConnectError as ConnectError
from httpx2 import ConnectTimeout as ConnectTimeout
from httpx2 import Headers as Headers
from httpx2 import InvalidURL as InvalidURL
from httpx2 import Limits as Limits
from httpx2 import ReadError as ReadError
from httpx2 import ReadTimeout as ReadTimeout
from httpx2 import Request as Request
from httpx2 import RequestError as RequestError
from httpx2 import Response as Response
from httpx2 import Timeout as Timeout
from httpx2 import TimeoutException as TimeoutException

from aiq.core.text import json_value, utf8_safe

TransportWrapper = Callable[[AsyncBaseTransport], AsyncBaseTransport]
"""Wraps a transport in another one."""

BOUNDS = "aiq_bounds"
"""Extension of a request: the `Bounds` beyond which its answer is not read."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """`deadline`: a time of the running loop; `most_bytes`: of the body; a longer one is useless to the caller."""

    deadline: float
    most_bytes: int


SEND_ERRORS = (RequestError, ssl.SSLError, anyio.EndOfStream)
"""What sending a request or reading its answer may raise; the last two are TLS failures httpx2 leaves unmapped."""

_TITLE = re.compile(r"<title[^>]*>([^<]*\S[^<]*)</title>", re.IGNORECASE)

_MASKED = re.compile(r"[\w-]*\*{3}[\w*-]*")

MESSAGE_CHARS = 300
"""How much of an endpoint's own message our errors repeat."""


def create_ssl_context() -> ssl.SSLContext:
    """One per process and set of certificates (by environment): reading them takes as long as a hundred requests."""
    return _ssl_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@functools.cache
def _ssl_context(*_: str | None) -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def failure_text(error: Exception) -> str:
    """Why a request could not be sent or its answer could not be read."""
    if isinstance(error, TimeoutException):
        return f"no answer in time ({type(error).__name__})"
    return str(error) or type(error).__name__


def send_error(name: str, message: str) -> RequestError:
    """The library's exception of this name; another library's becomes a ReadError."""
    kind = getattr(httpx2, name, None)
    return kind(message) if isinstance(kind, type) and issubclass(kind, RequestError) else ReadError(message)


def read_error(body: bytes, key: str) -> tuple[str, str]:
    """The message and code in the body of an error answer: its `error` (OpenAI) or `detail` (Tavily), or all of it.

    Of an HTML page, the title.
    """
    try:
        error = json_value(body)
    except ValueError:
        error = body.decode("utf-8", "replace")
        error = title[1] if (title := _TITLE.search(error)) else error
    if isinstance(error, list) and len(error) == 1:  # Gemini
        error = error[0]
    if isinstance(error, dict):
        error = error.get("error") or error.get("detail") or error
    return error_text(error, key), str(error.get("code") or "") if isinstance(error, dict) else ""


def error_text(error: Any, key: str) -> str:
    """What an error object says. Some endpoints repeat the key, which is removed before the text is cut."""
    return " ".join(without_key(utf8_safe(_message(error)), key).split())[:MESSAGE_CHARS]


def _message(error: Any) -> str:
    """The message as OpenAI (`message`), Ollama (`error`) or FastAPI (a list of `loc` and `msg`) has it, or nested."""
    if isinstance(error, list) and error:
        return "; ".join(map(_message, error))
    if not isinstance(error, dict):
        return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    inner = next((error[name] for name in ("message", "error", "msg", "detail") if error.get(name)), None)
    message = json.dumps(error, ensure_ascii=False) if inner is None else _message(inner)
    location = error.get("loc")
    return f"{'.'.join(map(str, location))}: {message}" if isinstance(location, list) else message


def without_key(text: str, key: str) -> str:
    """The text without the key, plain or quoted as in a URL, and without the ends that a masked key shows."""
    for spelling in (key, quote(key, safe="")) if key else ():
        text = text.replace(spelling, "***")
    return _MASKED.sub("***", text) if key else text
