"""The stock `openai` client's `embeddings` against the offline stack."""

from collections.abc import Sequence

import pytest
from openai import OpenAI


def near(a: Sequence[float], b: Sequence[float]) -> float:
    """The cosine of two vectors of length 1."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_one_text_or_many_as_floats_or_packed(client: OpenAI) -> None:
    texts = ["The mayor of Tessmark", "沃伦研究所的所长"]
    packed = client.embeddings.create(model="offline-1", input=texts)  # the client asks for base64
    plain = client.embeddings.create(model="offline-1", input=texts, encoding_format="float")
    assert [entry.index for entry in packed.data] == [0, 1]
    for entry, plain_entry in zip(packed.data, plain.data, strict=True):
        assert len(entry.embedding) == 1536
        assert entry.embedding == pytest.approx(plain_entry.embedding, abs=1e-6)
    single = client.embeddings.create(model="offline-1", input=texts[0])
    assert single.data[0].embedding == packed.data[0].embedding
    assert packed.usage.total_tokens == packed.usage.prompt_tokens > 8


def test_dimensions(client: OpenAI) -> None:
    assert len(client.embeddings.create(model="any-name", input="x", dimensions=64).data[0].embedding) == 64


def test_token_ids(client: OpenAI) -> None:
    single = client.embeddings.create(model="offline-1", input=[1, 2, 3])
    many = client.embeddings.create(model="offline-1", input=[[1, 2, 3], [1, 2, 4], [7, 8, 9]])
    first, second, third = (entry.embedding for entry in many.data)
    assert single.data[0].embedding == first
    assert single.usage.prompt_tokens == 3
    assert near(first, second) > near(first, third) + 0.3
