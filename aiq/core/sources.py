"""What a tool really returned during a run, and the page a fetch brings."""

from typing import Protocol

from aiq.core.base import Record

CallPath = tuple[int, ...]
"""Where in a run a call stands: (turn, call within the turn), repeated for each nesting of agents."""


class Source(Record):
    """Something a tool returned as retrieved: a web page by `url`, or a document by `citation_key`.

    `text` is what the tool gave of it; `call_id` is the tool call that brought it first.
    """

    url: str | None = None
    citation_key: str | None = None
    title: str = ""
    text: str = ""
    published: str | None = None
    tool: str = ""
    call_id: str = ""


class Registry(Protocol):
    """All sources of one (sample, epoch), in the order of turns and calls, whatever the arrival."""

    def add(self, source: Source, order: CallPath) -> None:
        """Remember a source; the first of a URL or key, by `order`, keeps its title."""

    def all(self) -> tuple[Source, ...]:
        """Every source once, by order."""


class Page(Record):
    """A fetched page: main text only, with `url` as asked and `final_url` after redirects."""

    url: str
    final_url: str
    title: str
    text: str
    published: str | None = None
