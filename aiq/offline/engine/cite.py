"""Sentences of a reply as the prompt wants them: their citation marks, dates, and the list of references."""

import re
from collections.abc import Iterable, Sequence

from aiq.offline.engine import dates
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Source
from aiq.offline.engine.text import is_chinese

_MARKS = re.compile(r"\s*(?:\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]|【\d{1,3}[^】]*】)(?!\()")
_END = re.compile(r"(?P<body>.*?)(?P<stop>[.!?…。！？]*)(?P<close>[\"”’')\]]*)\s*", re.DOTALL)
_PRONOUN = re.compile(
    r"^(?P<word>It|He|She|Its|His|Her|它的?|他的?|她的?"
    r"|该(?:公司|企业|机构|行业|领域|城市|市|学院|院校|校|书|作品|俱乐部))(?=[\s一-鿿])(?! (?:have|are|were)\b)"
)
_SITE = re.compile(r"\s+[|–—-]\s+[^|–—-]+$|\s*[(（][^()（）]*[)）]?\s*$")


class Citations:
    """The sources that a text cites, numbered by first mention. Sources without a key cannot be cited, and none is
    where the orders want none."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._titles: dict[str, str] = {}

    def said(self, sentence: str, *sources: Source) -> str:
        """A sentence with the marks of the sources that say it, before its full stop; marks it brought along go."""
        marks = "".join(dict.fromkeys(filter(None, map(self._mark, sources))))
        plain = dated(_MARKS.sub("", sentence).strip(), self._orders.date_form)
        chinese = is_chinese(plain)
        end = _END.fullmatch(plain)
        body, stop = (end["body"] + end["close"], end["stop"]) if end else (plain, "")
        return f"{body}{' ' if marks and not chinese else ''}{marks}{stop or ('。' if chinese else '.')}"

    def _mark(self, source: Source) -> str:
        if self._orders.cite == "none" or not source.key:
            return ""
        title = self._titles.setdefault(source.key, titled(source))
        number = [*self._titles].index(source.key) + 1
        marks = {"link": f"([{title}]({source.key}))", "url": f"({source.key})", "footnote": f"[^{number}]"}
        return marks.get(self._orders.cite, f"[{number}]")

    def listed(self) -> str:
        """The reference list; empty where nothing is cited, or where addresses stand in the text."""
        form = {"footnote": "[^{n}]: {title} - {url}", "numbered": self._orders.reference_form}.get(self._orders.cite)
        if not form or not self._titles:
            return ""
        lines = [
            form.replace("{n}", str(number)).replace("{title}", title).replace("{url}", key)
            for number, (key, title) in enumerate(self._titles.items(), 1)
        ]
        return "\n".join(filter(None, [self._orders.reference_heading, *lines]))


def titled(source: Source) -> str:
    """The source's title on one line, without brackets that would read as marks; its site where it has none."""
    return re.sub(r"[\[\]\n]+", " ", source.title).strip() or source.key.split("://")[-1].split("/")[0]


def dated(text: str, form: str | None) -> str:
    """A text with its whole dates in a form such as YYYY-MM-DD or D.M.YYYY; as they are without one."""
    for day in reversed([day for day in dates.find(text) if day.day] if form else []):
        put = {"YYYY": f"{day.year}", "YY": f"{day.year % 100:02d}", "MM": f"{day.month:02d}", "M": f"{day.month}",
               "DD": f"{day.day:02d}", "D": f"{day.day}"}  # fmt: skip
        text = text[: day.start] + re.sub("Y+|M+|D+", lambda m: put.get(m[0], m[0]), form or "") + text[day.end :]
    return text


def standalone(sentence: str, source: Source) -> str:
    """A sentence that can be read on its own: a singular pronoun at its start becomes what its page is about."""
    name = _SITE.sub("", source.title).strip()
    found = _PRONOUN.match(sentence)
    if not found or not 0 < len(name) <= 60 or name in sentence:
        return sentence
    possessive = "'s" if found["word"] in ("Its", "His", "Her") else "的" if found["word"].endswith("的") else ""
    return f"{name}{possessive}{sentence[found.end() :]}"


def merged(evidence: Iterable[tuple[str, Source]]) -> dict[str, list[Source]]:
    """Sentences fit to stand alone, each once, with all sources that say it."""
    found: dict[str, list[Source]] = {}
    for sentence, source in evidence:
        found.setdefault(standalone(_MARKS.sub("", sentence), source), []).append(source)
    return found


def told(evidence: Sequence[tuple[str, Source]], citations: Citations) -> list[str]:
    """Sentences with their marks, each fit to stand alone; equal ones once, with the marks of all that say them."""
    return [citations.said(sentence, *sources) for sentence, sources in merged(evidence).items()]
