"""How exchanges are serialised: as JSON, with long texts replaced by numbers, so that each is stored once."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.match import json_value

UNREADABLE: Final = (ValueError, LookupError, TypeError, OverflowError, RecursionError)

_LONG: Final = 100  # characters from which a text is an item of its own
_REFERENCE, _LITERAL = "\x00:", "\x00="  # prefixes of a reference to a text, and of a text that looks like one
_REFERENCES: Final = re.compile(rb'"\\u0000:([0-9]+)"')
_BODIES: Final = ("request_body", "response_body")
_STYLES: Final[tuple[dict[str, Any], ...]] = tuple(
    {"separators": separators, "ensure_ascii": escaped}
    for separators in ((",", ":"), (", ", ": "))
    for escaped in (False, True)
)
"""How JSON is commonly written. A body in one of these styles is stored as its value, so that its texts are shared."""


def pack(exchange: Exchange, store_text: Callable[[bytes], int]) -> bytes:
    """The exchange as JSON, with long texts replaced by the numbers that `store_text` gives them."""

    def shorten(text: str) -> str:
        if len(text) >= _LONG:
            return f"{_REFERENCE}{store_text(text.encode('utf-8', 'surrogatepass'))}"
        return _LITERAL + text if text.startswith("\x00") else text

    bodies = {name: _with_texts(_body(getattr(exchange, name)), shorten) for name in _BODIES}
    fields = {name: value for name in exchange.__slots__ if name not in _BODIES and (value := getattr(exchange, name))}
    return json.dumps({**fields, **bodies}, separators=(",", ":")).encode()


def unpack(data: bytes, text: Callable[[int], bytes]) -> Exchange:
    """The exchange that was packed; `text` gives the text of a number. Raises one of UNREADABLE for other data."""

    def restore(stored: str) -> str:
        if stored.startswith(_REFERENCE):
            return text(int(stored[2:])).decode("utf-8", "surrogatepass")
        return stored.removeprefix(_LITERAL)

    packed = json.loads(data)
    bodies = {name: _bytes(*_with_texts(packed[name], restore)) for name in _BODIES}
    headers = {name: tuple(map(tuple, packed.get(name, ()))) for name in ("request_headers", "response_headers")}
    return Exchange(**{**packed, **bodies, **headers})


def references(data: bytes) -> Iterator[int]:
    """The numbers of a packed exchange's texts."""
    return map(int, _REFERENCES.findall(data))


def _body(data: bytes) -> list[Any]:
    """A body as its JSON value and style, as text, or in base64."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ["base64", base64.b64encode(data).decode()]
    if (value := json_value(text)) is not None:
        for number, style in enumerate(_STYLES):
            if json.dumps(value, **style) == text:
                return [number, value]
    return ["text", text]


def _bytes(form: str | int, value: Any) -> bytes:
    if form == "base64":
        return base64.b64decode(value)
    text = value if isinstance(form, str) else json.dumps(value, **_STYLES[form])
    return str(text).encode()


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts changed, except the names of fields."""
    if isinstance(value, dict):
        return {name: _with_texts(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
