"""Citations: which statements of a text cite which URLs, and the text without them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from aiq.offline.engine.text import name_spans, sentences

_URL = re.compile(r"https?://[^\s<>\"'`|，。；、）】]+")
_ENTRY = re.compile(r"\s*(?:[-*]\s+)?(?:\[\^?(\d{1,4})\]|(\d{1,4})[.)])\s")
_MARK = re.compile(
    r"\s?[\[【]\^?(\d{1,4}(?:\s*[,，;–-]\s*\^?\d{1,4})*)(?:†[^】\]]*)?[\]】](?:\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\))?"
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_MARKS_AFTER_STOP = re.compile(r"([.!?。！？])((?:\s?[\[【][\d,\s^–-]+[\]】])+)")
_POINTER = re.compile(r"^(?:It|He|She|They)\b")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)]\s+|>\s*)+")


class Cited(NamedTuple):
    statement: str
    reference: int | None
    url: str


def reference_urls(references: str) -> dict[int, str]:
    """The URL of each numbered line; of several the last, which is where our reference lines have it."""
    found: dict[int, str] = {}
    for line in references.splitlines():
        entry, addresses = _ENTRY.match(line), _URL.findall(line)
        if entry and addresses:
            found[int(entry[1] or entry[2])] = addresses[-1].rstrip(".,;:)")
    return found


def cited(text: str, listed: Mapping[int, str]) -> list[Cited]:
    """Every (statement, reference, URL) of a part of a report, in order."""
    found: list[Cited] = []
    subject = ""
    for line in _told_rows(text.splitlines()):
        moved = _MARKS_AFTER_STOP.sub(lambda match: match[2] + match[1], _LEAD.sub("", line))
        for sentence in sentences(moved):
            statement = _statement(sentence, subject)
            found += [Cited(statement, number, url) for number, url in _sources(sentence, listed) if statement]
            named = name_spans(statement)
            subject = named[0].text if named else subject
    return list(dict.fromkeys(found))


def _told_rows(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with each cited cell of a table told in words: "the row's name, the column's heading: the cell"."""
    heads: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
        if not cells:
            yield line
        elif heads:
            name = _MARK.sub("", cells[0])
            yield from (
                f"{name}, {head.lower()}: {cell}"
                for head, cell in zip(heads, cells, strict=False)
                if _MARK.search(cell)
            )
        heads = (heads or cells) if cells else []


def _statement(sentence: str, subject: str) -> str:
    """The sentence without marks and addresses; a pronoun at its start becomes the thing last named."""
    text = _URL.sub("", _LINK.sub(r"\1", _MARK.sub("", sentence))).replace("**", "").replace("()", "")
    text = " ".join(text.split()).replace(" .", ".").replace(" 。", "。")
    return _POINTER.sub(subject, text) if subject else text


def _sources(sentence: str, listed: Mapping[int, str]) -> Iterator[tuple[int | None, str]]:
    for mark in _MARK.finditer(sentence):
        for number in _numbers(mark[1]):
            url = mark[2] or listed.get(number)
            if url:
                yield number, url
    unmarked = _MARK.sub("", sentence)
    for url in dict.fromkeys(_URL.findall(unmarked)):
        yield None, url.rstrip(".,;:!?") if "(" in url else url.rstrip(".,;:!?)")


def _numbers(mark: str) -> Iterator[int]:
    for part in re.split(r"\s*[,，;]\s*", mark):
        ends = [int(digits) for digits in re.findall(r"\d+", part)]
        yield from range(ends[0], min(ends[-1], ends[0] + 30) + 1)


_LIST = re.compile(
    r"^\s*(?:#{1,6}\s*)?\**(?:references|sources|bibliography|works cited|参考文献|参考资料|来源)\**\s*[:：]?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS_OF_LINK = re.compile(r"\[([^\[\]\n]+)\]\(https?://[^\s()]*\)")
_ANY_MARK = re.compile(r"[ \t]?(?:\[\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|【\d{1,3}[^】\n]*】)")
_ANY_URL = re.compile(r"[ \t]?<?https?://[^\s<>()\]]+>?")


def without_citations(text: str) -> str:
    """The text without citation marks, link targets, addresses and its list of references; otherwise unchanged."""
    heading = _LIST.search(text)
    text = text[: heading.start()] if heading else text
    text = _ANY_URL.sub("", _ANY_MARK.sub("", _WORDS_OF_LINK.sub(r"\1", text)))
    return re.sub(r"\n{3,}", "\n\n", text).strip()
