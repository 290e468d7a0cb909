"""Stems, synonyms, names, sentences and numbers in a text."""

import pytest

from aiq.offline.engine.lexicon import kind_of, similar, stem, synonyms, vocabulary
from aiq.offline.engine.quantities import numbers, with_unit
from aiq.offline.engine.text import is_chinese, names, sentences
from tests.cases import table

each = table(__file__)


@each("stem")
def test_words_of_one_family_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(
    ("left", "right"), [("birthplace", "born"), ("inhabitants", "population"), ("boss", "head"), ("创办", "成立")]
)
def test_synonyms_are_alike(left: str, right: str) -> None:
    assert similar(left, right)
    assert not similar(left, "purple")


def test_the_thesaurus_is_of_moderate_size_and_has_no_duplicates() -> None:
    lines = vocabulary().lines
    assert len(lines) <= 300
    assert len({tuple(line) for line in lines}) == len(lines)
    assert all(len(set(line)) == len(line) >= 2 for line in lines)
    assert synonyms("mayor")


@each("noun")
def test_what_a_noun_denotes(noun: str, kind: str) -> None:
    assert kind_of(noun) == kind


@each("number")
def test_numbers_have_values_and_units(text: str, value: float, shown: str) -> None:
    found = numbers(text)
    assert [quantity.value for quantity in found] == [value]
    assert with_unit(text, found[0]) == shown


def test_names_are_capitalised_runs_and_titles() -> None:
    text = "In May Mara Venn left the University of Ostrel and read from “The Tin Orchard”. Under Bram Tolley it ended."
    assert names(text) == ("Mara Venn", "University of Ostrel", "The Tin Orchard", "Bram Tolley")


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert sentences("Dr. Venn came at 5 p.m. She left. 他来了。她走了。") == (
        "Dr. Venn came at 5 p.m.",
        "She left.",
        "他来了。",
        "她走了。",
    )
    assert is_chinese("他来了")
