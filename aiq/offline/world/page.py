"""A page of the closed world, as `pages.jsonl` holds it."""

from aiq.core.base import Record


class WorldPage(Record):
    """`html_extra`: navigation that the served HTML shows around the text; no fact stands there only."""

    url: str
    title: str
    text: str
    published: str
    html_extra: str | None = None
