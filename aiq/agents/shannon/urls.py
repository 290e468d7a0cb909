"""URLs as Shannon compares them: canonical form, domain and DOI (specification 1.9).

URLs are parsed and written exactly as by Go's `net/url`, because duplicates and ranks depend on its peculiarities. This
serves ranking only: whether a report cites a real source is decided by `aiq.citations`, whose rules are stricter.
Percent escapes in path and query that are not valid UTF-8 survive as surrogates.
"""

import re
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from tld import get_fld

_UTM = ("source", "medium", "campaign", "term", "content")
TRACKERS = frozenset(f"utm_{part}" for part in _UTM) | {"fbclid", "gclid", "msclkid", "ref", "source"}
"""Query parameters that do not identify a page; case-sensitive."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST = re.compile(r"""(?:[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>"]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*""")
_PATH = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:@\[\]%/]*")
_DOI = re.compile(r"10\.[0-9]{4,9}/[-._;()/:A-Z0-9]+", re.IGNORECASE | re.ASCII)

_AS_BYTES = "surrogateescape"


class GoUrl(NamedTuple):
    """A URL as Go parses it: `path` is decoded, `raw_path` and `query` are as written.

    `user` is None without `@`; `authority` tells `s:///p` from `s:/p`; `opaque` is what follows the scheme if no slash
    does (`mailto:`); `bare_query`: the URL ends with its only `?`.
    """

    scheme: str = ""
    opaque: str = ""
    authority: bool = False
    user: str | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    query: str = ""
    bare_query: bool = False


def parse(url: str) -> GoUrl | None:
    """The parts of a URL; None if Go rejects it: control characters, bad escape, host or port, `:` without a scheme."""
    rest, _, fragment = url.partition("#")
    if _CONTROL.search(rest) or _BAD_ESCAPE.search(fragment):
        return None
    scheme = _SCHEME.match(rest)
    parts = GoUrl(scheme=scheme[1].lower() if scheme else "", bare_query=rest.endswith("?") and rest.count("?") == 1)
    rest, _, query = rest[scheme.end() if scheme else 0 :].partition("?")
    parts = parts._replace(query=query)
    if not rest.startswith("/"):
        if scheme:
            return parts._replace(opaque=rest)
        if ":" in rest.partition("/")[0]:
            return None
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, at, host = authority.rpartition("@")
        if not _is_host(host) or not _USER.fullmatch(user) or _BAD_ESCAPE.search(user):
            return None
        parts = parts._replace(authority=True, user=user if at else None, host=unquote(host))
    if _BAD_ESCAPE.search(rest):
        return None
    return parts._replace(path=unquote(rest, errors=_AS_BYTES), raw_path=rest)


def _is_host(text: str) -> bool:
    """Whether all characters are allowed in a host, and a port follows the brackets of IPv6 or the last colon."""
    port = r"\[.*\](?::[0-9]*)?" if text.startswith("[") else r"[^:]*|.*:[0-9]*"
    return _HOST.fullmatch(text) is not None and re.fullmatch(port, text) is not None


def normalize_url(url: str) -> str:
    """The canonical form that URLs of the same page share; a URL that Go cannot parse is unchanged.

    Scheme and host are lower-cased; `www.` (once), fragment, trackers and one trailing slash are dropped; the query is
    sorted by key and re-encoded, so that `k` becomes `k=` and parts with `;` are lost. Everything else stays: scheme,
    port, user, the case of the path. If a trailing slash is dropped, the path is re-encoded, and `%2F` in it becomes a
    slash.
    """
    parts = parse(url)
    if parts is None:
        return url
    path = parts.path if parts.path == "/" else parts.path.removesuffix("/")
    parts = parts._replace(host=parts.host.lower().removeprefix("www."), path=path, query=_sorted_query(parts.query))
    return _format(parts)


def _sorted_query(query: str) -> str:
    values = _parameters(query)
    pairs = [(key, value) for key in sorted(values) if key not in TRACKERS for value in values[key]]
    return "&".join("=".join(quote_plus(text, errors=_AS_BYTES) for text in pair) for pair in pairs)


def _parameters(query: str) -> dict[str, list[str]]:
    """The values of each key, in order; parts with a `;` or a bad escape are left out."""
    values: dict[str, list[str]] = {}
    for part in query.split("&"):
        if part and ";" not in part and not _BAD_ESCAPE.search(part):
            key, _, value = part.partition("=")
            values.setdefault(unquote_plus(key, errors=_AS_BYTES), []).append(unquote_plus(value, errors=_AS_BYTES))
    return values


def _format(parts: GoUrl) -> str:
    text = f"{parts.scheme}:" if parts.scheme else ""
    if parts.opaque:
        text += parts.opaque
    else:
        if parts.host or parts.user is not None or (parts.scheme and parts.authority and parts.path):
            text += "//"
        if parts.user is not None:
            text += (
                ":".join(_encode(unquote(part, errors=_AS_BYTES), "$&+,;=") for part in parts.user.split(":", 1)) + "@"
            )
        text += _encode(parts.host, "!$&'()*+,;=:[]<>\"") + _format_path(parts)
    return f"{text}?{parts.query}" if parts.query or parts.bare_query else text


def _format_path(parts: GoUrl) -> str:
    """The path as originally written, if that is well-formed and still decodes to the same; else encoded anew."""
    if _PATH.fullmatch(parts.raw_path) and unquote(parts.raw_path, errors=_AS_BYTES) == parts.path:
        return parts.raw_path
    return _encode(parts.path, "$&+,/:;=@")


def _encode(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors=_AS_BYTES)


def extract_domain(url: str) -> str:
    """The host in lower case, cut at the first colon, without `www.`; "" if there is none."""
    parts = parse(url)
    return parts.host.lower().partition(":")[0].removeprefix("www.") if parts else ""


def extract_doi(url: str) -> str:
    """The DOI in a URL as written: the path of a doi.org URL, else the query's `doi`, else one in the path; else ""."""
    parts = parse(url)
    if parts is None:
        return ""
    if "doi.org" in parts.host.lower() and parts.path not in ("", "/"):
        return parts.path.removeprefix("/")
    if doi := _parameters(parts.query).get("doi", [""])[0]:
        return doi
    match = _DOI.search(parts.path)
    return match[0] if match else ""


def registrable_domain(host: str) -> str:
    """The registered domain: `stripe.com` for `docs.stripe.com`, `a.github.io` for itself; else the host as it is."""
    return get_fld(f"https://{host}", fail_silently=True, search_private=True) or host
