"""Decides whether a URL is unsafe or unreliable, whoever returned it: the table of sanitising rules.

The names of hosts and schemes stand in `rules.toml`. A rule sees the URL as a reader's browser
would: entities, percent-encoding, case, control characters and full-width letters undone.
"""

import html
import ipaddress
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from aiq.citations.rules import rules, under
from aiq.citations.urls import canonical_host, without_ellipsis

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NUMBER = re.compile(r"0x[0-9a-f]*|\d+", re.IGNORECASE)
_GARBLED = re.compile(r"[\ufffd…]|%E2%80%A6|%EF%BF%BD|\[\.\.\.\]|/\.\.\.(?:/|$)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def broken_rule(url: str) -> str | None:
    """The first sanitising rule that a URL breaks, by its name in the audit, or None where it is fine."""
    plain = plain_text(url)
    return next((name for name, broken in SANITISING_RULES.items() if broken(plain)), None)


def plain_text(url: str) -> str:
    """The URL with entities and percent-encoding of its first part undone, without control characters."""
    head, tail = url[:200], url[200:]
    for _ in range(3):  # encoded twice is a trick, encoded five times is nothing a browser would follow
        decoded = html.unescape(head)
        if not _SCHEME.match(decoded):
            decoded = unquote(decoded)
        if decoded == head:
            break
        head = decoded
    return "".join(c for c in head if c > " " and unicodedata.category(c) != "Cf") + tail


def scheme_of(url: str) -> str:
    """The scheme in lower case, or an empty text."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def _unsafe_scheme(url: str) -> bool:
    return scheme_of(url) in rules().unsafe_schemes


def _shortened(url: str) -> bool:
    return under(_host(url), rules().shorteners)


def _ip_address(url: str) -> bool:
    """Dotted, short, integer, octal and hex IPv4, any IPv6: a last label that is a number is never a name."""
    host = _host(url)
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return bool(_NUMBER.fullmatch(host.rpartition(".")[2]))
    return True


def _private(url: str) -> bool:
    host = _host(url)
    return bool(host) and ("." not in host or under(host, rules().private_suffixes))


def _truncated(url: str) -> bool:
    return without_ellipsis(url) is not None or _GARBLED.search(url) is not None


def _host(url: str) -> str:
    if scheme_of(url) not in ("http", "https", "ftp", "ws", "wss"):
        return ""
    try:
        return canonical_host(urlsplit(url.replace("\\", "/")).hostname or "") or ""
    except ValueError:
        return ""


SANITISING_RULES: dict[str, Callable[[str], bool]] = {
    "unsafe_scheme": _unsafe_scheme,
    "shortened_url": _shortened,
    "ip_address_url": _ip_address,
    "private_host": _private,
    "truncated_url": _truncated,
}
"""Name in the audit -> whether a URL (after `plain_text`) breaks the rule; in the order they are asked."""
