"""Text that can be written as UTF-8 and shown, JSON from outside, counts in words.

JSON escapes can spell half of a surrogate pair, which no UTF-8 file can hold.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_DEEPEST = 200
"""Levels of nested objects and lists; pydantic's records can hold about 255."""


def json_value(text: str | bytes, *, strict: bool = True) -> Any:
    """The value of JSON from outside; raises ValueError if it is not JSON, or nested deeper than anybody needs."""
    try:
        value = json.loads(text, strict=strict)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    level, depth = [value] if brackets > _DEEPEST else [], 0
    while level:
        if depth == _DEEPEST:
            raise ValueError("it is nested too deep")
        level, depth = [inner for outer in level for inner in _children(outer)], depth + 1
    return value


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def utf8_safe(text: str) -> str:
    """The text with halves of surrogate pairs joined where they meet, and replaced by U+FFFD where they do not."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf8_safe_value(value: Any) -> Any:
    """A JSON value with `utf8_safe` applied to every string, keys too. Raises like `json_value`, and RecursionError."""
    return json_value(utf8_safe(json.dumps(value, ensure_ascii=False)))


def utf8_safe_json(body: bytes) -> bytes:
    """A JSON document, repaired if an escape in it spells half a pair; raises ValueError if it is not JSON."""
    if rb"\ud" not in body.lower():  # how every escape of half a pair begins
        return body
    return utf8_safe(json.dumps(json_value(body), ensure_ascii=False)).encode()


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text without control characters except tab and line feed: a page's content must not control a terminal."""
    return _CONTROL.sub("", text)


def plural(n: int, one: str, several: str = "") -> str:
    """A count with its noun: `one`, or the plural `several` (by default with an s)."""
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def join_first(names: Sequence[str], limit: int = 8) -> str:
    """The first names, and dots if there are more."""
    return ", ".join([*names[:limit], *(["..."] if len(names) > limit else [])])
