import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.text import join_first, json_value, plural, utf8_safe, utf8_safe_json, utf8_safe_value

ANY_CHARACTERS = st.text(st.characters(codec=None, exclude_categories=()))


@given(ANY_CHARACTERS)
def test_repaired_text_is_valid_unicode_and_repairing_is_idempotent(text: str) -> None:
    mended = utf8_safe(text)
    assert mended.encode().decode() == mended
    assert utf8_safe(mended) == mended


@given(st.text())
def test_surrogate_pairs_are_joined_and_valid_text_is_unchanged(text: str) -> None:
    assert utf8_safe(text) == text
    assert utf8_safe("a\ud83d\ude00b\ud83d") == "a\U0001f600b\ufffd"


def test_json_keys_and_values_are_repaired_and_the_rest_is_unchanged() -> None:
    value = {"\ud83d": ["\ud83d", 1.5, None, {"a": "\ud83d"}]}
    mended = {"\ufffd": ["\ufffd", 1.5, None, {"a": "\ufffd"}]}
    assert utf8_safe_value(value) == mended
    assert json.loads(utf8_safe_json(json.dumps(value).encode())) == mended
    body = '{"a" :  "\\\\ud83d is an escape, caf\u00e9"}'.encode()
    assert json.loads(utf8_safe_json(body)) == json.loads(body)
    assert utf8_safe_json(b'{"a" :  1}') == b'{"a" :  1}'


@pytest.mark.parametrize("deep", [201, 900, 100_000])
def test_json_nested_too_deeply_is_refused_like_invalid_json(deep: int) -> None:
    assert json_value(b'{"a": ' + b"[" * 199 + b"]" * 199 + b"}")
    for text in ("[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "{"):
        with pytest.raises(ValueError, match=r"nested too deep|Expecting"):
            json_value(text)


def test_counts_are_pluralized() -> None:
    assert [plural(n, "page") for n in (0, 1, 2, 1200)] == ["0 pages", "1 page", "2 pages", "1,200 pages"]
    assert [plural(n, "try", "tries") for n in (1, 2)] == ["1 try", "2 tries"]


def test_names_beyond_the_limit_become_an_ellipsis() -> None:
    assert [join_first("abcd"[:n], 3) for n in (0, 3, 4)] == ["", "a, b, c", "a, b, c, ..."]
