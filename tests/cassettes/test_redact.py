"""Secrets are redacted in every encoding, and nothing else is touched. Every key here is made up."""

import json
import time
from base64 import b64encode, urlsafe_b64encode
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.cassettes.redact import MARK, REQUEST_HEADERS, RESPONSE_HEADERS, Redactor, secret_values

ROOT = Path(__file__).resolve().parents[2]
NONE = Redactor([])
SECRET = 'p@ss/wörd+1 & "密"'
BODY = "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6gH7iJ8kL9mN0oP1"
KEYS = {
    "model key": [
        f"sk-{BODY[:48]}",
        f"sk-proj-{BODY[:20]}-_{BODY}",
        f"sk-ant-api03-aB-{BODY}AA",
        f"sk-or-v1-{BODY.lower()}",
        "sk-0123456789abcdef0123456789abcdef",
    ],
    "Tavily key": [f"tvly-{BODY[:32]}", f"tvly-dev-{BODY[:32]}"],
    "NVIDIA key": [f"nvapi-{BODY}"],
    "Google key": [f"AIza{BODY[:33]}-_"],
    "GitHub token": [f"ghp_{BODY[:36]}", f"gho_{BODY[:36]}", f"github_pat_{BODY[:22]}_{BODY[:59]}"],
    "Slack token": ["xoxb-123456789012-1234567890123-AbCdEfGhIjKl", "xoxe.xoxp-1-AbCdEfGhIjKlMnOpQrSt"],
    "AWS key": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "Hugging Face token": [f"hf_{'aBcDeFgHiJ' * 3}kLmN"],
    "JSON web token": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
}
AROUND = ["{}", "密{}。", "<b>{}</b>", '{{"k":"{}"}}', "a={},b", r"\n{}", "%20{}%0A", "https://e.com/{}?a=b", "{}\n{}"]

PROSE = [
    "Set OPENAI_API_KEY=sk-... or sk-proj-xxx; a Tavily key begins with tvly-, tvly-YOUR_API_KEY, of AWS with AKIA.",
    "class=sk-toggleable__label-arrow sk-estimator-doc-link-a-long-name task-force-recommendations-2024-final-report",
    "tvly-the-name-of-a-product-page task-0123456789abcdef0123456789abcdef",
    "10.1038/s41586-021-03819-2 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "5f0c6d3e-9b1a-4a57-8f7e-2f1d3c4b5a69 https://h.com:8080/a@b?page=2&key=3&page_token=CAUQAA12345678&token=abc",
    "A bearer token authenticates whoever presents it; bearer authentication-by-possession. Basic information: below.",
    "Windows: C:\\new\\table 100%ab %zz &amp; &nope; \\ud83d \\uZZZZ \\q 中文 \x00 \ud83d",
]


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in KEYS.items() for key in keys])
def test_known_key_formats_are_redacted_wherever_they_appear(kind: str, key: str) -> None:
    for around in AROUND:
        text = around.format(key, key)
        assert NONE.text(text) == around.format(MARK, MARK)
        assert NONE.secret_kinds(text) == [kind]


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {MARK}"),
        ('{"authorization": "bearer a1.b2~c3/d4+e5f6g7=="}', f'{{"authorization": "bearer {MARK}"}}'),
        ('{"Authorization": "Basic dXNlcjpwYXNz"}', f'{{"Authorization": "Basic {MARK}"}}'),
        ("https://h.com/?q=a&API_KEY=abc12345#top", f"https://h.com/?q=a&API_KEY={MARK}#top"),
        ("/s?X-Amz-Signature=0123456789abcdef&b=1", f"/s?X-Amz-Signature={MARK}&b=1"),
        ("/cb#access_token=abc.def-123", f"/cb#access_token={MARK}"),
        ('<a href="/s?a=b&amp;token=abcdefgh1&amp;c=d">', f'<a href="/s?a=b&amp;token={MARK}&amp;c=d">'),
        ('{"u":"/s?key=abcd\\/efgh\\u0026b=1"}', f'{{"u":"/s?key={MARK}\\u0026b=1"}}'),
        ("/go?to=https%3A%2F%2Fh%2F%3Fkey%3Dabcd1234%26b%3D1", f"/go?to=https%3A%2F%2Fh%2F%3Fkey%3D{MARK}%26b%3D1"),
        ("postgresql://me:pw@db:5432/x", f"postgresql://me:{MARK}@db:5432/x"),
        (f"https://{KEYS['GitHub token'][0]}:x-oauth-basic@github.com", f"https://{MARK}:{MARK}@github.com"),
    ],
)
def test_only_the_secret_is_redacted_in_places_that_hold_one(text: str, redacted: str) -> None:
    assert NONE.text(text) == redacted
    assert NONE.secret_kinds(text) != []
    assert NONE.secret_kinds(redacted) == []


