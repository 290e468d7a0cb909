"""What a reader of a page sees of it: its tags with their attributes, its links, and its text."""

from html.parser import HTMLParser


class Seen(HTMLParser):
    """A page taken apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a"]

    def classed(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of the elements that have this class."""
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]
