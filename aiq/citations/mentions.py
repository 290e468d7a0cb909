"""Finds the web addresses in any text that tools and agents handle: pages, errors, arguments, reports."""

import re
from collections.abc import Iterator

_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|\\^{}\x00-\x20，。；：！？、）】》〉」』”’“‘【《〈「『（　]+", re.IGNORECASE
)
_TRAILING = ".,;:!?*_~"
_PAIRS = {")": "(", "]": "["}


def addresses(text: str) -> Iterator[str]:
    """The http and https URLs in a text, in order, without the punctuation behind them."""
    for match in _ADDRESS.finditer(text):
        url = _trimmed(match[0])
        if len(url) > len("https://"):
            yield url


def _trimmed(url: str) -> str:
    """Without trailing punctuation and brackets that nothing opens."""
    surplus = {close: url.count(close) - url.count(opening) for close, opening in _PAIRS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return url[:end]
