"""A source, and the forms by which its parts are told: addresses, dates, prose."""

import re
from dataclasses import dataclass
from datetime import date

from aiq.offline.engine import dates
from aiq.offline.engine.text import is_chinese


@dataclass(frozen=True)
class Source:
    """A piece of evidence: a page, a search result, a document's page, a finding that names where it comes from.

    `key` is what a citation must say: a URL or a document key, exactly as the material writes it; empty where the
    material names none. `day` is the material's own date.
    """

    text: str
    key: str = ""
    title: str = ""
    day: date | None = None

    @property
    def name(self) -> str:
        """What tells it from others: its key, or its text."""
        return self.key or self.text


URL = re.compile(r"(?:https?|file)://(?:[^\s<>\"'`|()\[\]{}，。；、（）【】]|\([^\s()]*\))+(?<![.,;:!?*_\\])")
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"\n]*\")?\)")


def is_prose(text: str) -> bool:
    """Whether a text is at least a sentence, not a name, a number or an address."""
    if is_chinese(text):
        return len(text) >= 10
    length = len(text.split())
    return length >= 25 or (length >= 4 and re.search(r"[.!?…][\"”’)\]*_]*$|[a-z)][.!?] +[A-Z]", text) is not None)


def day_of(text: str, *, exact: bool = False) -> date | None:
    """The day, month or year (`exact`: only a day) that a field states; None where it is no date."""
    text = re.sub(r"(\d{4})[/.-](\d\d?)[/.-](\d\d?)[T_]?", lambda m: f"{m[1]}-{m[2]:0>2}-{m[3]:0>2} ", text[:60])
    found = dates.find(text)
    return found[0].when if found and (found[0].day or not exact) else None
