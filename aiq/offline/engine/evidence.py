"""Finding evidence: which sentences of the sources speak of what is asked, by words, rarity, synonyms and context."""

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
"""What a match is worth that is no word of the sentence: a synonym, in the title, the sentence before, elsewhere."""

_SMALL = frozenset(("the", "of", "and", "a", "in"))
_VAGUE = frozenset(stem(word) for word in listed("vague"))


@dataclass(frozen=True)
class Evidence:
    """A sentence of a source that speaks to what is asked; `score` >= 0, comparable within one call."""

    sentence: str
    source: Source
    score: float


@dataclass(frozen=True)
class Term:
    """A word to be found, or a name with all its words. `weight`: its rarity, 0.2 to 3."""

    roots: tuple[str, ...]
    groups: frozenset[int]
    weight: float
    name: bool


@dataclass(frozen=True)
class Hit:
    """A sentence found.

    `score`: share of what was asked that it and its page cover, 0 to 1; `own`: the share in the sentence itself of
    the words that are no names; `places`: the numbers of its tokens that match such words, and their worth.
    """

    page: Page
    source: Source
    index: int
    score: float
    own: float
    places: tuple[tuple[int, float], ...]

    @property
    def sentence(self) -> Sentence:
        return self.page.sentences[self.index]

    @cached_property
    def day(self) -> date:
        """Of when it speaks: its own date, else the page's, else the latest that it names."""
        told = max((stated.when for stated in self.sentence.dates), default=date.min)
        return self.sentence.said_of or self.page.day or told

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.sentence.text, self.source, self.score)


class Material:
    """The sources of one call, taken apart, with the rarity of their words."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.pages = [page(source.text, source.title, source.day) for source in sources]
        self._count = Counter(root for found in self.pages for root in found.roots)
        self._found: dict[Ask, list[Hit]] = {}

    def rarity(self, root: str) -> float:
        """0 for a word that every page has, 1 for one that none has."""
        pages = len(self.pages)
        return max(0.0, math.log((2 + pages) / (1 + self._count[root])) / math.log(2 + pages))

    def terms(self, ask: Ask) -> list[Term]:
        """The words of an ask, each once, weighed by rarity among the pages."""
        found: dict[tuple[str, ...], Term] = {}
        for name in ask.names:
            roots = tuple(token.root for token in analyse(name).tokens if token.root not in _SMALL)
            found[roots] = Term(roots, frozenset(), 1.5 + 0.5 * max(map(self.rarity, roots), default=0.0), True)
        said = analyse(ask.text)
        for root in (token.root for word in ask.words for token in analyse(word).tokens):
            of_phrase = {group for group, at in said.groups.items() if set(at) & set(said.roots.get(root, ()))}
            of_kind = ask.kind != "person" and stem(ask.head) == root and len(ask.words) > 1  # "city", asked for one
            weight = 0.25 if of_kind else 0.35 if root in _VAGUE else 0.7 + 0.6 * self.rarity(root)
            found.setdefault((root,), Term((root,), groups(root) | of_phrase, weight, False))
        return [term for term in found.values() if term.roots]

    def find(self, ask: Ask, most: int = 12) -> list[Hit]:
        """The sentences that speak of what is asked, best first."""
        if ask not in self._found:
            terms = self.terms(ask)
            pairs = zip(self.pages, self.sources, strict=True)
            hits = [hit for found, source in pairs for hit in _hits(found, source, terms)]
            self._found[ask] = sorted(hits, key=lambda hit: -hit.score)
        return self._found[ask][:most]


def _hits(found: Page, source: Source, terms: Sequence[Term]) -> Iterator[Hit]:
    """A page's sentences that have a word asked for, or all where the page is about what is asked."""
    if not any(term.groups & found.groups or found.roots.keys() >= set(term.roots) for term in terms):
        return
    numbers = range(len(terms))
    title = [_match(found.title, term, found)[0] for term in terms]
    rows = [[_match(sentence, term, found) for term in terms] for sentence in found.sentences]
    context = [max(TITLE * title[n], *(PAGE * row[n][0] for row in rows)) for n in numbers] if rows else []
    names, plain = [n for n in numbers if terms[n].name], [n for n in numbers if not terms[n].name]
    # words of the title tell its sentences not apart
    asked = [n for n in plain if terms[n].roots[0] not in found.title.roots] or plain
    about = any(title[n] >= 0.9 for n in names)
    total = sum(term.weight for term in terms)
    for index, row in enumerate(rows):
        if not about and not any(worth for worth, _ in row):
            continue
        before = rows[index - 1] if index else row
        covered = (terms[n].weight * max(row[n][0], context[n], BEFORE * before[n][0]) for n in numbers)
        own = sum(terms[n].weight * row[n][0] for n in asked) / (sum(terms[n].weight for n in asked) or 1.0)
        places = [(place, terms[n].weight * row[n][0]) for n in plain for place in row[n][1]]
        other = any(max(row[n][0], context[n]) <= 0.3 for n in names)  # it speaks of something else
        score = sum(covered) / total * (0.55 + 0.45 * min(1.0, own * 1.5)) * (0.4 if other else 1.0)
        yield Hit(found, source, index, score, own, tuple(sorted(places)))


def _match(sentence: Sentence, term: Term, found: Page) -> tuple[float, Sequence[int]]:
    """How well a sentence has a term, 0 to 1, and at which tokens.

    Part of a name counts as the name where the page has it whole and the part is a name of its own.
    """
    present = [places for root in term.roots if (places := sentence.roots.get(root))]
    if len(present) == len(term.roots):
        return 1.0, present[0]
    if present and term.name:
        short = any(analyse(span.text).roots.keys() <= set(term.roots) for span in sentence.names)
        return (0.9 if short and found.roots.keys() >= set(term.roots) else 0.15), present[0]
    places = tuple(
        place
        for group in sorted(term.groups)
        for place in sentence.groups.get(group, ())
        if place == 0 or not sentence.tokens[place].text[0].isupper()  # a name's words mean no synonym
    )
    return (SYNONYM, places) if places else (0.0, ())


@lru_cache(maxsize=16384)
def is_statement(text: str) -> bool:
    """Whether a sentence states something: neither boilerplate nor navigation, nor a question, a bare heading or a line
    of fields."""
    if len(facts(text)) > 1 or BOILERPLATE.match(text) or text.endswith(("?", "？", ":", "：")):
        return False
    if re.search(r"[\u3400-\u9fff]", text):
        return len(text) >= 8 and re.search(r"[。！；.]|[是在有为于了]", text) is not None
    length = len(text.split())
    whole = length >= 9 or (length >= 5 and text[-1] in ".!”\")]'’")
    return whole and text.count("|") < 2 and text.count("http") < 2


def distinct(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The first hits of which no two share most of their words."""
    kept: list[Hit] = []
    for hit in hits:
        others = ((hit.sentence.roots.keys(), other.sentence.roots.keys()) for other in kept)
        if len(kept) < most and all(len(one & two) <= 0.6 * min(len(one), len(two)) for one, two in others):
            kept.append(hit)
    return kept
