"""Hosts that look like others: letters of another script in a label, or a name that reads like a known one.

Such a host is flagged and not removed: the rule is about what eyes see and is sometimes wrong.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from aiq.citations.hosts import unicode_labels
from aiq.citations.rules import rules
from aiq.citations.urls import parse_url

HOMOGRAPH = "homograph_host"

_TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
"""Scripts that are written together (UTS 39 5.2, highly restrictive)."""
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


class KnownHosts:
    """The hosts of the sources; says whether another one passes for one of them."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = frozenset(hosts)
        self._skeletons = frozenset(map(skeleton, self._hosts))

    def flags(self, url: str) -> tuple[str, ...]:
        """`homograph_host` where the URL's host mixes scripts or looks like a known host that it is not."""
        parsed = parse_url(url)
        if parsed is None or parsed.site[0] in self._hosts:
            return ()
        host = parsed.site[0]
        return (HOMOGRAPH,) if mixes_scripts(host) or skeleton(host) in self._skeletons else ()


@lru_cache(maxsize=4096)
def mixes_scripts(host: str) -> bool:
    """Whether a label has letters of scripts that do not go together, or of another one that all pass for Latin."""
    return any(not label.isascii() and _mixed(label) for label in unicode_labels(host))


def _mixed(label: str) -> bool:
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in label if letter.isalpha()}
    if len(scripts) > 1:
        return not any(scripts <= together for together in _TOGETHER)
    return "LATIN" not in scripts and skeleton(label).isascii()


def skeleton(host: str) -> str:
    """What eyes make of a host: look-alikes (`confusables` of `rules.toml`) in Latin, marks left out."""
    if host.isascii() and "xn--" not in host:
        text = host
    else:
        decomposed = unicodedata.normalize("NFKD", ".".join(unicode_labels(host)))
        text = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    text = text.translate(_table())
    for pair, single in _PAIRS:
        text = text.replace(pair, single)
    return text


@lru_cache(maxsize=1)
def _table() -> dict[int, int]:
    return {ord(letter): ord(latin) for latin, letters in rules().confusables.items() for letter in letters}
