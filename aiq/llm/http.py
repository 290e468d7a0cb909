"""The HTTP library (`openai` 3 is built on `httpx2`), and what went wrong with a request in one line without our key.

Everything of ours that speaks HTTP imports the library from here.
"""

import json
import ssl
from typing import Any

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
    InvalidURL,
    Limits,
    ReadTimeout,
    Request,
    RequestError,
    Response,
    Timeout,
    TimeoutException,
    TransportError,
    UnsupportedProtocol,
)

from aiq.core.text import whole

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
    "Headers",
    "InvalidURL",
    "Limits",
    "ReadTimeout",
    "Request",
    "Response",
    "Timeout",
    "TimeoutException",
    "TransportError",
    "UnsupportedProtocol",
    "error_text",
    "failure_text",
    "read_error",
    "without_key",
]

SEND_ERRORS = (RequestError, ssl.SSLError, anyio.EndOfStream)
"""What sending a request or reading its answer may raise; the last two are TLS failures httpx2 leaves unmapped."""

MESSAGE_CHARS = 300
"""How much of an endpoint's own words an error of ours repeats."""


def failure_text(error: Exception) -> str:
    """Why a request could not be sent or its answer not read."""
    if isinstance(error, TimeoutException):
        return f"no answer in time ({type(error).__name__})"
    return str(error) or type(error).__name__


def read_error(body: bytes, key: str) -> tuple[str, str]:
    """What the body of an error answer says and its code: OpenAI's `error.message` and `error.code`, or the body."""
    try:
        answer = json.loads(body)
    except ValueError:
        return error_text(body.decode("utf-8", "replace"), key), ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    return error_text(error, key), str(error.get("code") or "") if isinstance(error, dict) else ""


def error_text(error: Any, key: str) -> str:
    """What an `error` object says. Some endpoints repeat the key; it is taken out before anything is cut."""
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else json.dumps(error, ensure_ascii=False)
    return " ".join(without_key(whole(text), key).split())[:MESSAGE_CHARS]


def without_key(text: str, key: str) -> str:
    return text.replace(key, "***") if key else text
