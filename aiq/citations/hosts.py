"""Host names as a browser reads them: one spelling for all that lead to the same place. Nothing here raises."""

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

Site = tuple[str, int | None]
"""Host in canonical form, and port (None: the scheme's default)."""

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,9}))?")
_IGNORED = re.compile("[\u00ad\u034f\u180b-\u180d\u200b-\u200d\u2060\u2064\ufe00-\ufe0f\ufeff]")
"""What host names may contain and browsers leave out (UTS 46: mapped to nothing, or invisible joiners)."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST, _LONGEST_LABEL = 253, 63
"""Characters of a host name and of one label (RFC 1035 2.3.4, less the length bytes)."""


@lru_cache(maxsize=16384)
def read_site(scheme: str, authority: str) -> Site | None:
    """Host and port of `user@host:port` under `http` or `https`; user-info is no part of it. None where malformed."""
    match = _AUTHORITY.fullmatch(authority.rpartition("@")[2])
    host = canonical_host(match[1]) if match else None
    if match is None or host is None:
        return None
    port = int(match[2]) if match[2] else None
    if port is not None and port > 65535:
        return None
    return host, None if port == _DEFAULT_PORTS[scheme] else port


def canonical_host(host: str) -> str | None:
    """Lower case, IDNA, no trailing dot, no `www.`; IPv6 in its shortest form. None where malformed."""
    if host.startswith("["):
        return _ipv6(host)
    if not host.isascii() or "%" in host:
        host = _ascii(unquote(host))
    host = host.lower().removesuffix(".")
    if len(host) > _LONGEST or not _HOST.fullmatch(host):
        return None
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _ipv6(host: str) -> str | None:
    """The address without brackets and zone (`%eth0`, `%25eth0`), which means something on one machine only."""
    try:
        return ipaddress.IPv6Address(host[1:-1].partition("%")[0]).compressed if host.endswith("]") else None
    except ValueError:
        return None


def _ascii(host: str) -> str:
    """Full-width and other forms undone, then each label that is not ASCII in punycode (RFC 3492).

    As UTS 46 in its non-transitional form, which browsers use: `ß` stays itself. What is no valid
    name comes back so that it does not pass for one.
    """
    plain = "".join(letter.lower() for letter in _IGNORED.sub("", unicodedata.normalize("NFKC", host)))
    labels = unicodedata.normalize("NFC", plain).replace("。", ".").split(".")
    return ".".join(label if label.isascii() else _punycode(label) for label in labels)


def _punycode(label: str) -> str:
    """The label's ASCII form; an empty one, which no host may have, for what can be no label."""
    if len(label) > _LONGEST_LABEL or not label.isprintable():
        return ""
    return "xn--" + label.encode("punycode").decode("ascii")


def under(host: str, names: frozenset[str]) -> bool:
    """Whether a canonical host is one of these names or a sub-domain of one."""
    while host:
        if host in names:
            return True
        host = host.partition(".")[2]
    return False


def unicode_labels(host: str) -> list[str]:
    """The labels of a canonical host as people see them; one that is no valid punycode stays as it is."""
    return [_seen(label) for label in host.split(".")]


def _seen(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
