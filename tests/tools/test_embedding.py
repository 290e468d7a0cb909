"""The lexical embedding: what it finds near, and that the numbers are the same everywhere."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.tools.embedding import DIMENSIONS, embedding

PAIRS = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
"""Questions in English and Chinese: a paraphrase, or one of the same form about something else."""

THRESHOLD = 0.75
"""The specification's, made for embeddings of a model."""


def near(one: str, other: str) -> float:
    return sum(x * y for x, y in zip(embedding(one), embedding(other), strict=True))


def found(pairs: list[tuple[str, str]]) -> int:
    return sum(near(*pair) >= THRESHOLD for pair in pairs)


def test_the_threshold_separates_paraphrases_from_unrelated_questions() -> None:
    """About half of the paraphrases are found, and no question about something else."""
    pairs = {kind: [(p["one"], p["other"]) for p in PAIRS if p["kind"] == kind] for kind in {p["kind"] for p in PAIRS}}
    paraphrases, different = pairs["paraphrase"], pairs["another subject"]
    unrelated = [(one, paraphrases[(i + 7) % len(paraphrases)][1]) for i, (one, _) in enumerate(paraphrases)]
    assert (len(paraphrases), found(paraphrases)) == (60, 28)
    assert (len(different), found(different)) == (20, 7)  # words show a question's form, and little of its subject
    assert max(near(*pair) for pair in unrelated) < 0.5


@pytest.mark.parametrize(
    ("text", "similar", "other"),
    [
        ("Who founded the company?", "The founder of the companies", "Rainfall in the northern hills"),
        ("The mayor resigned in 2024", "In 2024 the mayor has resigned", "A museum opened by the river"),
        ("研究所的所长是林岚", "林岚是研究所所长", "北部山区的降雨量"),
        ("photosynthesis", "photosyntesis", "philosophy"),
    ],
)
def test_texts_of_the_same_words_are_near(text: str, similar: str, other: str) -> None:
    assert near(text, similar) > near(text, other) + 0.2


@given(st.text(), st.integers(1, 50))
def test_every_vector_has_length_one(text: str, dimensions: int) -> None:
    vector = embedding(text, dimensions)
    assert len(vector) == dimensions
    assert math.isclose(math.hypot(*vector), 1, rel_tol=1e-9)


def test_another_process_embeds_alike() -> None:
    text = "How deep is Lake Baikal? 贝加尔湖"
    script = f"from aiq.tools.embedding import embedding; print(embedding({text!r}))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    vector = embedding(text)
    assert json.loads(printed) == vector
    assert len(vector) == DIMENSIONS
