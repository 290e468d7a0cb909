"""`web.deny`: pages that no agent may read, because they hold a benchmark with its answers.

A pattern is a host, or a host and a path: `example.org`, `*.example.org`, `huggingface.co/datasets/*`. `*` stands for
any characters (of a host or of a path), and case is ignored. A host includes its sub-domains, a path everything below
it. An address inside another one (an archive's, a proxy's, a reader service's) is checked too, with or without its
scheme.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import unquote

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.tools.blocks import safe_url

_START: Final = re.compile(r"(?<=//)|(?<=[/=:])(?=[^/?#=:]*\.)")
"""Where an address may begin: after a scheme, or as what looks like a host inside another address."""
_PARTS: Final = re.compile(r"(?:[^/?#@]*@)?(?P<host>[^/?#:]*)[^/?#]*(?P<path>[^?#]*)(?P<query>.*)", re.DOTALL)

_MOST_CHARS: Final = 2000
"""Characters checked of an address: the work grows with their square, and a hostile page may redirect to many."""


class DenyList:
    """The patterns of a run."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        parts = [unquote(pattern).lower().partition("/") for pattern in patterns]
        self._patterns = [(_encoded(host), path.rstrip("/")) for host, _, path in parts]

    def has(self, url: str) -> bool:
        """Whether one of the patterns matches."""
        return bool(self._patterns) and any(self._fits(host, path) for host, path in _addresses(url))

    def check(self, url: str) -> None:
        """Raise ToolError (`denied`) for a page that may not be read."""
        if self.has(url):
            raise ToolError(ToolErrorKind.DENIED, f"{safe_url(url)[:300]} may not be read in this run (web.deny)")

    def _fits(self, host: str, path: str) -> bool:
        labels = host.split(".")
        hosts = [".".join(labels[i:]) for i in range(len(labels))]
        return any(
            any(fnmatchcase(name, host_pattern) for name in hosts)
            and (not path_pattern or fnmatchcase(path, path_pattern) or fnmatchcase(path, f"{path_pattern}[/?]*"))
            for host_pattern, path_pattern in self._patterns
        )


def _addresses(url: str) -> Iterator[tuple[str, str]]:
    """Host and path (with query, without first slash) of a URL and of the URLs that it contains."""
    text = unquote(url).lower()[:_MOST_CHARS]
    for start in _START.finditer(text):
        parts = _PARTS.fullmatch(text, start.end())
        if parts is not None:
            path = posixpath.normpath("/" + parts["path"]).lstrip("/")
            yield _encoded(parts["host"]), path + parts["query"].partition("#")[0]


def _encoded(host: str) -> str:
    """A host as it is resolved, whichever script and dots it is written with."""
    try:
        return host.encode("idna").decode().rstrip(".")
    except UnicodeError:  # not a host that could be resolved
        return host.rstrip(".")
