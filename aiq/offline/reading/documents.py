"""The documents that tool messages brought, as sentences with dates."""

import html
import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.reading import dates, text

_DOCUMENT = re.compile(r'<Document href="(?P<url>[^"]*)"[^>]*>\s*(?P<body>.*?)\s*</Document>', re.DOTALL)
_TITLE = re.compile(r"<title>\s*(?P<title>.*?)\s*</title>\s*", re.DOTALL)
_PUBLISHED = re.compile(r"<published>\s*(?P<day>.*?)\s*</published>\s*", re.DOTALL)
_KNOWLEDGE = re.compile(
    r"--- Result \d+ ---\s*(?P<head>.*?Citation:\s*(?P<key>[^\n]+)\n(?:[A-Z][\w ]*:[^\n]*\n)*)"
    r"(?P<body>.*?)(?=\n--- Result|\Z)",
    re.DOTALL,
)


class Sentence(Record):
    """One sentence of a document and its place there. `when`: the day it speaks of, where it or the page says."""

    text: str
    number: int
    when: date | None = None


class Document(Record):
    """A document as retrieved: `key` is its URL or document key, `rank` its place among all documents brought."""

    key: str
    title: str
    text: str
    rank: int
    when: date | None = None

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        return _sentences(self.text, self.when)


def read(request: ChatRequest) -> list[Document]:
    """Every document of the conversation's tool messages, in order; the longest text of each key."""
    return gather(message for message in request.messages if message.role == "tool")


def gather(messages: Iterable[ChatMessage]) -> list[Document]:
    """The documents of these messages, each key once: first place, longest text."""
    found: dict[str, Document] = {}
    for message in messages:
        for document in parse(message.text):
            known = found.get(document.key)
            if known is None:
                found[document.key] = document.model_copy(update={"rank": len(found)})
            elif len(document.text) > len(known.text):
                found[document.key] = document.model_copy(update={"rank": known.rank})
    return list(found.values())


def parse(content: str) -> list[Document]:
    """The documents of one text: `<Document>` blocks, or results with a document citation key."""
    found = []
    for match in _DOCUMENT.finditer(content):
        body = match.group("body")
        title, published = _TITLE.search(body), _PUBLISHED.search(body)
        body = _PUBLISHED.sub("", _TITLE.sub("", body, count=1), count=1)
        day = dates.find(published.group("day")) if published else []
        found.append(_document(match.group("url"), title.group("title") if title else "", body, day))
    for match in _KNOWLEDGE.finditer(content):
        key = match.group("key").strip()
        found.append(_document(key, key.split(",")[0], match.group("body"), []))
    return found


def _document(key: str, title: str, body: str, published: list[dates.Stated]) -> Document:
    body = html.unescape(body).strip()
    when = dates.of_page(body) or (published[0].when if published else None)
    return Document(key=html.unescape(key), title=html.unescape(title), text=body, rank=0, when=when)


@lru_cache(maxsize=1024)
def _sentences(body: str, page_date: date | None) -> tuple[Sentence, ...]:
    found = []
    for number, sentence in enumerate(text.sentences(body)):
        when = dates.stated(sentence)
        since = None if when or page_date else dates.changed(sentence)
        found.append(Sentence(text=sentence, number=number, when=when or page_date or since))
    return tuple(found)
