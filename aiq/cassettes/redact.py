"""Removes secrets from everything that is about to be written: URLs, headers, bodies, streams.

A secret is a value in the user's environment, or a text in a form that services use for their keys. Text that merely
looks random (an id, a hash, a DOI) is kept: pages are full of it.
"""

import json
import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from html import unescape
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from aiq.core.secrets import SHORTEST

MARK = "aiq-redacted"
"""The replacement for a secret: unreserved characters, so that URLs, headers and JSON all spell it the same."""
REQUEST_HEADERS = frozenset({"accept", "content-type", "x-aiq-attempt", "x-aiq-role"})
RESPONSE_HEADERS = frozenset({"content-type", "location", "retry-after*", "x-ratelimit-*", "x-request-id"})
"""The headers that are kept, in lower case; `*` stands for any ending, including none."""

Span = tuple[int, int, str]  # where a secret begins and ends, and its kind
Leaf = tuple[int, Any, Any]  # a string in an event: the number of the event's line, what holds the string, the key
_DIGIT = "(?=[A-Za-z._~+/=-]{0,99}[0-9])"  # random keys have one; joined words in prose and style sheets do not
_KEYS = {
    "model key": ("sk-", rf"(?:(?:admin|ant|or|proj|svcacct)-[\w-]{{20}}|(?:[a-z0-9]+-){{0,3}}{_DIGIT}\w{{20}})[\w-]*"),
    "Tavily key": ("tvly-", rf"{_DIGIT}[\w-]{{20,}}"),
    "NVIDIA key": ("nvapi-", r"[\w-]{40,}"),
    "Google key": ("AIza", r"[\w-]{35}"),
    "GitHub token": ("g", r"(?:h[opsur]|ithub_pat)_\w{36,}"),
    "Slack token": ("xox", r"[a-z][.-][\w-]{20,}"),
    "AWS key": ("A[KS]IA", "[A-Z0-9]{16}"),
    "Hugging Face token": ("hf_", "[A-Za-z0-9]{30,}"),
    "JSON web token": ("eyJ", r"(?<![\w-]eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
}
"""The documented forms of keys: how they begin (never inside a word of ASCII characters) and continue."""
_OF = "access|api|app|auth|client|id|private|refresh|secret|security|session|subscription|x-amz|x-amz-security|x-goog"
_PARAMETERS = f"(?:(?:{_OF})[_-]?)?(?:credential|key|passwd|password|secret|sig|signature|token)"
_PLACES = {
    "password in a header": r"uthorization\W{1,9}[Bb]asic +([A-Za-z0-9+/_-]{6,}=*)",
    "bearer token": rf"earer +{_DIGIT}([A-Za-z0-9._~+/=-]{{16,}})",
    "secret in a query": rf"[?&#](?i:{_PARAMETERS})=([A-Za-z0-9._~%+/=!*$:@-]{{{SHORTEST},}})",
    "password in a URL": r"://[\w.~%!$&'*+;=-]*:([\w.~%!$&'*+;=:-]+)@",
}
"""Places that hold secrets of any form; the group is the secret."""
_FORMS = {kind: f"{start}(?<![A-Za-z0-9]{start}){rest}" for kind, (start, rest) in _KEYS.items()} | _PLACES
_SHAPES = {kind: re.compile(form, re.ASCII) for kind, form in _FORMS.items()}
"""Separate patterns: one that begins with fixed characters is searched for many times faster."""
_VARIABLE = re.compile("(?<![A-Z])((API)?KEYS?|CREDENTIALS?|DSN|JWT|PASS(PHRASE|WD|WORD)?|PAT|SECRETS?|TOKEN)(?![A-Z])")
"""A word in the name of a variable that holds a secret (not TOKENS, which names limits)."""
_HEX = "[0-9a-fA-F]"
_ENCODED = re.compile(
    rf"(\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|\\u{_HEX}{{4}}|\\[\"\\/bfnrt]"
    rf"|%[0-7]{_HEX}|%[89a-fA-F]{_HEX}(?:%[89a-fA-F]{_HEX})*"
    rf"|&(?:amp|lt|gt|quot|apos|#[0-9]{{1,7}}|#[xX]{_HEX}{{1,6}});)"
)
"""A character as JSON, URLs and HTML may escape it."""
_MOST_NESTED = 3  # how deep nested escapes are decoded (a URL in HTML in JSON); hostile text nests them without end


class Redactor:
    """Removes secrets, however they are escaped, and changes nothing else. Redacting is idempotent."""

    def __init__(self, values: Iterable[str]) -> None:
        kept = (value for value in values if len(value) >= SHORTEST and value not in MARK)
        self._values = tuple(dict.fromkeys(spelling for value in kept for spelling in _spellings(value)))

    def text(self, text: str) -> str:
        """The text with MARK in place of every secret."""
        return self._pieces([text])[0]

    def headers(self, pairs: Iterable[tuple[str, str]], allowed: frozenset[str]) -> tuple[tuple[str, str], ...]:
        """The allowed headers, in order, with names in lower case and values redacted."""
        prefixes = tuple(name[:-1] for name in allowed if name.endswith("*"))
        kept = ((n, v) for n, v in ((n.lower(), v) for n, v in pairs) if n in allowed or n.startswith(prefixes))
        return tuple((name, self.text(value)) for name, value in kept)

    def body(self, body: bytes, content_type: str) -> bytes:
        """The bytes with MARK in place of every secret, even of one that is split over the events of a stream."""
        query = "?" if "form-urlencoded" in content_type else ""  # makes a form look like a query
        try:
            text, encoding = query + body.decode(), "utf-8"
        except UnicodeDecodeError:
            text, encoding = query + body.decode("latin-1"), "latin-1"  # has a character for every byte
        while (redacted := self.text(self._events(text) if "data:" in text else text)) != text:
            text = redacted
        return text.removeprefix(query).encode(encoding)

    def secret_kinds(self, text: str) -> list[str]:
        """The kinds of secrets in a text or stream, sorted; never a part of a secret."""
        texts = ("".join(holder[key] for _, holder, key in group) for group in _read_events(text.split("\n"))[1])
        return sorted({kind for part in (text, *texts) for _, _, kind in self._find(part)})

    def _events(self, text: str) -> str:
        """A stream without secrets that are split over its events; events with a part of one are rewritten in ASCII."""
        lines = text.split("\n")
        events, groups = _read_events(lines)
        for group in groups:
            pieces = self._pieces([holder[key] for _, holder, key in group])
            for (number, holder, key), piece in zip(group, pieces, strict=True):
                if piece != holder[key]:
                    holder[key], line = piece, lines[number]
                    data = json.dumps(events[number], separators=(",", ":"))
                    lines[number] = line[: line.index("{")] + data + line[len(line.rstrip()) :]
        return "\n".join(lines)

    def _pieces(self, pieces: list[str]) -> list[str]:
        """The pieces of a text without its secrets: the first piece with a part of one gets MARK for all of it."""
        while spans := self._find("".join(pieces)):  # again, since removing a secret may reveal another
            starts, ends = [span[0] for span in spans], [span[1] for span in spans]
            cleaned, end = [], 0
            for piece in pieces:
                start, end, kept, position = end, end + len(piece), "", 0
                for first, last, _ in spans[bisect_right(ends, start) : bisect_left(starts, end)]:
                    kept += piece[position : max(0, first - start)] + (MARK if first >= start else "")
                    position = last - start
                cleaned.append(kept + piece[position:])
            pieces = cleaned
        return pieces

    def _find(self, text: str) -> list[Span]:
        """Every secret, in order and without overlaps."""
        spans: list[Span] = []
        for start, end, kind in sorted(self._scan(text, 0)):
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]), spans[-1][2])
            elif text[start:end] != MARK:
                spans.append((start, end, kind))
        return spans

    def _scan(self, text: str, depth: int) -> list[Span]:
        spans = [(*match.span(shape.groups), kind) for kind, shape in _SHAPES.items() for match in shape.finditer(text)]
        for value in self._values:
            if value in text:
                spans += [(*match.span(), "value of a variable") for match in re.finditer(re.escape(value), text)]
        return spans + self._scan_decoded(text, depth + 1) if depth < _MOST_NESTED else spans

    def _scan_decoded(self, text: str, depth: int) -> list[Span]:
        """The secrets that only decoding reveals; an encoded character is cut as a whole."""
        encoded = _ENCODED.split(text)
        decoded = [_character(part) if number % 2 else part for number, part in enumerate(encoded)]
        spans = self._scan("".join(decoded), depth) if len(encoded) > 1 else []
        starts, places = ([0, *accumulate(map(len, parts))] if spans else [] for parts in (decoded, encoded))

        def place(index: int, offset: int) -> int:
            part = bisect_right(starts, index) - 1
            return places[part + offset] if part % 2 else places[part] + index - starts[part] + offset

        return [(place(start, 0), place(end - 1, 1), kind) for start, end, kind in spans]


