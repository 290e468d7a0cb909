"""What speaks for a statement in a source's text and what against it, as parts from 0 to 1, and the score they make."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from aiq.citations.claims.contradictions import (
    Sentence,
    closest,
    contradiction,
    date_instead,
    name_instead,
    number_instead,
    other_number,
)
from aiq.citations.claims.names import Name
from aiq.citations.claims.passages import Window, best_windows, passage_of
from aiq.citations.claims.records import Passage
from aiq.citations.claims.rules import Score, rules
from aiq.citations.claims.source import CJK_SIGN, SourceText, holds
from aiq.citations.claims.terms import Statement, Term

_FAR_PRECISE = 0.8  # what a number is worth that stands elsewhere in the text, with three figures or more
_FAR = 0.4  # ... and with fewer: every long text has a 7 somewhere
_FAR_NAME = 0.8  # a name that the text has, but not near what else is said
_MUCH = 3.0  # found terms of this weight, all rare, are most of what a passage can show
_OF_PAIR = 0.5  # Chinese words come as more pairs of signs than they are


@dataclass(frozen=True)
class Evidence:
    """A statement beside a source: its terms as found there, and the passages that hold most of them."""

    statement: Statement
    source: SourceText
    terms: tuple[Term, ...]
    windows: tuple[Window, ...]

    @classmethod
    def gathered(cls, statement: Statement, source: SourceText) -> "Evidence":
        """Look for the statement's terms and for the best passages."""
        terms = statement.terms(source)
        return cls(statement, source, tuple(terms), tuple(best_windows(terms, source, len(statement.tokens))))

    @cached_property
    def passage(self) -> Passage | None:
        """The best passage; None where nothing was found."""
        return passage_of(self.windows[0], self.terms, self.source) if self.windows else None

    @cached_property
    def score(self) -> float:
        """From 0 to 1; each part moves it one way and by degrees."""
        return weighed(self.parts, rules().score)

    @cached_property
    def parts(self) -> Mapping[str, float]:
        """Each part of the score by its name in `rules.toml`: above 0 speaks for the statement, below 0 against it."""
        read = self.statement
        return {
            "found": 1 - (1 - self._coverage()) * (1 - self._amount()),
            "no_figure": -self._missing_figures(),
            "no_name": -self._missing_names(),
            "other_figure": -_share(
                len(self.other_numbers) + len(self.other_dates), len(read.numbers) + len(read.dates)
            ),
            "other_name": -_share(len(self.other_names), len(read.names)),
            "denied": -1.0 if self.denied else 0.0,
        }

    def _coverage(self) -> float:
        """The weight of the terms in the best passage, of all; what the text's opening names counts in part."""
        held = self.windows[0].held if self.windows else frozenset[int]()
        opening, subject = rules().passage.opening, rules().weights.subject
        got = sum(
            term.weight * term.worth * (1.0 if n in held else subject if holds(term.places, 0, opening) else 0.0)
            for n, term in enumerate(self.terms)
        )
        return got / sum(term.weight for term in self.terms)

    def _amount(self) -> float:
        """How much is in the best passage, whatever else the statement says: five rare words meet by no accident."""
        held = sorted(self.windows[0].held) if self.windows else []
        found = [self.terms[n] for n in held]
        much = sum(term.weight * term.worth * (_OF_PAIR if CJK_SIGN.match(term.label) else 1.0) for term in found)
        return 1 - math.exp(-much / _MUCH)

    def _missing_figures(self) -> float:
        """The share of the numbers and dates that are not borne out, near the passages or elsewhere."""
        found = [(n, term) for n, term in enumerate(self.terms) if term.kind in ("number", "date")]
        return sum(1 - self._worth(n, term) for n, term in found) / len(found) if found else 0.0

    def _worth(self, position: int, term: Term) -> float:
        precise = sum(char.isdigit() for char in term.label) > 2
        return term.worth * (1.0 if self.near(position) else _FAR_PRECISE if precise else _FAR)

    def near(self, position: int) -> bool:
        """Whether a term, by its position, stands in one of the passages."""
        return any(position in window.held for window in self.windows)

    def _missing_names(self) -> float:
        names = self.statement.names
        return sum(1 - self.name_worth(name) for name in names) / len(names) if names else 0.0

    def stands(self, name: Name) -> bool:
        """Whether the source has a name, in full or as its acronym."""
        return self.name_worth(name) >= _FAR_NAME

    def name_worth(self, name: Name) -> float:
        """How well the source bears out a name: 1 near what else is said, less elsewhere, little for a part of it."""
        places = self.source.together(name.keys) or self.source.abbreviated(name) or self.source.expanded(name)
        if places:
            near = any(holds(places, window.first, window.last) for window in self.windows)
            return 1.0 if near or holds(places, 0, rules().passage.opening) else _FAR_NAME
        return 0.5 * sum(bool(self.source.words(word)) for word in name.keys) / len(name.keys)

    @cached_property
    def _sentence(self) -> Sentence | None:
        return closest(self.statement, self.passage.text) if self.passage else None

    @cached_property
    def other_numbers(self) -> dict[str, str]:
        """The numbers that are not in the best passage, with the number that it has in their place."""
        found: dict[str, str] = {}
        if not self.windows:
            return found
        window = self.windows[0]
        for number in self.statement.numbers:
            places = [at for at, _ in self.source.numbers(number)]
            if not holds(places, window.first, window.last):
                other = None
                if not places:
                    other = other_number(number, self.statement, self.source, window.first, window.last)
                if other is None and self._sentence is not None:
                    other = number_instead(number, self.statement, self._sentence)
                if other is not None:
                    found[number.written] = other.written
        return found

    @cached_property
    def other_dates(self) -> dict[str, str]:
        """The dates that the closest sentence has otherwise."""
        found = {}
        for date in self.statement.dates:
            if self._sentence is not None and (other := date_instead(date, self._sentence)) is not None:
                written = self._sentence.read.text[other.start : other.end]
                found[self.statement.text[date.start : date.end]] = written
        return found

    @cached_property
    def other_names(self) -> dict[str, str]:
        """The names that do not stand in the closest sentence, with the name that it has in their place."""
        found = {}
        for name in self.statement.names:
            if self._sentence is not None:
                other = name_instead(name, self.statement, self._sentence)
                if other is not None:
                    found[name.written] = other.written
        return found

    @cached_property
    def denied(self) -> str | None:
        """How the closest sentence denies the statement, as a sentence; None where it does not."""
        return contradiction(self.statement, self._sentence) if self._sentence else None


def weighed(parts: Mapping[str, float], weights: Score) -> float:
    """The score that these weights make of the parts: the logistic function of their sum, from 0 to 1."""
    return 1 / (1 + math.exp(-weights.start - sum(getattr(weights, part) * size for part, size in parts.items())))


def _share(changed: int, stated: int) -> float:
    """What it weighs that the source says `changed` of the `stated` things otherwise: one of several weighs much."""
    return math.sqrt(changed / stated) if stated else 0.0
