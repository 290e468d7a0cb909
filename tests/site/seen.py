"""What a reader of a page sees, and what a hostile text would like to get into it."""

import re
from html.parser import HTMLParser

_ACTIVE = frozenset(("iframe", "object", "embed", "form", "img", "svg", "math", "base", "link", "video", "audio"))
_SOURCES = ("src", "srcdoc", "action", "formaction")
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


class Seen(HTMLParser):
    """A parsed page: its tags with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def words(self) -> str:
        """The text with whitespace collapsed."""
        return " ".join(self.text.split())

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a"]

    def classed(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of the elements that have this class."""
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]

    def scripts(self) -> int:
        return sum(tag == "script" for tag, _ in self.tags)

    def is_harmless(self) -> bool:
        """Whether only our own scripts can run or load, and every link leads to the web or into the page."""
        attributes = [item for _, attrs in self.tags for item in attrs.items()]
        return (
            _ACTIVE.isdisjoint(tag for tag, _ in self.tags)
            and all(link.lower().startswith(("http://", "https://", "#")) for link in self.links())
            and not any(name.startswith("on") or name in _SOURCES for name, _ in attributes)
            and all(
                re.fullmatch(r"((text-align|left|width): ?[\w.%]+;?)*", v or "") for n, v in attributes if n == "style"
            )
        )
