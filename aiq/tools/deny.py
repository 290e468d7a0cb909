"""`web.deny`: pages that no agent may read, because they hold a benchmark with its answers.

A pattern is a host, or a host and a path: `example.org`, `*.example.org`, `huggingface.co/datasets/*`. `*` stands for
any characters (of a host or of a path), case does not count. A host means its sub-domains as well, a path what lies
below it. An address inside another one (of an archive, a proxy, a reader service) is looked at too.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import unquote

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.tools.blocks import safe_url

_SCHEME: Final = re.compile(r"https?:/{1,2}")
_PARTS: Final = re.compile(r"(?:[^/?#@]*@)?(?P<host>[^/?#:]*)[^/?#]*(?P<path>[^?#]*)(?P<query>.*)", re.DOTALL)


class DenyList:
    """The patterns of a run."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._patterns = [(host, path) for host, _, path in (pattern.lower().partition("/") for pattern in patterns)]

    def has(self, url: str) -> bool:
        """Whether one of the patterns fits."""
        return bool(self._patterns) and any(self._fits(host, path) for host, path in _addresses(url))

    def check(self, url: str) -> None:
        """Raises ToolError (`denied`) for a page that may not be read."""
        if self.has(url):
            raise ToolError(ToolErrorKind.DENIED, f"{safe_url(url)[:300]} may not be read in this run (web.deny)")

    def _fits(self, host: str, path: str) -> bool:
        labels = host.split(".")
        hosts = [".".join(labels[at:]) for at in range(len(labels))]
        return any(
            any(fnmatchcase(name, denied) for name in hosts)
            and (not below or fnmatchcase(path, below) or fnmatchcase(path, f"{below}[/?]*"))
            for denied, below in self._patterns
        )


def _addresses(url: str) -> Iterator[tuple[str, str]]:
    """Host and path, with its query and without its first slash, of a URL and of those that it contains."""
    text = unquote(url).lower()
    for scheme in _SCHEME.finditer(text):
        parts = _PARTS.fullmatch(text, scheme.end())
        if parts is not None:
            path = posixpath.normpath("/" + parts["path"]).lstrip("/")
            yield parts["host"].rstrip("."), path + parts["query"].partition("#")[0]
