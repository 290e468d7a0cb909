"""Which requests count as the same, and the differences reported for an unrecorded one."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.cassettes.match import SHOWN, canonical_url, differences, request_key
from tests.cases import table
from tests.cassettes.exchanges import asked

each = table(__file__)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@each("url")
def test_equivalent_urls_have_one_canonical_form(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (asked(b'{"a": 1, "b": [2]}'), asked(b'{"b":[2],"a":1}'), True),
        (asked(b'{"a": "\\u00e4"}'), asked('{"a": "ä"}'.encode()), True),
        (asked(b"plain"), asked(b"plain "), False),
        (asked({"a": [1, 2]}), asked({"a": [2, 1]}), False),
        (asked({"a": 1}), asked({"a": "1"}), False),
        (asked({"a": None}), asked({}), False),
        (asked({}), asked(b""), False),
        (asked(url="http://a/?q=%E8"), asked(url="http://a/?q=%E9"), False),
        (asked(method="get"), asked(method="GET"), True),
        (asked(method="GET"), asked(method="POST"), False),
        (asked(b"\xff"), asked(b"\\xff"), False),
        (asked(b'{"a": "\\ud800"}'), asked(b'{"a": "\\ud801"}'), False),
        (asked(b"[" * 5000), asked(b"[" * 5000), True),
    ],
)
def test_requests_are_distinguished_by_method_url_and_value(one: Any, other: Any, same: bool) -> None:
    assert (request_key(one) == request_key(other)) is same


@settings(max_examples=30)
@given(JSON)
def test_json_formatting_makes_no_difference(value: Any) -> None:
    styles: list[dict[str, Any]] = [{}, {"indent": 1}, {"sort_keys": True}, {"separators": (",", ":")}]
    body = {"value": value, "model": "m"}
    keys = {request_key(asked(json.dumps(body, **style).encode())) for style in styles}
    assert len(keys) == 1


def test_an_ignored_name_is_a_top_level_field_or_a_query_parameter() -> None:
    base = asked({"a": 1, "id": "x", "in": {"id": "y"}}, "http://a/p?id=3&q=1")
    assert request_key(base, ["id"]) == request_key(asked({"a": 1, "in": {"id": "y"}}, "http://a/p?q=1&id=4"), ["id"])
    assert request_key(base, ["id"]) != request_key(asked({"a": 1, "in": {"id": "z"}}, "http://a/p?q=1"), ["id"])
    assert request_key(base) != request_key(asked({"a": 1, "id": "y", "in": {"id": "y"}}, "http://a/p?id=3&q=1"))


def messages(*texts: str, **more: Any) -> Any:
    return asked({"model": "m", "messages": [{"role": "user", "content": text} for text in texts], **more})


RECORDED = [messages("one", "two"), messages("one"), messages("other words"), asked(b"", "http://a/p?q=1", "GET")]
LONG = "x" * 100


@pytest.mark.parametrize(
    ("request_", "lines"),
    [
        (messages("one", "toe"), ['messages[1].content: recorded "two", now "toe" (at character 1)']),
        (messages("one", seed=3), ['seed is new: "3"']),
        (asked({"model": "m"}), ["messages[0].role is no longer there", "messages[0].content is no longer there"]),
        (asked(b"", "http://a/p?q=2", "GET"), ['?q: recorded "1", now "2"']),
        (asked(b"", "http://a/p?q=1&q=2", "GET"), ['?q: recorded "1", now "1, 2"']),
        (asked(b"", "http://a/z?q=1", "GET"), ['address: recorded "GET http://a/p", now "GET http://a/z"']),
        (messages("other wordy"), ['recorded "other words", now "other wordy" (at character 10)']),
        (asked(), ['body is new: ""', "model is no longer", "messages[0].role", "and 1 more fields"]),
    ],
)
def test_the_closest_recorded_request_is_shown_with_its_differences(request_: Any, lines: list[str]) -> None:
    actual = differences(request_, RECORDED)
    assert actual is not None
    for line, expected in zip(actual, lines, strict=True):
        assert expected in line


def test_only_the_surroundings_of_the_first_difference_in_a_long_text_are_shown() -> None:
    assert differences(messages(f"{LONG}a{LONG}"), [messages(f"{LONG}b{LONG}")]) == [
        f'messages[0].content: recorded "…{"x" * 40}b{"x" * 39}…", now "…{"x" * 40}a{"x" * 39}…" (at character 100)'
    ]
    lines = differences(asked(dict.fromkeys("abcdef", 1)), [asked(dict.fromkeys("abcdef", 2))])
    assert lines is not None
    assert lines[SHOWN:] == ["and 3 more fields"]


def test_an_empty_cassette_has_no_closest_request_and_ignored_fields_do_not_differ() -> None:
    assert differences(messages("one"), []) is None
    assert differences(messages("one", id="a"), [messages("one", id="b")], ["id"]) == []
    assert differences(asked(b"[" * 5000), [asked(b"[" * 4999)])
    deep = asked(b"[" * 600 + b"]" * 600)
    assert differences(deep, [deep]) == []
