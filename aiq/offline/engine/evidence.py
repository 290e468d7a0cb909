"""Finding evidence: which sentences of the sources speak of what is asked, by words, rarity, synonyms and context."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from itertools import pairwise

from aiq.offline.engine.analysis import BOILERPLATE, Page, Sentence, analyse, page
from aiq.offline.engine.lexicon import groups, stem
from aiq.offline.engine.question import Ask
from aiq.offline.engine.read import Source

SYNONYM, TITLE, BEFORE, PAGE = 0.8, 0.92, 0.65, 0.4
"""What a match is worth that is not the word itself in the sentence: a synonym; in the title, a sentence before, elsewhere."""

_PLACED = groups(stem("located"))
_SMALL = frozenset("the of and a in".split())
_VAGUE = frozenset(
    stem(w)
    for w in "people person thing kind type way time place year main part good new good place name one get take make go use use have first last woman man someone somebody instead come term office post position time period".split()
)


@dataclass(frozen=True)
class Evidence:
    """A sentence of a source that speaks to what is asked; `score` >= 0, comparable within one call."""

    sentence: str
    source: Source
    score: float


@dataclass(frozen=True)
class Term:
    """A word to be found, or a name with all its words. `weight`: its rarity, 0.2 to 3."""

    text: str
    roots: tuple[str, ...]
    groups: frozenset[int]
    weight: float
    name: bool
    after: str = ""  # the word that follows it in the question


@dataclass(frozen=True)
class Hit:
    """A sentence found. `score`: share of what was asked that it and its page cover, 0 to 1; `own`: the share in the sentence itself
    of the words that are no names; `places`: its tokens that match such words, and how well (0 to 1)."""

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
        """Of when it speaks: its own date, else the page's."""
        return self.sentence.said_of or self.page.day or date.min

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.sentence.text, self.source, self.score)


class Material:
    """The sources of one call, taken apart, with the rarity of their words."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.pages = [page(source.text, source.title, source.day) for source in sources]
        self._count: dict[str, int] = {}
        for found in self.pages:
            for root in found.roots:
                self._count[root] = self._count.get(root, 0) + 1
        self._found: dict[Ask, list[Hit]] = {}

    def terms(self, ask: Ask) -> list[Term]:
        """The words of an ask, each once, weighed by rarity among the pages."""
        found: dict[tuple[str, ...], Term] = {}
        for name in ask.names:
            roots = tuple(token.root for token in analyse(name).tokens if token.root not in _SMALL)
            found[roots] = Term(name, roots, frozenset(), 1.5 + 0.5 * max(map(self._rarity, roots), default=0.0), True)
        said = analyse(ask.text)
        following = {a.text: b.text for a, b in pairwise(said.tokens)}
        for word in ask.words:
            for token in analyse(word).tokens:
                of_phrase = {g for g, at in said.groups.items() if set(at) & set(said.roots.get(token.root, ()))}
                typed = ask.kind != "person" and stem(ask.head) == token.root and len(ask.words) > 1
                vague = token.root in _VAGUE or (ask.kind == "place" and groups(token.root) & _PLACED)
                weight = 0.25 if typed else 0.35 if vague else 0.7 + 0.6 * self._rarity(token.root)
                found.setdefault(
                    (token.root,),
                    Term(
                        token.text,
                        (token.root,),
                        groups(token.root) | of_phrase,
                        weight,
                        False,
                        following.get(token.text, ""),
                    ),
                )
        return [term for term in found.values() if term.roots]

    def _rarity(self, root: str) -> float:
        """0 for a word that every page has, 1 for one that none has."""
        pages = len(self.pages)
        return max(0.0, math.log((2 + pages) / (1 + self._count.get(root, 0))) / math.log(2 + pages))

    @cached_property
    def defined(self) -> dict[str, Sentence]:
        """What the pages say that a name is: "a fishing port" for a sentence "Pellow is a fishing port ..."."""
        found: dict[str, Sentence] = {}
        for sentence in (s for p in self.pages for s in p.sentences):
            for span in sentence.names[:2]:
                if match := _DEFINES.match(sentence.text, span.end):
                    found.setdefault(span.text, analyse(match[1]))
        return found

    def find(self, ask: Ask, most: int = 12) -> list[Hit]:
        """The sentences that speak of what is asked, best first."""
        if ask not in self._found:
            terms = self.terms(ask)
            views = [_View(found, terms) for found in self.pages]
            hits = [hit for view, source in zip(views, self.sources, strict=True) for hit in view.hits(source)]
            self._found[ask] = sorted(hits, key=lambda hit: -hit.score)
        return self._found[ask][:most]


class _View:
    """A page in the light of the words asked for: which terms each sentence has, and which its surroundings have."""

    def __init__(self, found: Page, terms: list[Term]) -> None:
        self.page = found
        self.terms = terms
        wholes = [_mentions(found, term) for term in terms]
        titles = [_match(found.title, term, whole)[0] for term, whole in zip(terms, wholes, strict=True)]
        self.context = [
            max(TITLE * title, PAGE if whole else PAGE * SYNONYM if term.groups & found.groups else 0.0)
            for term, whole, title in zip(terms, wholes, titles, strict=True)
        ]
        named = [c for c, term in zip(self.context, terms, strict=True) if term.name]
        self.about = any(c >= TITLE * 0.9 for c in named)
        entitled = {n for n, term in enumerate(terms) if not term.name and term.roots[0] in found.title.roots}
        plain = {n for n, term in enumerate(terms) if not term.name}
        self.asked = plain - entitled or plain  # words of the title tell its sentences not apart
        self.matches = (
            [[_match(s, term, whole) for term, whole in zip(terms, wholes, strict=True)] for s in found.sentences]
            if any(self.context)
            else []
        )

    def covered(self, index: int) -> list[float]:
        """How well a sentence with its surroundings covers each term, 0 to 1."""
        found = []
        for n, term in enumerate(self.terms):
            here = self.matches[index][n][0] * (0.92 if term.name and self.context[n] < TITLE else 1.0)
            before = [self.matches[i][n][0] * (BEFORE - 0.1 * (index - 1 - i)) for i in range(max(index - 2, 0), index)]
            found.append(max(here, self.context[n], *before))
        return found

    def hits(self, source: Source) -> Iterator[Hit]:
        """The page's sentences that have a word asked for, or all where the page is about what is asked."""
        terms = self.terms
        total = sum(term.weight for term in terms) or 1.0
        plain = sum(terms[n].weight for n in self.asked) or 1.0
        weak = all(term.weight <= 0.35 for term in terms if not term.name)
        for index, found in enumerate(self.matches):
            if not self.about and not any(worth for worth, _ in found):
                continue
            own = sum(terms[n].weight * found[n][0] for n in self.asked) / plain
            places = [
                (p, terms[n].weight * worth) for n, (worth, at) in enumerate(found) if not terms[n].name for p in at
            ]
            score = sum(c * term.weight for c, term in zip(self.covered(index), terms, strict=True)) / total
            score *= _adjacent(self.page.sentences[index], terms)
            if not all(max(found[n][0], self.context[n]) > 0.3 for n, term in enumerate(terms) if term.name):
                score *= 0.4  # it speaks of something else
            own = max(own, 0.5 if weak else 0.0)
            yield Hit(self.page, source, index, score * (0.55 + 0.45 * min(1.0, own * 1.5)), own, tuple(sorted(places)))


