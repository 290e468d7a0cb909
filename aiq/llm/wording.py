"""What went wrong with an exchange, in one line and without our key."""

import json
from typing import Any

from aiq.core.text import whole
from aiq.llm.http import TimeoutException

MESSAGE_CHARS = 300
"""How much of an endpoint's own words an error of ours repeats."""


def of_exception(error: Exception) -> str:
    """Why a request could not be sent or its answer not read."""
    if isinstance(error, TimeoutException):
        return f"no answer in time ({type(error).__name__})"
    return str(error) or type(error).__name__


def of_body(body: bytes, key: str) -> tuple[str, str]:
    """What the body of an error answer says and its code: OpenAI's `error.message` and `error.code`, or the body.

    Some endpoints repeat the key in what they refuse; it is taken out before anything is cut.
    """
    try:
        answer = json.loads(body)
    except ValueError:
        return _line(body.decode("utf-8", "replace"), key), ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    return of_error(error, key), str(error.get("code") or "") if isinstance(error, dict) else ""


def of_error(error: Any, key: str) -> str:
    """What an `error` object says, without the key."""
    message = error.get("message") if isinstance(error, dict) else error
    return _line(message if isinstance(message, str) else json.dumps(error, ensure_ascii=False), key)


def without(key: str, text: str) -> str:
    """The text without the key."""
    return text.replace(key, "***") if key else text


def _line(text: str, key: str) -> str:
    return " ".join(without(key, whole(text)).split())[:MESSAGE_CHARS]