def secret_values(config: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """The values of variables that the config names (in or below keys ending in `_env`) or whose names mean secrets."""
    leaves = _leaves(config, ())
    variables = {holder[key] for path, holder, key in leaves if any(str(part).endswith("_env") for part in path)}
    values = [value.strip() for name, value in environ.items() if name in variables or _VARIABLE.search(name.upper())]
    passwords = [unquote(password) for value in values for password in _SHAPES["password in a URL"].findall(value)]
    return list(dict.fromkeys(filter(None, values + passwords)))


def _spellings(value: str) -> Iterator[str]:
    """A value as in forms and in base64, which depends on the number of bytes before it; other escapes are decoded."""
    yield from (value, value.replace(" ", "+"))
    data = value.encode("utf-8", "surrogateescape")
    for padding in range(3):  # base64 writes three bytes as four characters
        encoded = b64encode(bytes(padding) + data).decode()[-(-padding * 8 // 6) : (padding + len(data)) * 8 // 6]
        yield from (encoded, encoded.replace("+", "-").replace("/", "_"))


@lru_cache(maxsize=4096)
def _character(encoded: str) -> str:
    return unescape(unquote(json.loads(f'"{encoded}"')))  # only one of the three applies


def _read_events(lines: list[str]) -> tuple[dict[int, Any], Iterable[list[Leaf]]]:
    """The JSON objects of a stream, by line, and their strings: those with the same path are pieces of one text."""
    events: dict[int, Any] = {}
    groups: dict[tuple[Any, ...], list[Leaf]] = {}
    for number, line in enumerate(lines):
        field, brace, rest = line.partition("{")
        if brace and field.rstrip() == "data:":
            with suppress(ValueError, RecursionError):  # not JSON, or nested deeper than a client would read
                events[number] = json.loads(brace + rest)
                for path, holder, key in list(_leaves(events[number], ())):
                    groups.setdefault(path, []).append((number, holder, key))
    return events, groups.values()


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Path, holder and key of every string; objects with an `index`, which come in any order, are identified by it."""
    if isinstance(value, dict) and isinstance(value.get("index"), int):
        path = (*(path[:-1] if path and isinstance(path[-1], int) else path), f"index {value['index']}")
    for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        if isinstance(inner, str):
            yield (*path, key), value, key
        elif isinstance(inner, Mapping | list | tuple):
            yield from _leaves(inner, (*path, key))