@pytest.mark.parametrize("text", PROSE)
def test_short_examples_hashes_and_slugs_are_unchanged(text: str) -> None:
    assert NONE.text(text) == text
    assert NONE.secret_kinds(text) == []


def test_a_corpus_of_pages_is_unchanged() -> None:
    pages = (ROOT / "benchmarks/world/pages.jsonl").read_bytes()
    assert Redactor([SECRET]).body(pages, "application/jsonl") == pages


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET).lower(),
        escape(SECRET),
        SECRET.replace("&", "&#x26;").replace('"', "&#34;"),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        "".join(f"\\u{ord(character):04x}" for character in SECRET),
        json.dumps(json.dumps(SECRET))[1:-1].replace("/", r"\/"),
        json.dumps(f'<a href="/{escape(quote(SECRET))}">'),
        "".join(f"\\u{ord(character):04x}" for character in quote(quote(SECRET, safe=""))),
    ],
)
def test_a_value_is_found_in_every_encoding(spelling: str) -> None:
    redactor = Redactor([SECRET])
    for around in ("{}", 'x "{}" y', '["{}", "ok"]'):
        redacted = redactor.text(around.format(spelling))
        assert MARK in redacted
        assert not redactor.secret_kinds(redacted)
        assert not any(part in redacted for part in ("p@ss", "ss/", "rd+1", "70", "pass"))


@pytest.mark.parametrize("user", ["", "a:", "me:", "you:"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_value_is_found_in_base64_at_any_offset(user: str, encode: object) -> None:
    secret = "k>?>?~~secret~value"
    for tail in ("", "!", "!!"):
        coded = encode(f"{user}{secret}{tail}".encode()).decode()  # type: ignore[operator]
        redacted = Redactor([secret]).text(f"Basic {coded} x")
        assert len(redacted.replace(MARK, "")) <= len(f"Basic  x{b64encode(user.encode()).decode()}") + 6
        assert MARK in redacted


def test_redacting_escaped_secrets_leaves_valid_json() -> None:
    body = json.dumps({"a": f"x{SECRET}\ny", "b": "ünverändert", "c": "👍" + SECRET}).encode()
    assert json.loads(Redactor([SECRET]).body(body, "application/json")) == {
        "a": f"x{MARK}\ny",
        "b": "ünverändert",
        "c": f"👍{MARK}",
    }


def test_short_values_and_the_mark_itself_are_not_secrets() -> None:
    assert Redactor(["1234567", "", MARK, "redacted"]).text(f"1234567 {MARK}") == f"1234567 {MARK}"


def test_the_first_field_of_a_form_is_read_like_a_query_parameter() -> None:
    body = b"client_secret=abcdefgh&grant_type=x"
    assert NONE.body(body, "application/x-www-form-urlencoded") == b"client_secret=aiq-redacted&grant_type=x"
    assert NONE.body(body, "text/plain") == body


def test_a_token_that_contains_a_value_is_redacted_whole() -> None:
    assert Redactor(["s3cret-value"]).text("Bearer 12-s3cret-value-3456789, s3cret-value") == f"Bearer {MARK}, {MARK}"


def test_a_key_format_that_redaction_creates_is_redacted_too() -> None:
    assert Redactor(["abcdefgh1"]).text("<sk-proj-ABCDEFGHabcdefgh1>") == f"<{MARK}>"


def test_overlapping_values_are_redacted_whole() -> None:
    assert Redactor(["abcdefgh-ijkl-mnop", "h-ijkl-m"]).text("<abcdefgh-ijkl-mnop>") == f"<{MARK}>"
    assert Redactor(["abcdefgh", "abcdefgh-ijkl", "h-ijkl-mnop"]).text("<abcdefgh-ijkl-mnop>") == f"<{MARK}>"


def chunk(text: str, index: int = 0) -> dict[str, object]:
    return {"id": "c1", "choices": [{"index": index, "delta": {"content": text}}], "usage": None}


def stream(*events: object, end: str = "\n\n") -> str:
    return "".join(f"data: {json.dumps(event, ensure_ascii=False)}{end}" for event in events) + f"data: [DONE]{end}"


def contents(body: bytes) -> list[str]:
    events = [json.loads(line[5:]) for line in body.decode().split("\n") if line.startswith("data: {")]
    return [event["choices"][0]["delta"]["content"] for event in events]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["\n\n", "\r\n\r\n"]))
