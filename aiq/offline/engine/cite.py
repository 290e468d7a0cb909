"""Citations of a reply: numbers by first mention, marks and the list of references in the form that is asked for."""

import re
from collections.abc import Sequence

from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Source
from aiq.offline.engine.text import is_chinese

_MARKS = re.compile(r"\s*(?:\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|【\d{1,3}[^】]*】)(?!\()")
_END = re.compile(r"([.!?。！？…]*)([\"”’')\]]*)\s*$")
_PRONOUN = re.compile(
    r"^(?P<word>It|He|She|They|Its|His|Her|Their|它的?|他的?|她的?"
    r"|该(?:公司|企业|机构|行业|领域|城市|市|学院|院校|校|书|作品|俱乐部))(?=[\s一-鿿])"
)
_POSSESSIVE = frozenset(("Its", "His", "Her", "Their"))
_SITE = re.compile(r"\s+[|–—-]\s+[^|–—-]+$|\s*[(（][^()（）]*[)）]?\s*$")


class Citations:
    """The sources that a text cites. Sources without a key cannot be cited, and none is where the orders want none."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._numbers: dict[str, int] = {}
        self._titles: dict[str, str] = {}

    def said(self, sentence: str, *sources: Source) -> str:
        """A sentence with the marks of the sources that say it, before its full stop; marks it brought along go."""
        marks = "".join(dict.fromkeys(filter(None, map(self._mark, sources))))
        plain = _MARKS.sub("", sentence).strip()
        end = _END.search(plain)
        stop = (end[1] if end else "") or ("。" if is_chinese(plain) else ".")
        body = plain[: end.start()] + (end[2] if end else "") if end else plain
        gap = "" if is_chinese(body) or not marks else " "
        return f"{body}{gap}{marks}{stop}"

    def _mark(self, source: Source) -> str:
        style = self._orders.cite
        if style == "none" or not source.key:
            return ""
        self._titles.setdefault(source.key, titled(source))
        number = self._numbers.setdefault(source.key, len(self._numbers) + 1)
        if style == "link":
            return f"([{self._titles[source.key]}]({source.key}))"
        if style == "url":
            return f"({source.key})"
        return f"[^{number}]" if style == "footnote" else f"[{number}]"

    def listed(self) -> str:
        """The reference list; empty where nothing is cited, or where addresses stand in the text."""
        if self._orders.cite in ("none", "link", "url"):
            return ""
        form = "[^{n}]: {title} - {url}" if self._orders.cite == "footnote" else self._orders.reference_form
        lines = [
            form.replace("{n}", str(n)).replace("{title}", self._titles[key]).replace("{url}", key)
            for key, n in self._numbers.items()
        ]
        heading = self._orders.reference_heading
        return "\n".join([*([heading] if heading and lines else []), *lines])


def titled(source: Source) -> str:
    """The source's title on one line, without brackets that would read as marks; its site where it has none."""
    return re.sub(r"[\[\]\n]+", " ", source.title).strip() or source.key.split("://")[-1].split("/")[0]


def standalone(sentence: str, source: Source) -> str:
    """A sentence that can be read on its own: a pronoun at its start becomes the thing that its page is about."""
    name = _SITE.sub("", source.title).strip()
    found = _PRONOUN.match(sentence)
    if not found or not name or len(name) > 60 or name in sentence:
        return sentence
    word = found["word"]
    possessive = "'s" if word in _POSSESSIVE else "的" if word.endswith("的") else ""
    rest = sentence[found.end() :]
    if word == "They" or (rest.startswith((" have ", " are ", " were "))):
        return sentence  # a plural is seldom what the page is about
    return f"{name}{possessive}{rest}"


def told(evidence: Sequence[tuple[str, Source]], citations: Citations) -> list[str]:
    """Sentences with their marks, each fit to stand alone; equal ones once, with the marks of all that say them."""
    merged: dict[str, list[Source]] = {}
    for sentence, source in evidence:
        merged.setdefault(standalone(_MARKS.sub("", sentence), source), []).append(source)
    return [citations.said(sentence, *sources) for sentence, sources in merged.items()]
