"""Decides whether a URL is unsafe or unreliable, whoever returned it, and whether its host imitates another.

The names of hosts and schemes are in `rules.toml`. A rule sees the URL as a browser would: with entities,
percent-encoding, control characters and full-width letters undone. A look-alike host is flagged, not removed.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from urllib.parse import unquote

from aiq.citations.urls import canonical_host, parse_url, rules, under, unicode_labels, without_ellipsis

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:(?:https?|ftp|wss?):[/\\]*|[/\\]{2,})([^/?#\\]*)", re.IGNORECASE)
"""After these schemes browsers accept any number of slashes, even none; without a scheme they need two."""
_PORT = re.compile(r":[0-9]*\Z")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_INVISIBLE = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u061c\u115f\u1160\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff]+"
)
_LEADING_ZEROS = re.compile(r"(&#x?)0+(?=[0-9a-f])", re.IGNORECASE)
_GARBLED = re.compile(
    r"[\ufffd…‥⋯]|%E2%80%A6|%EF%BF%BD|\[\.\.\.\]|/\.\.\.(?:[/?#]|\Z)|\Ahttps?://[^/?#\\]*\.\.\.", re.IGNORECASE
)
_HEAD = 2000
"""The number of characters that contain scheme and host; anything longer is data."""
_RULES: dict[str, Callable[[str, str], bool]] = {
    "unsafe_scheme": lambda url, host: scheme_of(url) in rules().unsafe_schemes,
    "shortened_url": lambda url, host: under(host, rules().shorteners),
    # dotted, short, integer, octal and hex IPv4, any IPv6: a last label that is a number is never a name
    "ip_address_url": lambda url, host: ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]) is not None,
    "private_host": lambda url, host: bool(host) and ("." not in host or under(host, rules().private_suffixes)),
    "truncated_url": lambda url, host: without_ellipsis(url) is not None or _GARBLED.search(url) is not None,
}
"""Name in the audit -> whether a URL (after `plain_text`) and its host break the rule; tested in this order."""
_TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
"""Scripts that are written together (UTS 39 5.2, highly restrictive)."""
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


@lru_cache(maxsize=16384)
def broken_rule(url: str) -> str | None:
    """The first sanitising rule that a URL breaks, by its name in the audit, or None if it breaks none."""
    plain = plain_text(url)
    host = host_of(plain)
    return next((name for name, broken in _RULES.items() if broken(plain, host)), None)


def plain_text(url: str) -> str:
    """The URL without invisible characters and with entities decoded; without a scheme, percent-encoding too."""
    url = _LEADING_ZEROS.sub(r"\1", _INVISIBLE.sub("", url))
    head, tail = url[:_HEAD], url[_HEAD:]
    for _ in range(3):  # encoded twice is a trick, but no browser would follow what is encoded five times
        decoded = html.unescape(head)
        if not scheme_of(decoded):
            decoded = unquote(decoded)
        if decoded == head:
            break
        head = _INVISIBLE.sub("", decoded)
    return head + tail


def scheme_of(url: str) -> str:
    """The scheme in lower case, or an empty string."""
    match = _SCHEME.match(url if url.isascii() else unicodedata.normalize("NFKC", url[:60]))
    return match[1].lower() if match else ""


def host_of(url: str) -> str:
    """The canonical host to which a browser would go; empty if there is none or it is cut off (`e...`)."""
    match = _AUTHORITY.match(url)
    host = _PORT.sub("", match[1].rpartition("@")[2]) if match else "..."
    return "" if "..." in host else canonical_host(host.rstrip(".")) or ""


class KnownHosts:
    """The hosts of the sources; recognises hosts that imitate one of them."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = frozenset(hosts)
        self._skeletons = frozenset(map(skeleton, self._hosts))

    def flags(self, url: str) -> tuple[str, ...]:
        """`homograph_host` if the URL's host mixes scripts or looks like a known host but is another."""
        parsed = parse_url(url)
        if parsed is None or parsed.site[0] in self._hosts:
            return ()
        host = parsed.site[0]
        return ("homograph_host",) if mixes_scripts(host) or skeleton(host) in self._skeletons else ()


@lru_cache(maxsize=4096)
def mixes_scripts(host: str) -> bool:
    """Whether a label mixes scripts that are not written together, or is in another script but looks all Latin."""
    for label in unicode_labels(host):
        scripts = {unicodedata.name(letter, "?").split()[0] for letter in label if letter.isalpha()}
        if len(scripts) > 1 and not any(scripts <= group for group in _TOGETHER):
            return True
        if len(scripts) == 1 and "LATIN" not in scripts and skeleton(label).isascii():
            return True
    return False


def skeleton(host: str) -> str:
    """A host as the eye sees it: look-alikes (`confusables` of `rules.toml`) become Latin, accents are dropped."""
    decomposed = unicodedata.normalize("NFKD", ".".join(unicode_labels(host)))
    text = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).translate(_table())
    for pair, single in _PAIRS:
        text = text.replace(pair, single)
    return text


@cache
def _table() -> dict[int, int]:
    return {ord(letter): ord(latin) for latin, letters in rules().confusables.items() for letter in letters}