def test_a_secret_split_across_events_becomes_one_mark_and_other_lines_stay(cuts: list[int], end: str) -> None:
    text = f"Grüße: {KEYS['model key'][1][:30]} und {SECRET}!"
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    body = stream(*map(chunk, ["first ", *pieces, "läst"]), end=end)
    redactor = Redactor([SECRET])
    assert redactor.secret_kinds(body) == ["model key", "value of a variable"]
    redacted = redactor.body(body.encode(), "text/event-stream")
    assert redactor.secret_kinds(redacted.decode()) == []
    assert "".join(contents(redacted)) == f"first Grüße: {MARK} und {MARK}!läst"
    assert len(contents(redacted)) == len(pieces) + 2
    lines = body.split("\n")
    assert redacted.count(b"\r") == body.count("\r")
    assert redacted.decode().split("\n")[:2] + redacted.decode().split("\n")[-5:] == lines[:2] + lines[-5:]
    assert redactor.body(redacted, "") == redacted


def test_the_first_piece_gets_the_mark_and_untouched_events_keep_their_bytes() -> None:
    before = 'data:  {"choices": [ {"delta":{"content":"a\\u00e4"}} ]}\n'
    secret = "".join(f'data: {{"choices":[{{"delta":{{"content":"{part}"}}}}]}}\n' for part in ("x-se", "cret-", "1y"))
    after = ': ping\ndata: not json {\ndata: {"choices":[], "n": 1.50}\n'
    mark = secret.replace("x-se", f"x-{MARK}").replace("cret-", "").replace("1y", "y")
    assert Redactor(["secret-1"]).body((before + secret + after).encode(), "") == (before + mark + after).encode()


def test_choices_and_tool_calls_are_joined_separately() -> None:
    secret = "s3cret-value"
    events = [
        chunk(part, index) for pair in zip(secret, reversed(secret), strict=True) for index, part in enumerate(pair)
    ]
    redacted = Redactor([secret]).body(stream(*events).encode(), "text/event-stream")
    assert "".join(contents(redacted)[0::2]) == MARK
    assert "".join(contents(redacted)[1::2]) == secret[::-1]

    parts = ['{"q": "\\', "u0073", '3cret-val\\u0075e"}']
    calls = [{"choices": [{"delta": {"tool_calls": [{"index": 1, "function": {"arguments": p}}]}}]} for p in parts]
    calls.insert(1, {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]})
    lines = Redactor([secret]).body(stream(*calls).encode(), "text/event-stream").decode().splitlines()
    deltas = [json.loads(line[5:])["choices"][0]["delta"]["tool_calls"][0] for line in lines if "{" in line]
    assert "".join(d["function"]["arguments"] for d in deltas if d["index"] == 1) == f'{{"q": "{MARK}"}}'


@pytest.mark.parametrize(
    "data",
    [
        '{"a":' * 100_000,
        '{"a":' * 900 + '"x"' + "}" * 900,
        '{"a":' + "1" * 5000 + "}",
        '{"a":NaN,"b":1e999}',
        "{",
        '{"index":[]}',
    ],
)
def test_hostile_streams_pass_unchanged(data: str) -> None:
    body = f"data: {data}\n\n".encode()
    assert NONE.body(body, "text/event-stream") == body


