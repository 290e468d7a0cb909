"""Decides whether two requests are the same, and finds the recorded request closest to an unrecorded one."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiq.cassettes.exchange import Exchange

SHOWN = 3
"""The number of differing fields that an error shows; further ones usually follow from these."""

AROUND = 40
"""The number of characters that are shown before and after the first difference of a text."""

DEEPEST = 100
"""The deepest JSON that is parsed, in levels; hostile pages nest it until the reader's stack overflows."""

_PORTS = {"http": 80, "https": 443}


def request_key(request: Exchange, ignored: Collection[str] = ()) -> bytes:
    """128 bits of the SHA-256 of what identifies a request: method, canonical URL, canonical body.

    `ignored`: names of top-level fields of a JSON body and of query parameters that may vary. Headers never count.
    """
    body = _value(request.request_body, ignored)
    text = json.dumps(
        [request.method.upper(), canonical_url(request.url, ignored), body], sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode()).digest()[:16]


def canonical_url(url: str, ignored: Collection[str] = ()) -> str:
    """Scheme and host in lower case, no default port, parameters sorted by name, keeping the order of equal names."""
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _PORTS.get(scheme)) else f":{parts.port}"
    query = urlencode(sorted(_query(parts.query, ignored), key=lambda pair: pair[0]), errors="surrogateescape")
    return f"{scheme}://{host}{port}{parts.path or '/'}?{query}".rstrip("?")


def _query(query: str, ignored: Collection[str]) -> list[tuple[str, str]]:
    """The parameters; bytes that are not UTF-8, as on old sites, remain distinct."""
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return [(name, value) for name, value in pairs if name not in ignored]


def differences(request: Exchange, recorded: Iterable[Exchange], ignored: Collection[str] = ()) -> list[str] | None:
    """How this request differs from the recorded one that shares most fields with it, one line per field.

    Requests with the same method and address are preferred to all others. None if nothing is recorded.
    """
    request_fields = _fields(request, ignored)
    best: tuple[tuple[bool, float, int], Mapping[str, str]] | None = None
    for candidate in recorded:
        fields = _fields(candidate, ignored)
        differing = [name for name in request_fields.keys() & fields.keys() if request_fields[name] != fields[name]]
        equal_count = len(request_fields.keys() & fields.keys()) - len(differing)
        share = equal_count / len(request_fields.keys() | fields.keys())
        prefix = sum(_prefix_length(request_fields[name], fields[name]) for name in differing)
        rank = (fields["address"] == request_fields["address"], share, prefix)
        if best is None or rank > best[0]:
            best = (rank, fields)
    return None if best is None else _differences(best[1], request_fields)


def _differences(recorded: Mapping[str, str], request: Mapping[str, str]) -> list[str]:
    """One line per field, in the order of the new request; for long text, the surroundings of the difference."""
    names = [name for name in {**request, **recorded} if recorded.get(name) != request.get(name)]
    lines = []
    for name in names[:SHOWN]:
        if name not in recorded:
            lines.append(f"{name} is new: {_excerpt(request[name], 0)}")
        elif name not in request:
            lines.append(f"{name} is no longer there: {_excerpt(recorded[name], 0)}")
        else:
            start = _prefix_length(recorded[name], request[name])
            lines.append(
                f"{name}: recorded {_excerpt(recorded[name], start)}, now {_excerpt(request[name], start)}"
                + (f" (at character {start})" if start else "")
            )
    return [*lines, *([f"and {len(names) - SHOWN} more fields"] if len(names) > SHOWN else [])]


def _prefix_length(first: str, second: str) -> int:
    """The length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(bool, map(eq, first, second)))


def _excerpt(text: str, position: int) -> str:
    begin, end = max(0, position - AROUND), position + AROUND
    cut = text[begin:end]
    return json.dumps(f"{'…' * (begin > 0)}{cut}{'…' * (end < len(text))}", ensure_ascii=False)


def _fields(request: Exchange, ignored: Collection[str]) -> dict[str, str]:
    """Every part of a request by its path: `messages[2].content`."""
    parts = urlsplit(request.url)
    fields = {"address": f"{request.method.upper()} {canonical_url(parts._replace(query='').geturl())}"}
    for name, value in _query(parts.query, ignored):
        fields[f"?{name}"] = f"{fields[f'?{name}']}, {value}" if f"?{name}" in fields else value
    return fields | dict(_leaves("", _value(request.request_body, ignored)))


def _leaves(path: str, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name in value:
            yield from _leaves(f"{path}.{name}" if path else str(name), value[name])
    elif isinstance(value, Sequence) and value and not isinstance(value, str):
        for number, item in enumerate(value):
            yield from _leaves(f"{path}[{number}]", item)
    else:
        yield path or "body", value if isinstance(value, str) else json.dumps(value)


def _value(body: bytes, ignored: Collection[str]) -> Any:
    """The JSON value of a body, without top-level fields that may vary; else its text."""
    text = body.decode("utf-8", "surrogateescape")
    value = json_value(text)
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name not in ignored}
    return text if value is None else value


def json_value(text: str) -> Any:
    """The text as a JSON object or array; None for anything else, or for one nested deeper than `DEEPEST`."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if _is_shallow(value, DEEPEST) else None


def _is_shallow(value: Any, levels: int) -> bool:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in children)
