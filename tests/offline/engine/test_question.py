"""What a question asks, and which of its parts describe something to be found first."""

import time

import pytest

from aiq.offline.engine.clauses import clauses
from aiq.offline.engine.question import description, parse, rewritten, tidy
from tests.cases import table

each = table(__file__)


@each("kind")
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert parse(question).kind == kind


@each("innermost")
def test_the_innermost_description(question: str, innermost: str | None) -> None:
    found = description(question)
    assert (rewritten(question)[found.start : found.end] if found else None) == innermost


def test_possessives_are_rewritten_with_of() -> None:
    assert rewritten("How old is Wimco's founder's wife?") == "How old is the wife of the founder of Wimco?"


def test_polite_phrases_are_not_part_of_the_question() -> None:
    assert tidy("Could you tell me who runs Wimco?") == "who runs Wimco?"


def test_exclusions_are_not_looked_for() -> None:
    assert "lamps" not in parse("What does Wimco make besides lamps?").words


@pytest.mark.parametrize("piece", ["?", "? ", "A. ", "Key: "])
def test_repetition_is_read_fast_enough(piece: str) -> None:
    loop = f"{piece * (20_000 // len(piece))}x"
    start = time.process_time()
    assert [*clauses(loop)]
    description(loop)
    assert time.process_time() - start < 2
