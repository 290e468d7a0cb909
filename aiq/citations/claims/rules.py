"""Reads the tables that checking a claim goes by: `rules.toml`, `concepts.toml`, `units.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, NonNegativeFloat

from aiq.core.base import Record


def _words(value: Any) -> Any:
    return frozenset(value.split()) if isinstance(value, str) else value


def _lines(value: Any) -> Any:
    """Alternatives between bars and on lines of their own."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for line in value.splitlines() for part in line.split("|") if part.strip())


Words = Annotated[frozenset[str], BeforeValidator(_words)]
Phrases = Annotated[tuple[str, ...], BeforeValidator(_lines)]


class Thresholds(Record):
    """From which score on a statement is supported."""

    supported: float
    supported_across: float


class Weights(Record):
    """What terms weigh beside each other; each is explained in `rules.toml`."""

    subject: float
    common: float
    glue: float
    name: float
    number: float


class Score(Record):
    """What each part of the evidence weighs in the score; `start` is where a statement without any stands."""

    start: float
    found: NonNegativeFloat
    no_figure: NonNegativeFloat
    no_name: NonNegativeFloat
    other_figure: NonNegativeFloat
    other_name: NonNegativeFloat
    denied: NonNegativeFloat


class PassageSize(Record):
    """How long a passage is, in words."""

    times: float
    least: int
    most: int
    opening: int


class WordLists(Record):
    """Words by what they are worth."""

    function: Words
    glue: Words
    cjk_glue: Words
    calendar: Words
    openers: Words
    negators: Words
    cjk_negators: tuple[str, ...]
    cjk_function: str


class Unusable(Record):
    """How pages look that hold nothing."""

    titles: Phrases
    certain: Phrases
    phrases: Phrases
    title_words: int
    prose_words: int
    least_words: int
    readable: float


class Rules(Record):
    """All of `rules.toml`; `suffixes` by language."""

    thresholds: Thresholds
    weights: Weights
    score: Score
    passage: PassageSize
    words: WordLists
    suffixes: Mapping[str, str]
    unusable: Unusable


class Concepts(Record):
    """`concepts.toml`: words of one meaning on a line, English before the bar, Chinese behind it."""

    concepts: tuple[str, ...]
    opposites: tuple[str, ...]


class Units(Record):
    """`units.toml`: factors by spelling, units by what they measure."""

    multipliers: Mapping[str, float]
    dimensions: Mapping[str, Mapping[str, float]]


@cache
def rules() -> Rules:
    """The table, read once."""
    return Rules.model_validate(_read("rules.toml"))


@cache
def concepts() -> Concepts:
    """The table, read once."""
    return Concepts.model_validate(_read("concepts.toml"))


@cache
def units() -> Units:
    """The table, read once."""
    return Units.model_validate(_read("units.toml"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