def _adjacent(sentence: Sentence, terms: list[Term]) -> float:
    """Less than 1 where two words that stand together in the question both occur, but far from each other."""
    factor = 1.0
    for left, right in pairwise(terms):
        if left.after != right.text:
            continue
        a, b = sentence.roots.get(left.roots[0], ()), sentence.roots.get(right.roots[0], ())
        if a and b and not any(abs(x - y) <= 2 for x in a for y in b):
            factor *= 0.85
    return factor


def _mentions(found: Page, term: Term) -> bool:
    """Whether a page has the word, or the whole name."""
    if not all(root in found.roots for root in term.roots):
        return False
    return not term.name or any(all(root in s.roots for root in term.roots) for s in (found.title, *found.sentences))


def _match(sentence: Sentence, term: Term, whole: bool) -> tuple[float, tuple[int, ...]]:
    """How well a sentence has a term, 0 to 1, and where. Part of a name counts where the page has it `whole`."""
    present = [places for root in term.roots if (places := sentence.roots.get(root))]
    if len(present) == len(term.roots):
        return 1.0, present[0]
    if present and term.name:
        short = whole and any(analyse(span.text).roots.keys() <= set(term.roots) for span in sentence.names)
        return (0.9 if short else 0.15), present[0]
    if term.groups:
        found = (place for group in term.groups for place in sentence.groups.get(group, ()))
        places = tuple(
            p for p in found if p == 0 or not sentence.tokens[p].text[0].isupper()
        )  # a name's words mean no synonym
        if places:
            return SYNONYM, places
    return 0.0, ()


_DEFINES = re.compile(r"\s*(?:\([^)]*\)\s*)?,?\s*(?:is|was|are|were)\s+(?:an?|the|one of the|one of)\s+([^.,;]{3,60})")


@lru_cache(maxsize=16384)
def is_statement(text: str) -> bool:
    """Whether a sentence states something: neither boilerplate nor navigation, nor a question or a bare heading."""
    if BOILERPLATE.match(text) or text.endswith(("?", "？", ":", "：")):
        return False
    if re.search(r"[\u3400-\u9fff]", text):
        return len(text) >= 8 and re.search(r"[。！；.]|[是在有为于了]", text) is not None
    found = text.split()
    return (
        len(found) >= 5
        and (text[-1] in ".!”\")]'’" or len(found) >= 9)
        and text.count("|") < 2
        and text.count("http") < 2
    )


def distinct(hits: list[Hit], most: int, *, alike: float = 0.6) -> list[Hit]:
    """The first hits of which no two say the same."""
    kept: list[Hit] = []
    for hit in hits:
        roots = hit.sentence.roots.keys()
        if all(
            len(roots & other.sentence.roots.keys()) <= alike * min(len(roots), len(other.sentence.roots))
            for other in kept
        ):
            kept.append(hit)
            if len(kept) == most:
                break
    return kept
