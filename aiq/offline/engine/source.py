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
    material names none. `day` is the material's own date. `message` is the index of the message that brought it.
    """

    text: str
    key: str = ""
    title: str = ""
    day: date | None = None
    message: int = 0


URL = re.compile(r"(?:https?|file)://(?:[^\s<>\"'`|()\[\]{}，。；、（）【】]|\([^\s()]*\))+")
LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"\n]*\")?\)")


def is_prose(text: str) -> bool:
    """Whether a text is at least a sentence, not a name, a number or an address."""
    words = text.split()
    if is_chinese(text):
        return len(text) >= 10
    return len(words) >= 25 or (
        len(words) >= 4 and re.search(r"[.!?…][\"”’)\]*_]*$|[a-z)][.!?] +[A-Z]", text) is not None
    )


def first_url(text: str) -> str:
    """The first address of a text, without the punctuation around it; empty where it has none."""
    found = URL.search(text)
    return found.group().rstrip(".,;:!?*_\\") if found else ""


def addresses(text: str) -> list[str]:
    """The different addresses of a text that are no pictures."""
    links = [m[2] for m in LINK.finditer(text) if m[0][0] != "!" and URL.match(m[2])]
    bare = (m.group().rstrip(".,;:!?*_\\") for m in URL.finditer(LINK.sub(" ", text)))
    return list(dict.fromkeys([*links, *bare]))


def day_of(text: str, *, exact: bool = False) -> date | None:
    """The day, month or year (`exact`: only a day) that a field states; None where it is no date."""
    text = re.sub(r"(\d)[T_](?=\d\d:)", r"\1 ", text[:60])
    found = dates.find(re.sub(r"(\d{4})[/.](\d\d?)[/.](\d\d?)", _iso, text))
    return found[0].when if found and (found[0].day or not exact) else None


def _iso(match: re.Match[str]) -> str:
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"
