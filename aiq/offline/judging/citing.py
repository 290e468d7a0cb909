"""Citations: which statements of a text cite which URLs, and the text without them."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from aiq.offline.engine.text import name_spans, sentences

_URL = re.compile(r"https?://[^\s<>\"'`|，。；、）】)\]]+")
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[\^?(\d{1,4})\]|(\d{1,4})[.)])\s.*?(https?://\S+)\s*$", re.MULTILINE)
_MARK = re.compile(
    r"[ \t]?[\[【]\^?(\d{1,4}(?:\s*[,，;–-]\s*\^?\d{1,4})*)(?:†[^】\]]*)?[\]】](?:\((https?://[^\s)]*)\))?"
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_MARKS_AFTER_STOP = re.compile(r"([.!?。！？])((?:\s?[\[【][\d,\s^–-]+[\]】])+)")
_POINTER = re.compile(r"^(?:It|He|She|They)\b")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)]\s+|>\s*)+")
_LIST = re.compile(
    r"^\s*(?:#{1,6}\s*)?\**(?:references|sources|bibliography|works cited|参考文献|参考资料|来源)\**\s*[:：]?\s*$",
    re.IGNORECASE | re.MULTILINE,
)


class Cited(NamedTuple):
    statement: str
    reference: int | None
    url: str


def reference_urls(references: str) -> dict[int, str]:
    """The URL of each numbered line; of several the last, which is where our reference lines have it."""
    return {int(first or second): url.rstrip(".,;:)") for first, second, url in _ENTRY.findall(references)}


def cited(text: str, listed: Mapping[int, str]) -> list[Cited]:
    """Every (statement, reference, URL) of a report or a part of it, in order, without its list of references.

    A pronoun at a statement's start becomes the thing last named.
    """
    found: list[Cited] = []
    subject = ""
    for line in _LIST.split(text)[0].splitlines():
        moved = _MARKS_AFTER_STOP.sub(lambda match: match[2] + match[1], _LEAD.sub("", line))
        for sentence in sentences(moved):
            told = _URL.sub("", _LINK.sub(r"\1", _MARK.sub("", sentence))).replace("**", "").strip(" |")
            statement = _POINTER.sub(subject or r"\g<0>", " ".join(told.split()))
            found += [Cited(statement, number, url) for number, url in _sources(sentence, listed) if statement]
            subject = next((span.text for span in name_spans(statement)), subject)
    return list(dict.fromkeys(found))


def _sources(sentence: str, listed: Mapping[int, str]) -> Iterator[tuple[int | None, str]]:
    for mark in _MARK.finditer(sentence):
        for part in re.split(r"\s*[,，;]\s*", mark[1]):
            ends = [int(digits) for digits in re.findall(r"\d+", part)]
            numbers = range(ends[0], min(ends[-1], ends[0] + 30) + 1)
            yield from ((number, mark[2] or listed[number]) for number in numbers if mark[2] or number in listed)
    unmarked = _MARK.sub("", sentence)
    links = [match[2] for match in _LINK.finditer(unmarked)]
    bare = [url.rstrip(".,;:!?") for url in _URL.findall(_LINK.sub("", unmarked))]
    yield from ((None, url) for url in dict.fromkeys([*links, *bare]))


def without_citations(text: str) -> str:
    """The text without citation marks, link targets, addresses and its list of references; otherwise unchanged."""
    unmarked = _MARK.sub(lambda mark: mark[0] if "^" in mark[0] else "", _LIST.split(text)[0])
    text = _LINK.sub(r"\1", unmarked)
    return re.sub(r"\n{3,}", "\n\n", re.sub(rf"[ \t]?<?{_URL.pattern}>?", "", text)).strip()