def test_only_allowed_headers_are_kept_and_they_are_redacted() -> None:
    request_headers = [
        ("Authorization", "Bearer x"),
        ("Content-Type", "a/b"),
        ("x-goog-api-key", "y"),
        ("X-AIQ-Role", "judge.race"),
    ]
    assert NONE.headers(request_headers, REQUEST_HEADERS) == (("content-type", "a/b"), ("x-aiq-role", "judge.race"))
    response_headers = [
        ("Set-Cookie", "a=b"),
        ("Location", "https://h/?key=abcdefgh1"),
        ("X-RateLimit-Remaining-Tokens", "5"),
        ("Retry-After-Ms", "20"),
        ("openai-organization", "org-1"),
    ]
    assert NONE.headers(response_headers, RESPONSE_HEADERS) == (
        ("location", f"https://h/?key={MARK}"),
        ("x-ratelimit-remaining-tokens", "5"),
        ("retry-after-ms", "20"),
    )


def test_secret_values_come_from_configured_variables_and_telltale_names() -> None:
    tools = [{"dsn_env": "STORE"}, {"key_env": None}, {"headers_env": {"X-Key": "HEADER"}}]
    config = {"llm": {"api_key_env": "MINE"}, "tools": tools, "plain": "OTHER"}
    environ = {
        "MINE": "mine-value\n",
        "STORE": "postgresql://me:p%40ssword@db/x",
        "OTHER": "other",
        "HEADER": "header",
        "GITHUB_TOKEN": "github",
        "aws_secret_access_key": "aws",
        "DB_PASSWORD2": "db",
        "MONKEY": "monkey",
        "MAX_OUTPUT_TOKENS": "64000",
        "TOKENIZERS_PARALLELISM": "false",
        "PWD": "here",
        "EMPTY_KEY": "",
    }
    assert set(secret_values(config, environ)) == {
        "mine-value",
        "header",
        "postgresql://me:p%40ssword@db/x",
        "p@ssword",
        "github",
        "aws",
        "db",
    }


PARTS = [
    *(key for keys in KEYS.values() for key in keys),
    *("sk-", "sk-proj-", "abcdefgh1", "Bearer ", "?key=", "://u:", "@h", MARK, MARK[:5], "aiq-", "redacted-x"),
    *(
        SECRET,
        quote(SECRET),
        json.dumps(SECRET),
        "\\",
        "%",
        "&",
        "%5C",
        "\\u0073",
        "&amp;",
        "\n",
        "data: ",
        " ",
        "é",
        "密",
    ),
]
MIXED = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=4)), max_size=12).map("".join)


@settings(max_examples=50)
@given(MIXED)
def test_redaction_is_idempotent(text: str) -> None:
    redactor = Redactor([SECRET, "abcdefgh1", "redacted-x", "key=aiq-"])
    once = redactor.text(text)
    assert redactor.text(once) == once
    assert redactor.secret_kinds(once) == []
    assert (once == text) == (redactor.secret_kinds(text) == [])


@settings(max_examples=40)
@given(st.lists(MIXED, max_size=6))
def test_stream_redaction_is_idempotent(pieces: list[str]) -> None:
    redactor = Redactor([SECRET, "abcdefgh1"])
    once = redactor.body(stream(*map(chunk, pieces)).encode("utf-8", "replace"), "text/event-stream")
    assert redactor.body(once, "text/event-stream") == once
    assert len(contents(once)) == len(pieces)


@given(st.binary(max_size=200), st.sampled_from(["", "application/pdf", "text/event-stream"]))
def test_bytes_without_secrets_stay_and_secrets_in_any_bytes_go(body: bytes, content_type: str) -> None:
    assert NONE.body(body, content_type) == body
    assert Redactor(["s3cret-value"]).body(body + b"\xff s3cret-value", content_type) == body + b"\xff " + MARK.encode()


@pytest.mark.timing
@pytest.mark.parametrize(
    "unit",
    [
        *("sk-", "sk-a-", "tvly-", "eyJaaaaaaaa-", "eyJaaaaaaaa.", "://", "://a:b:", "earer ", "uthorization   "),
        *("?key=&key=a", "\\", "\\u005c", "%25", "&amp;", "{", " ", "data: {}\n", 'data: {"a":"sk-"}\n'),
    ],
)
def test_time_is_linear_in_the_length(unit: str) -> None:
    def seconds(size: int) -> float:
        body = (unit * size)[:size].encode()
        start = time.process_time()
        NONE.body(body, "text/event-stream")
        return time.process_time() - start

    assert seconds(800_000) < 40 * max(seconds(100_000), 0.005)
