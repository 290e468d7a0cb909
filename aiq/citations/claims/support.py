"""Whether a source's text supports a statement: evidence added up to a score, a verdict by thresholds, reasons."""

import math
from collections.abc import Sequence
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
from aiq.citations.claims.records import Passage, Support
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText, holds
from aiq.citations.claims.terms import Statement, Term

_FAR_PRECISE = 0.8  # what a number is worth that stands elsewhere in the text, with three figures or more
_FAR = 0.4  # ... and with fewer: every long text has a 7 somewhere
_FAR_NAME = 0.8  # a name that the text has, but not near what else is said
_SHOWN = 6


def check_support(statement: str, source_text: str) -> Support:
    """Whether this text supports this statement."""
    return check_against(Statement.read(statement), SourceText(source_text))


def check_against(statement: Statement, source: SourceText) -> Support:
    """The same for what has been read already."""
    if source.unusable is not None:
        return Support("unknown", 0.0, (source.unusable,))
    terms = statement.terms(source)
    if not terms:
        return Support("unknown", 0.0, (_nothing_to_compare(statement, source),))
    windows = best_windows(terms, source, len(statement.tokens))
    if not windows and len(source.tokens) < rules().unusable.least_words:
        return Support("unknown", 0.0, ("the source has hardly any text, and nothing of the statement in it",))
    evidence = _Evidence(statement, source, tuple(terms), tuple(windows))
    score = evidence.score()
    limits = rules().thresholds
    across = statement.across(source)
    supported = score >= (limits.supported_across if across else limits.supported)
    return Support("supported" if supported else "unsupported", score, tuple(evidence.reasons()), evidence.passage)


def _nothing_to_compare(statement: Statement, source: SourceText) -> str:
    if statement.across(source):
        return "statement and source are in different languages, and nothing in the statement compares across them"
    return "the statement has no words that could be looked for"


@dataclass(frozen=True)
class _Evidence:
    statement: Statement
    source: SourceText
    terms: tuple[Term, ...]
    windows: tuple[Window, ...]

    @cached_property
    def passage(self) -> Passage | None:
        return passage_of(self.windows[0], self.terms, self.source) if self.windows else None

    def score(self) -> float:
        """Coverage of the terms, less what is missing or said otherwise; 0 to 1."""
        weights, read = rules().weights, self.statement
        return math.prod(
            (
                self._coverage(),
                math.pow(weights.no_number, self._missing("number")),
                math.pow(weights.no_date, self._missing("date")),
                math.pow(weights.no_name, self._missing_names()),
                _otherwise(weights.other_number, len(self._others), len(read.numbers)),
                _otherwise(weights.other_number, len(self._other_dates), len(read.dates)),
                _otherwise(weights.other_name, len(self._other_names), len(read.names)),
                weights.contradicted if self._denied else 1.0,
            )
        )

    def _coverage(self) -> float:
        weights = rules().weights
        total = sum(term.weight for term in self.terms)
        best = self._covered(self.windows[:1])
        together = self._covered(self.windows)
        anywhere = sum(term.weight * term.worth for term in self.terms)
        got = weights.passage * best + weights.together * together + weights.anywhere * anywhere
        return (got + weights.doubt / 2) / (total + weights.doubt)

    def _covered(self, windows: Sequence[Window]) -> float:
        """The weight of the terms in these windows; what the text's opening names counts in part."""
        held = frozenset().union(*(window.held for window in windows))
        opening, subject = rules().passage.opening, rules().weights.subject
        return sum(
            term.weight * term.worth * (1.0 if n in held else subject if holds(term.places, 0, opening) else 0.0)
            for n, term in enumerate(self.terms)
        )

    def _missing(self, kind: str) -> float:
        """The share of the numbers or dates that are not borne out, near the passages or elsewhere."""
        found = [(n, term) for n, term in enumerate(self.terms) if term.kind == kind]
        return sum(1 - self._worth(n, term) for n, term in found) / len(found) if found else 0.0

    def _worth(self, position: int, term: Term) -> float:
        near = any(position in window.held for window in self.windows)
        precise = sum(char.isdigit() for char in term.label) > 2
        return term.worth * (1.0 if near else _FAR_PRECISE if precise else _FAR)

    def _missing_names(self) -> float:
        names = self.statement.names
        return sum(1 - self._name_worth(name) for name in names) / len(names) if names else 0.0

    def _name_worth(self, name: Name) -> float:
        places = self.source.together(name.keys) or self.source.abbreviated(name) or self.source.expanded(name)
        if places:
            near = any(holds(places, window.first, window.last) for window in self.windows)
            return 1.0 if near or holds(places, 0, rules().passage.opening) else _FAR_NAME
        return 0.5 * sum(bool(self.source.words(word)) for word in name.keys) / len(name.keys)

    @cached_property
    def _sentence(self) -> Sentence | None:
        return closest(self.statement, self.passage.text) if self.passage else None

    @cached_property
    def _others(self) -> dict[str, str]:
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
    def _other_dates(self) -> dict[str, str]:
        """The dates that the closest sentence has otherwise."""
        found = {}
        for date in self.statement.dates:
            if self._sentence is not None and (other := date_instead(date, self._sentence)) is not None:
                written = self._sentence.read.text[other.start : other.end]
                found[self.statement.text[date.start : date.end]] = written
        return found

    @cached_property
    def _other_names(self) -> dict[str, str]:
        """The names that do not stand in full, with the name that the closest sentence has in their place."""
        found = {}
        for name in self.statement.names:
            if self._sentence is not None and self._name_worth(name) < 1:
                other = name_instead(name, self.statement, self._sentence)
                if other is not None:
                    found[name.written] = other.written
        return found

    @cached_property
    def _denied(self) -> str | None:
        return contradiction(self.statement, self._sentence) if self._sentence else None

    def reasons(self) -> list[str]:
        """What was found and what was not, the weightiest first."""
        said = []
        if denied := self._denied:
            said.append(denied)
        others = {**self._others, **self._other_dates}
        said += [f"the passage has {other} where the statement has {name}" for name, other in self._other_names.items()]
        for kind in ("number", "date"):
            for n, term in enumerate(self.terms):
                if term.kind != kind:
                    continue
                if other := others.get(term.label):
                    said.append(f"the passage has {other} where the statement has {term.label}")
                elif not term.worth:
                    said.append(f"the {kind} {term.label} is not in the source")
                elif not any(n in window.held for window in self.windows):
                    said.append(f"the {kind} {term.label} stands elsewhere in the source")
        if names := self.statement.names:
            missing = [name.written for name in names if self._name_worth(name) < _FAR_NAME]
            found = len(names) - len(missing)
            said.append(f"{found} of {len(names)} names found" + (f"; not {', '.join(missing[:3])}" if missing else ""))
        words = [term for term in self.terms if term.kind == "word"]
        if words:
            there = (
                sum(n in self.windows[0].held for n, t in enumerate(self.terms) if t.kind == "word")
                if self.windows
                else 0
            )
            said.append(f"{there} of {len(words)} words in the best passage")
        return said[:_SHOWN]


def _otherwise(factor: float, changed: int, stated: int) -> float:
    """What is left where the source says `changed` of the `stated` things otherwise: one of several weighs much."""
    return math.pow(factor, math.sqrt(changed / stated)) if stated else 1.0
