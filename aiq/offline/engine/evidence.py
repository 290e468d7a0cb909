"""Finds evidence: the sentences of the sources relevant to an ask, by words, rarity, synonyms and context."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from aiq.offline.engine.analysis import BOILERPLATE, Page, Sentence, analyse, page
from aiq.offline.engine.counts import facts
from aiq.offline.engine.lexicon import groups, listed, stem
from aiq.offline.engine.question import Ask
from aiq.offline.engine.source import Source

SYNONYM, TITLE, BEFORE, PAGE = 0.8, 0.92, 0.65, 0.4
"""The worth of a match by a synonym, in the page's title, in the sentence before, or elsewhere on the page."""

_SMALL = frozenset(("the", "of", "and", "a", "in"))
_VAGUE = frozenset(stem(word) for word in listed("vague"))


@dataclass(frozen=True)
class Evidence:
    """A sentence of a source that is relevant to an ask; `score` >= 0, comparable within one call."""

    sentence: str
    source: Source
    score: float


@dataclass(frozen=True)
class Term:
    """A word to look for, or a name with all its words. `weight`: its rarity, 0.2 to 3."""

    roots: tuple[str, ...]
    groups: frozenset[int]
    weight: float
    name: bool


@dataclass(frozen=True)
class Hit:
    """A sentence that was found.

    `score`: the share of the ask that the sentence and its page cover, 0 to 1; `own_share`: the share of the ask's
    words, names aside, that the sentence itself has; `places`: its token numbers that match them, with their worth.
    """

    page: Page
    source: Source
    index: int
    score: float
    own_share: float
    places: tuple[tuple[int, float], ...]

    @property
    def sentence(self) -> Sentence:
        return self.page.sentences[self.index]

    @cached_property
    def day(self) -> date:
        """The time the sentence is about: its own date, else the page's, else the latest that it mentions."""
        latest = max((stated.when for stated in self.sentence.dates), default=date.min)
        return self.sentence.said_of or self.page.day or latest

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.sentence.text, self.source, self.score)


