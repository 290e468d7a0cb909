"""How tools show retrieved pages to a model: blocks that a page cannot forge, safe URLs, and dates."""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Annotated

from pydantic import StringConstraints

from aiq.core.sources import Source

SEPARATOR = "\n\n---\n\n"
"""Between the blocks of one tool result."""

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""An argument that must not be blank."""

_TAG = re.compile(r"<(?=\s*/?\s*(?:document|title|published|answer)\b)", re.IGNORECASE)
_UNSAFE_IN_URL = re.compile(r"[\s\"<>\x00-\x1f\x7f]")


def as_source(
    tool: str, url: str, title: str, text: str, published: str | None = None, relevance: float | None = None
) -> Source:
    """A page as the source that a tool declares."""
    metadata = {"title": one_line(title), "published": iso_date(published), "relevance": relevance}
    return Source(url=safe_url(url), text=text, tool=tool, **metadata)


def document(url: str, title: str, text: str, published: str | None = None) -> str:
    """One page as a block, with `<published>` where the date is known.

    Title and text are untrusted: tags of the block inside them are escaped, so that a page
    can neither end its block nor forge another. `url` should have gone through `safe_url`.
    """
    lines = [f'<Document href="{url}">', "<title>", escape_tags(one_line(title)), "</title>"]
    if published:
        lines.append(f"<published>{escape_tags(published)}</published>")
    return "\n".join([*lines, escape_tags(text.strip()), "</Document>"])


def safe_url(url: str) -> str:
    """The URL with white space, quotes and angle brackets percent-encoded, so that it fits an attribute."""
    return _UNSAFE_IN_URL.sub(lambda m: "".join(f"%{byte:02X}" for byte in m.group().encode()), url.strip())


def iso_date(value: str | None) -> str | None:
    """A publication date as YYYY-MM-DD if it is ISO 8601 or an HTTP date; otherwise its first 40 characters."""
    text = one_line(value or "")
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return parse(text).date().isoformat()
        except (ValueError, OverflowError):
            continue
    return text[:40] or None


def truncate(text: str, limit: int) -> str:
    """The first `limit` characters; if that is not all, with a line that says so."""
    return text if len(text) <= limit else f"{text[:limit]}\n[cut: the first {limit} of {len(text)} characters]"


def one_line(text: str) -> str:
    return " ".join(text.split())


def escape_tags(text: str) -> str:
    """The text with the tags of tool results escaped, so that it cannot forge any."""
    return _TAG.sub("&lt;", text)
