"""Text that can be written as UTF-8, and numbers of things in words.

JSON escapes can spell half of a character pair, which no file can hold.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_DEEPEST = 200
"""Objects and lists within each other; pydantic's records hold some 255."""


def json_value(text: str | bytes, *, strict: bool = True) -> Any:
    """The value of somebody else's JSON; raises ValueError where it is none, or deeper than anybody has a use for."""
    try:
        value = json.loads(text, strict=strict)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    opened = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    level, depth = [value] if opened > _DEEPEST else [], 0
    while level:
        if depth == _DEEPEST:
            raise ValueError("it is nested too deep")
        level, depth = [inner for outer in level for inner in _inside(outer)], depth + 1
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def whole(text: str) -> str:
    """The text with halves of character pairs joined where they meet, and replaced by U+FFFD where they do not."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_value(value: Any) -> Any:
    """A JSON value with every string in it, keys too, as `whole` has it. Raises as `json_value`, and RecursionError."""
    return json_value(whole(json.dumps(value, ensure_ascii=False)))


def whole_json(body: bytes) -> bytes:
    """A JSON document, mended where an escape in it spells half a pair; raises ValueError where it is no JSON."""
    if rb"\ud" not in body.lower():  # how every escape of half a pair begins
        return body
    return whole(json.dumps(json_value(body), ensure_ascii=False)).encode()


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """The text without control characters but tab and line feed: what a page brings must not steer a terminal."""
    return _CONTROL.sub("", text)


def counted(n: int, one: str, several: str = "") -> str:
    """So many of what has the name `one`, its plural `several`: with an s where that is not given."""
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def some(names: Sequence[str], most: int = 8) -> str:
    """The first of these, and dots where there are more."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])
