"""What a tool really returned during a run, and the page a fetch brings."""

import hashlib
from typing import Literal, Protocol

from pydantic import Field

from aiq.core.base import Record

CallPath = tuple[int, ...]
"""A call's place in a run: (turn, call within the turn), repeated for each nesting of agents."""


SourceKind = Literal["retrieved", "mentioned", "echoed"]
"""A tool's result; a URL inside a result's text; a URL in the agent's own arguments or in an error."""


class Source(Record):
    """Something a tool returned: a web page by `url`, or a document by `citation_key`.

    `text` is what the tool returned of it, `digest` the first 16 hex digits of its SHA-256 (the registry fills it in),
    `call_id` the tool call that returned it first, `relevance` how well it fits the query according to its search
    provider (0 to 1; None if unknown). A source only `mentioned` or `echoed` has neither text nor title.
    """

    url: str | None = None
    citation_key: str | None = None
    title: str = ""
    text: str = ""
    published: str | None = None
    relevance: float | None = Field(default=None, ge=0, le=1)
    tool: str = ""
    call_id: str = ""
    kind: SourceKind = "retrieved"
    digest: str = ""

    @property
    def address(self) -> str:
        """Its URL, or the key of a document; empty if it cannot be cited."""
        return self.url or self.citation_key or ""


class Registry(Protocol):
    """All sources of one (sample, epoch), in the order of turns and calls; of several kinds the strongest counts."""

    def add(self, source: Source, order: CallPath) -> None:
        """Remember a source; if a URL or key is added again, the first by `order` gives its URL and call."""

    def note(self, text: str, kind: SourceKind, order: CallPath, *, call_id: str, tool: str) -> None:
        """Remember the URLs of a text; none of them was retrieved."""

    def all(self) -> tuple[Source, ...]:
        """Every retrieved source once, by order: what verifies."""

    def known(self) -> tuple[Source, ...]:
        """Everything seen, of every kind, once, by order."""


class Page(Record):
    """A fetched page: main text only, with `url` as asked and `final_url` after redirects."""

    url: str
    final_url: str
    title: str
    text: str
    description: str = ""
    published: str | None = None

    @property
    def content(self) -> str:
        """Title, the page's own description, and text."""
        return "\n\n".join(filter(None, (self.title, self.description, self.text)))

    @property
    def digest(self) -> str:
        """The first 16 hex digits of the content's SHA-256."""
        return hashlib.sha256(self.content.encode("utf-8", "replace")).hexdigest()[:16]