class Material:
    """The sources of one call, analysed, with the rarity of their words."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.pages = [page(source.text, source.title, source.day) for source in sources]
        self._count = Counter(root for p in self.pages for root in p.roots)
        self._cache: dict[Ask, list[Hit]] = {}

    def rarity(self, root: str) -> float:
        """0 for a word that is on every page, 1 for one that is on none."""
        pages = len(self.pages)
        return max(0.0, math.log((2 + pages) / (1 + self._count[root])) / math.log(2 + pages))

    def terms(self, ask: Ask) -> list[Term]:
        """The words of an ask, each once, weighted by rarity among the pages."""
        terms: dict[tuple[str, ...], Term] = {}
        for name in ask.names:
            roots = tuple(token.root for token in analyse(name).tokens if token.root not in _SMALL)
            terms[roots] = Term(roots, frozenset(), 1.5 + 0.5 * max(map(self.rarity, roots), default=0.0), True)
        query = analyse(ask.text)
        for root in (token.root for word in ask.words for token in analyse(word).tokens):
            senses = {group for group, places in query.groups.items() if set(places) & set(query.roots.get(root, ()))}
            is_kind = ask.kind != "person" and stem(ask.head) == root and len(ask.words) > 1  # if a city is asked for
            weight = 0.25 if is_kind else 0.35 if root in _VAGUE else 0.7 + 0.6 * self.rarity(root)
            terms.setdefault((root,), Term((root,), groups(root) | senses, weight, False))
        return [term for term in terms.values() if term.roots]

    def find(self, ask: Ask, most: int = 12) -> list[Hit]:
        """The sentences relevant to the ask, best first."""
        if ask not in self._cache:
            terms = self.terms(ask)
            pairs = zip(self.pages, self.sources, strict=True)
            hits = [hit for page, source in pairs for hit in _hits(page, source, terms)]
            self._cache[ask] = sorted(hits, key=lambda hit: -hit.score)
        return self._cache[ask][:most]


def _hits(page: Page, source: Source, terms: Sequence[Term]) -> Iterator[Hit]:
    """The sentences of a page that have a word of the ask, or all if the page is about what is asked."""
    if not any(term.groups & page.groups or page.roots.keys() >= set(term.roots) for term in terms):
        return
    indices = range(len(terms))
    title_worths = [_match(page.title, term, page)[0] for term in terms]
    rows = [[_match(sentence, term, page) for term in terms] for sentence in page.sentences]
    context = [max(TITLE * title_worths[n], *(PAGE * row[n][0] for row in rows)) for n in indices] if rows else []
    names, plain = [n for n in indices if terms[n].name], [n for n in indices if not terms[n].name]
    # words of the title do not tell its sentences apart
    telling = [n for n in plain if terms[n].roots[0] not in page.title.roots] or plain
    on_topic = any(title_worths[n] >= 0.9 for n in names)
    total = sum(term.weight for term in terms) or 1.0
    for index, row in enumerate(rows):
        if not on_topic and not any(worth for worth, _ in row):
            continue
        previous = rows[index - 1] if index else row
        coverage = (terms[n].weight * max(row[n][0], context[n], BEFORE * previous[n][0]) for n in indices)
        own_share = sum(terms[n].weight * row[n][0] for n in telling) / (sum(terms[n].weight for n in telling) or 1.0)
        places = [(place, terms[n].weight * row[n][0]) for n in plain for place in row[n][1]]
        off_topic = any(max(row[n][0], context[n]) <= 0.3 for n in names)  # it is about something else
        score = sum(coverage) / total * (0.55 + 0.45 * min(1.0, own_share * 1.5)) * (0.4 if off_topic else 1.0)
        yield Hit(page, source, index, score, own_share, tuple(sorted(places)))


def _match(sentence: Sentence, term: Term, page: Page) -> tuple[float, Sequence[int]]:
    """How well a sentence matches a term, 0 to 1, and at which tokens.

    Part of a name counts as the name if the page has the whole name and the part occurs as a name by itself.
    """
    present = [places for root in term.roots if (places := sentence.roots.get(root))]
    if len(present) == len(term.roots):
        return 1.0, present[0]
    if present and term.name:
        is_short_form = any(analyse(span.text).roots.keys() <= set(term.roots) for span in sentence.names)
        return (0.9 if is_short_form and page.roots.keys() >= set(term.roots) else 0.15), present[0]
    places = tuple(
        place
        for group in sorted(term.groups)
        for place in sentence.groups.get(group, ())
        if place == 0 or not sentence.tokens[place].text[0].isupper()  # words of a name are not synonyms
    )
    return (SYNONYM, places) if places else (0.0, ())


@lru_cache(maxsize=16384)
def is_statement(text: str) -> bool:
    """Whether a sentence states something: it is not boilerplate, navigation, a question, a bare heading or a line of
    fields."""
    if len(facts(text)) > 1 or BOILERPLATE.match(text) or text.endswith(("?", "？", ":", "：")):
        return False
    if re.search(r"[\u3400-\u9fff]", text):
        return len(text) >= 8 and re.search(r"[。！；.]|[是在有为于了]", text) is not None
    length = len(text.split())
    is_sentence = length >= 9 or (length >= 5 and text[-1] in ".!”\")]'’")
    return is_sentence and text.count("|") < 2 and text.count("http") < 2


def distinct(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The first hits, skipping any that shares most of its words with one before."""
    kept: list[Hit] = []
    for hit in hits:
        pairs = ((hit.sentence.roots.keys(), earlier.sentence.roots.keys()) for earlier in kept)
        if len(kept) < most and all(len(roots & seen) <= 0.6 * min(len(roots), len(seen)) for roots, seen in pairs):
            kept.append(hit)
    return kept
