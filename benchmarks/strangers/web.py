"""The offline stack as other agents see it: a model endpoint, a search API and pages, over plain HTTP."""

import html
import json
import re
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit

_HIDDEN = re.compile(r"<(head|script|style|nav|footer)\b.*?</\1>", re.DOTALL)


@dataclass
class Web:
    """The tools of an agent for one question. Records the queries sent, the URLs shown and the pages opened."""

    model_url: str
    web_url: str
    api_key: str = "none"
    model: str = "offline-1"
    queries: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)

    def search(self, query: str, most: int = 3) -> list[dict[str, Any]]:
        """Results with `title`, `url`, `content` and, if known, `published_date`."""
        self.queries.append(query)
        body = json.dumps({"query": query[:400], "max_results": most}).encode()
        results: list[dict[str, Any]] = json.loads(self._send("/search", body))["results"]
        self.shown += [result["url"] for result in results]
        return results

    def page(self, address: str) -> str:
        """A page's text, or an error message like that of an agent's tool."""
        parts = urlsplit(address.strip())
        self.opened.append(address)
        path = quote(parts.path or "/", safe="/%") + (f"?{parts.query}" if parts.query else "")
        try:
            page = self._send(path, None, {"host": parts.hostname or "unknown.offline.example"})
        except HTTPError as error:
            return f"Error: {address} answered {error.code}."
        lines = re.sub(r"<[^>]+>", "\n", _HIDDEN.sub("", page)).splitlines()
        return "\n".join(html.unescape(line.strip()) for line in lines if line.strip())

    def _send(self, path: str, body: bytes | None, headers: dict[str, str] | None = None) -> str:
        request = urllib.request.Request(self.web_url + path, body, headers or {})  # noqa: S310  the stack's own
        with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
            return str(reply.read().decode("utf-8"))
