"""Unique path segments for entities, such as `halden-works`."""

import re


class Slugs:
    """Gives every entity an id that is also its page's address; a second equal one gets a number."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def make(self, text: str) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        self._count[slug] = self._count.get(slug, 0) + 1
        return slug if self._count[slug] == 1 else f"{slug}-{self._count[slug]}"
