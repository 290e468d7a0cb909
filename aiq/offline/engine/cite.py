"""The sentences of a reply in the form the prompt wants: readable alone, dated, with citations and references."""

import re
from collections.abc import Iterable, Sequence

from aiq.offline.engine import dates
from aiq.offline.engine.evidence import Evidence
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.source import Source
from aiq.offline.engine.text import is_chinese

_MARKS = re.compile(r"\s*(?:\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|【\d{1,3}[^】]*】)(?!\()")
_END = re.compile(r"(?P<body>.*?)(?P<stop>[.!?…。！？]*)(?P<close>[\"”’')\]]*)\s*", re.DOTALL)
_PRONOUN = re.compile(
    r"^(?P<word>It|He|She|Its|His|Her|它的?|他的?|她的?"
    r"|该(?:公司|企业|机构|行业|领域|城市|市|学院|院校|校|书|作品|俱乐部))(?=[\s一-鿿])(?! (?:have|are|were)\b)"
)
_SITE = re.compile(r"\s+[|–—-]\s+[^|–—-]+$|\s*[(（][^()（）]*[)）]?\s*$")

Facts = dict[str, list[Source]]
"""Sentences that can stand alone, each once, with all sources that state it."""


def facts(evidence: Iterable[Evidence]) -> Facts:
    """The sentences of the evidence, in order."""
    by_sentence: Facts = {}
    for item in evidence:
        by_sentence.setdefault(standalone(_MARKS.sub("", item.sentence), item.source), []).append(item.source)
    return by_sentence


def standalone(sentence: str, source: Source) -> str:
    """A sentence that can be read on its own: a singular pronoun at its start is replaced by its page's subject."""
    name = _SITE.sub("", source.title).strip()
    pronoun = _PRONOUN.match(sentence)
    if not pronoun or not 0 < len(name) <= 60 or name in sentence:
        return sentence
    possessive = "'s" if pronoun["word"] in ("Its", "His", "Her") else "的" if pronoun["word"].endswith("的") else ""
    return f"{name}{possessive}{sentence[pronoun.end() :]}"


def dated(text: str, form: str | None) -> str:
    """A text with its full dates in a `strftime` format; unchanged without one."""
    for day in reversed(dates.find(text) if form else []):
        text = text[: day.start] + day.when.strftime(str(form)) + text[day.end :] if day.day else text
    return text


class Citations:
    """The sources that a text cites, numbered by first mention. Sources without a key cannot be cited; no source can if
    the orders want no citations."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._titles: dict[str, str] = {}
        self._given_numbers = {_page(key): number for key, number in orders.numbers.items()}

    def with_marks(self, sentence: str, sources: Sequence[Source]) -> str:
        """A sentence with citation marks for its sources before the full stop."""
        marks = "".join(dict.fromkeys(map(self._mark, sources)))
        plain = dated(sentence.strip(), self._orders.date_form)
        match = _END.fullmatch(plain)
        body, stop = (match["body"] + match["close"], match["stop"]) if match else (plain, "")
        gap, dot = ("", "。") if is_chinese(plain) else (" ", ".")
        return f"{body}{marks and gap}{marks}{stop or dot}"

    def cites(self, source: Source) -> bool:
        """Whether a source can be cited."""
        is_listed = not self._given_numbers or _page(source.key) in self._given_numbers
        return self._orders.cite != "none" and source.key != "" and is_listed

    def _mark(self, source: Source) -> str:
        if not self.cites(source):
            return ""
        # one line, without brackets that would look like marks; the site if there is no title
        title = re.sub(r"[\[\]\n]+", " ", source.title).strip() or source.key.split("://")[-1].split("/")[0]
        self._titles.setdefault(source.key, title)
        number = self._number(source.key)
        day = f", {source.day}" if self._orders.every and source.day else ""
        marks = {"link": f"([{title}]({source.key}))", "url": f"({source.key}{day})", "footnote": f"[^{number}]"}
        return marks.get(self._orders.cite, f"[{number}]")

    def _number(self, key: str) -> int:
        return self._given_numbers.get(_page(key)) or [*self._titles].index(key) + 1

    def lines(self, said: Facts) -> list[str]:
        """Each sentence with its citation marks."""
        return [self.with_marks(sentence, sources) for sentence, sources in said.items()]

    def text(self, said: Facts) -> str:
        """The sentences with their citation marks as a paragraph, or as a list if the prompt wants lists."""
        lines = self.lines(said)
        if self._orders.bullets:
            return "\n".join(f"- {line}" for line in lines)
        return ("" if is_chinese("".join(lines[:1])) else " ").join(lines)

    def complete(self, text: str) -> str:
        """A text followed by the reference list, unless the text contains the URLs itself or cites nothing."""
        numbered_form = self._orders.reference_form if self._orders.reference_heading or not self._given_numbers else ""
        forms = {"footnote": "[^{n}]: {title} - {url}", "numbered": numbered_form}
        form = forms.get(self._orders.cite, "")
        lines = [
            form.replace("{n}", str(self._number(key))).replace("{title}", title).replace("{url}", key)
            for key, title in self._titles.items()
        ]
        heading = self._orders.reference_heading or ""
        return "\n\n".join([text, "\n".join([heading, *lines]).strip()]) if form and lines else text


def _page(key: str) -> str:
    """The part of a URL that identifies the page."""
    return re.sub(r"^https?://(?:www\.)?|#.*$|/$", "", key).casefold()
