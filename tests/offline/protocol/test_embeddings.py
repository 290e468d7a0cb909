"""The stock `openai` client's `embeddings` against the offline stack."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from aiq.offline.protocol.embeddings import embedding


def near(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of two vectors of length 1."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_one_text_or_many_as_floats_or_packed(client: OpenAI) -> None:
    texts = ["The mayor of Tessmark", "沃伦研究所的所长"]
    packed = client.embeddings.create(model="offline-1", input=texts)  # the client asks for base64
    plain = client.embeddings.create(model="offline-1", input=texts, encoding_format="float")
    assert [one.index for one in packed.data] == [0, 1]
    for one, other in zip(packed.data, plain.data, strict=True):
        assert len(one.embedding) == 1536
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
    single = client.embeddings.create(model="offline-1", input=texts[0])
    assert single.data[0].embedding == packed.data[0].embedding
    assert packed.usage.total_tokens == packed.usage.prompt_tokens > 8


def test_dimensions(client: OpenAI) -> None:
    assert len(client.embeddings.create(model="any-name", input="x", dimensions=64).data[0].embedding) == 64


def test_token_ids(client: OpenAI) -> None:
    one = client.embeddings.create(model="offline-1", input=[1, 2, 3])
    many = client.embeddings.create(model="offline-1", input=[[1, 2, 3], [1, 2, 4], [7, 8, 9]])
    first, second, third = (entry.embedding for entry in many.data)
    assert one.data[0].embedding == first
    assert one.usage.prompt_tokens == 3
    assert near(first, second) > near(first, third) + 0.3


@pytest.mark.parametrize(
    ("text", "similar", "other"),
    [
        ("Who founded the company?", "The founder of the companies", "Rainfall in the northern hills"),
        ("The mayor resigned in 2024", "In 2024 the mayor has resigned", "A museum opened by the river"),
        ("研究所的所长是林岚", "林岚是研究所所长", "北部山区的降雨量"),
    ],
)
def test_texts_of_the_same_words_are_near(text: str, similar: str, other: str) -> None:
    assert near(embedding(text), embedding(similar)) > near(embedding(text), embedding(other)) + 0.2


@given(st.text(), st.integers(1, 50))
def test_every_vector_has_length_one(text: str, dimensions: int) -> None:
    vector = embedding(text, dimensions)
    assert len(vector) == dimensions
    assert math.isclose(near(vector, vector), 1, rel_tol=1e-9)
