"""Analysed sentences and pages, for the reader to compare: stems, synonym groups, names, numbers and dates."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from aiq.offline.engine import dates
from aiq.offline.engine.lexicon import groups, stem, vocabulary
from aiq.offline.engine.quantities import Quantity, numbers
from aiq.offline.engine.text import Span, name_spans, sentences

_TOKEN = re.compile(r"\d[\d,.]*\d|\d+|[^\W\d_\u3400-\u9fff]+(?:['’](?!s\b)[^\W\d_]+)?|[\u3400-\u9fff]+")
BOILERPLATE = re.compile(
    r"^(?:page updated|last updated|published|posted|updated on|copyright|©|all rights reserved|cookie|we use cookies"
    r"|subscribe|sign (?:up|in)|log in|share (?:this|on)|click here|read more|skip to|menu|home\b.{0,3}$"
    r"|related (?:articles|links)|advertisement|(?:最后|最近)?更新(?:于|[:：])|本?页面?.{0,6}(?:更新|修订)于"
    r"|版权|责任编辑"
    r"|(?:the )?(?:sources|results|documents|evidence) (?:do|does|did) not (?:answer|say|contain|mention|state)"
    r"|not enough information|no(?:thing| information| evidence) (?:was|were|could be) found|现有资料没有|没有找到"
    r"|信息不足)",
    re.IGNORECASE,
)
"""Text in which a page describes itself rather than its subject, or says what it lacks."""

_LIFE = re.compile(r"\(([^()]*?\d{4})\s*[–-]\s*([^()]*?\d{4})\)")
"""Dates of birth and death: "Ada Prill (1931 – 2009)"."""

_DATELINE = re.compile(r"^[A-Z][A-Z'’ -]{2,}\s[–—-]\s|^(?:本报讯|据.{2,8}报道)[，,\s]*")
PARTICLES = frozenset(
    "的是在了和与及为于由用被把对从以到经等也都还就而或并将其之所有个上下里中后前时谁哪几何什么怎多少吗呢这那该此"
)
"""Chinese function characters, which are not part of names."""


@dataclass(frozen=True)
class Token:
    """A word and its position; `root` is its stem, a Chinese word, or a pair of characters."""

    start: int
    end: int
    text: str
    root: str


@dataclass(frozen=True)
class Sentence:
    """An analysed sentence. `roots` and `groups`: the token numbers at which each stem or synonym group occurs."""

    text: str
    tokens: tuple[Token, ...]
    roots: Mapping[str, Sequence[int]]
    groups: Mapping[int, Sequence[int]]

    @cached_property
    def names(self) -> tuple[Span, ...]:
        return name_spans(self.text)

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        return numbers(self.text)

    @cached_property
    def dates(self) -> list[dates.Stated]:
        return dates.find(self.text)

    @cached_property
    def said_of(self) -> date | None:
        """The time the sentence's first statement is about, if it says so."""
        statement = re.split(r"[;；]", self.text)[0]
        return dates.stated(statement) or dates.changed(statement)

    @cached_property
    def _ends(self) -> list[int]:
        return [token.end for token in self.tokens]

    def at(self, offset: int) -> int:
        """The number of the token at this offset of the text, or of the next token."""
        return bisect_right(self._ends, offset)


@lru_cache(maxsize=32768)
def analyse(text: str) -> Sentence:
    """Analyse a sentence or a question."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        if "\u3400" <= match.group()[0] <= "\u9fff":
            tokens += _chinese(match.group(), match.start())
        else:
            tokens.append(Token(*match.span(), match.group(), stem(match.group())))
    roots: dict[str, list[int]] = {}
    by_group: dict[int, list[int]] = {}
    phrases = vocabulary().phrases
    for number, token in enumerate(tokens):
        roots.setdefault(token.root, []).append(number)
        for group in groups(token.root):
            by_group.setdefault(group, []).append(number)
        for parts, group in phrases.get(token.root, ()):
            if all(n < len(tokens) and tokens[n].root == part for n, part in enumerate(parts, number)):
                by_group.setdefault(group, []).extend(range(number, number + len(parts)))
    for life in _LIFE.finditer(text):
        for word, end in zip(("born", "die"), (life.end(1), life.end(2)), strict=True):
            for group in groups(stem(word)):
                by_group.setdefault(group, []).extend([n for n, token in enumerate(tokens) if token.end <= end][-1:])
    return Sentence(text, tuple(tokens), roots, by_group)


def _chinese(run: str, offset: int) -> list[Token]:
    """The vocabulary words and the character pairs in a run of Chinese, in order."""
    spans = {match.span() for match in vocabulary().chinese.finditer(run)}
    spans |= {(i, i + 2) for i in range(len(run) - 1) if run[i] not in PARTICLES and run[i + 1] not in PARTICLES}
    if len(run) == 1:
        spans.add((0, 1))
    return [Token(offset + a, offset + b, run[a:b], run[a:b]) for a, b in sorted(spans)]


@dataclass(frozen=True)
class Page:
    """An analysed source text. `day`: the date that the page gives itself, or that of its source."""

    title: Sentence
    sentences: tuple[Sentence, ...]
    day: date | None

    @cached_property
    def roots(self) -> Counter[str]:
        return Counter(root for sentence in (self.title, *self.sentences) for root in sentence.roots)

    @cached_property
    def groups(self) -> frozenset[int]:
        return frozenset(group for sentence in (self.title, *self.sentences) for group in sentence.groups)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that the page mentions."""
        return tuple(span.text for sentence in (self.title, *self.sentences) for span in sentence.names)

    def in_full(self, name: str) -> str:
        """A surname as the full name that the page gives; any other name is returned unchanged."""
        full_names = (full for full in self.names if re.fullmatch(rf"(?:\S+ ){{1,2}}{re.escape(name)}", full))
        return name if " " in name else next(full_names, name)

    @cached_property
    def subject(self) -> str:
        """What the page is about: the title, or the longest name in it, if the first sentences mention it; else ""."""
        opening = " ".join(s.text for s in self.sentences[:2])
        title = re.sub(r"\s*[|–—(（-]\s.*$|\s*[(（].*$", "", self.title.text).strip()
        candidates = [name for name in (title, *(span.text for span in self.title.names)) if name and name in opening]
        return title if title in candidates else max(candidates, key=len, default="")


@lru_cache(maxsize=2048)
def page(text: str, title: str, day: date | None) -> Page:
    """Analyse a page; cached."""
    body = tuple(analyse(_DATELINE.sub("", s)) for s in sentences(text) if s != "[...]" and not BOILERPLATE.match(s))
    return Page(analyse(title), body, day or dates.of_page(text))
