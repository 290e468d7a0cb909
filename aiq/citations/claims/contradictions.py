"""What a passage says against a statement: the opposite, a negation, another number in the same place."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice, takewhile

from aiq.citations.claims.dates import Date
from aiq.citations.claims.lexicon import CJK, folded, key, opposite
from aiq.citations.claims.names import Name
from aiq.citations.claims.numbers import Number, agree
from aiq.citations.claims.rules import rules
from aiq.citations.claims.source import SourceText
from aiq.citations.claims.terms import Statement

_BESIDE = re.compile(rf"[\s-]{{0,2}}(?:([^\W\d_{CJK}]{{3,}})|([{CJK}]))")
_WORD = re.compile(r"[^\W\d_]+(?:['’]t)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n{2,}")
_CLAUSE = re.compile(r"[^,，;；、]+")
_ENOUGH = 0.5
"""Share of the statement's words from which on a sentence speaks of the same."""
_SAME = 0.7
"""... and from which on it says the same, but for a name or a number."""
_LEAST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """The sentence of a passage that is closest to a statement.

    `share` is which part of the statement's words it has, `words` the same without names.
    """

    read: Statement
    share: float
    words: float


def closest(statement: Statement, passage: str) -> Sentence | None:
    """The sentence with most of the statement's words; None where none has any."""
    keys, words = statement.tokens.words.keys(), statement.word_keys
    turned = {opposite()[word]: word for word in keys & opposite().keys()}
    best: Sentence | None = None
    for text in _SENTENCE.split(passage):
        if text.strip():
            found = Statement.read(text)
            said = {turned.get(word, word) for word in found.tokens.words} | found.tokens.words.keys()
            share = len(keys & said) / max(1, len(keys))
            if share > (best.share if best else 0.0):
                best = Sentence(found, share, len(words & found.word_keys) / max(1, len(words)))
    return best


def contradiction(statement: Statement, sentence: Sentence) -> str | None:
    """How a sentence that speaks of the same denies the statement, as a sentence; else None."""
    if sentence.share < _ENOUGH or len(statement.tokens.words) < _LEAST_WORDS:
        return None
    ours, theirs = statement.word_keys, sentence.read.word_keys
    for concept in sorted(ours & opposite().keys()):
        other = opposite()[concept]
        if concept not in theirs and other in theirs and other not in ours:
            says = f"“{_written(sentence.read, other)}” where the statement says “{_written(statement, concept)}”"
            return f"the passage says {says}"
    denied = _negated(sentence.read, ours)
    if _negated(statement, theirs) != denied:
        return "the passage denies it" if denied else "the statement denies what the passage says"
    return None


def other_number(stated: Number, statement: Statement, source: SourceText, first: int, last: int) -> Number | None:
    """A different number that tokens first .. last have where the stated one should be.

    That is one of the same unit, or before the same word ("1,200 people" for "1,500 people").
    """
    beside = _beside(statement.text, stated)
    numbers = source.tokens.numbers
    at = bisect_left(numbers, first, key=lambda number: number.at)
    for number in takewhile(lambda number: number.at <= last, islice(numbers, at, None)):
        same_unit = number.dimension != "" and number.dimension == stated.dimension
        same_word = beside != "" and beside == _beside(source.text, number)
        if number.year == stated.year and (same_unit or same_word) and not _stated(number, statement):
            return number
    return None


def number_instead(stated: Number, statement: Statement, sentence: Sentence) -> Number | None:
    """A number of the same sort that a sentence which says the rest has, and the statement has not."""
    if sentence.words < _SAME:
        return None
    for number in sentence.read.numbers:
        if number.year == stated.year and number.dimension == stated.dimension and not _stated(number, statement):
            return number
    return None


def date_instead(stated: Date, sentence: Sentence) -> Date | None:
    """A date that a sentence which says the rest has, where none of its dates could be the stated one."""
    if sentence.words < _SAME or any(date.allows(stated) for date in sentence.read.dates):
        return None
    return next(iter(sentence.read.dates), None)


def name_instead(missing: Name, statement: Statement, sentence: Sentence) -> Name | None:
    """A name that a sentence which says the rest has instead of this one, and the statement has not."""
    if sentence.words < _SAME or any(word in sentence.read.tokens.words for word in missing.keys):
        return None
    ours = {key for name in statement.names for key in name.keys}
    return next((name for name in sentence.read.names if not ours & set(name.keys)), None)


def _stated(number: Number, statement: Statement) -> bool:
    return any(agree(stated, number) for stated in statement.numbers)


def _beside(text: str, number: Number) -> str:
    """What stands right behind a number: a word's key, or a Chinese sign."""
    behind = _BESIDE.match(text, number.end)
    return "" if behind is None else behind[2] or key(behind[1]) or ""


def _negated(sentence: Statement, shared: frozenset[str]) -> bool:
    """Whether an odd number of words of negation stands in the clauses of a sentence that have one of these words."""
    tokens = sentence.tokens
    places = sorted(tokens.starts[at] for word in shared & sentence.word_keys for at in tokens.words[word])
    count = 0
    for clause in _CLAUSE.finditer(sentence.text):
        at = bisect_left(places, clause.start())
        if at < len(places) and places[at] < clause.end():
            count += _negations(clause[0])
    return count % 2 == 1


def _negations(text: str) -> int:
    lists = rules().words
    words: list[str] = _WORD.findall(text)
    latin = sum(folded(word) in lists.negators or word.lower().endswith(("n't", "n’t")) for word in words)
    return latin + sum(text.count(negator) for negator in lists.cjk_negators)


def _written(statement: Statement, concept: str) -> str:
    token = statement.tokens.words[concept][0]
    return statement.text[statement.tokens.starts[token] : statement.tokens.ends[token]]
