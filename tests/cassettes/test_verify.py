"""What `findings` finds in a cassette file: every change, secrets wherever they are, and leftovers."""

import json
import random
import sqlite3
from base64 import b64encode
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.redact import MARK, Redactor
from aiq.cassettes.store import Store
from aiq.cassettes.verify import findings
from aiq.core.errors import UserError

TEXTS = [f"{number}: " + "What several requests have in common is kept once. " * 5 for number in range(4)]
KEY = "sk-proj-abcdefghij0123456789"


def exchange(number: int) -> Exchange:
    body = json.dumps({"messages": TEXTS[: 1 + number % 4], "n": number}).encode()
    return Exchange("POST", "http://a.example/v1", (("accept", "*/*"),), body, 200, (), b"An answer. " * 20, role="r")


def record(path: Path, **cassettes: list[Exchange]) -> None:
    with Store(path, writes=True) as store:
        store.describe({"clock": "2026-11-01", "overrides": ["experiment=e"]})
        for name, exchanges in cassettes.items():
            cassette = store.cassette(f"{name}/1", make=True)
            assert cassette is not None
            for each in exchanges:
                cassette.add(each, cassette.place())
            cassette.mark(whole=True)


def found(path: Path, *values: str) -> list[str]:
    try:
        with Store(path, writes=False) as store:
            return [line.removeprefix(f"{path}: ") for line in findings(store, Redactor(values))]
    except UserError as error:
        return [str(error)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two valid cassettes of ten exchanges each."""
    path = tmp_path / "agent.sqlite"
    record(path, a=[exchange(number) for number in range(10)], b=[exchange(number) for number in range(10, 20)])
    assert found(path) == []
    return path


ANEW = "; delete the file and record it again with cassette=auto, or restore it"
CLOSED = "its contents were changed after it was closed" + ANEW


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE exchanges SET digest = zeroblob(16) WHERE id = 3", [CLOSED, f"a/1: 1 exchange changed {{}}{ANEW}"]),
        ("UPDATE exchanges SET key = zeroblob(16) WHERE id = 3", [CLOSED]),
        ("UPDATE exchanges SET place = 99 WHERE id = 3", [CLOSED]),
        ("UPDATE exchanges SET item = 4 WHERE id = 3", None),
        ("UPDATE exchanges SET cassette = 2 WHERE id = 3", [CLOSED]),
        ("DELETE FROM exchanges WHERE id = 3", None),
        ("UPDATE cassettes SET name = 'c/1' WHERE id = 2", [CLOSED]),
        ("UPDATE about SET value = '\"2027-11-01\"' WHERE name = 'clock'", [CLOSED]),
        ("UPDATE items SET hash = zeroblob(16) WHERE id = 1", [f"1 of 25 texts changed {{}}{ANEW}"]),
        ("UPDATE items SET start = start + 1 WHERE id = 1", None),
        ("UPDATE items SET size = size - 1 WHERE id = 2", None),
        ("UPDATE items SET block = 7 WHERE id = 2", None),
        (
            "UPDATE blocks SET data = zeroblob(9)",
            [
                f"25 of 25 texts changed {{}}{ANEW}",
                *(f"{name}/1: 10 exchanges changed {{}}{ANEW}" for name in "ab"),
            ],
        ),
        ("DELETE FROM blocks", None),
    ],
)
def test_every_change_is_found(path: Path, statement: str, said: list[str] | None) -> None:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute(statement).rowcount == 1
        database.commit()
    lines = found(path)
    assert lines
    assert said is None or lines == [line.format("after being recorded") for line in said]


def test_no_changed_byte_goes_unnoticed_or_ends_in_a_traceback(path: Path) -> None:
    """Except for bytes that carry no data: SQLite's own bookkeeping."""
    whole = path.read_bytes()
    used = [at for at, byte in enumerate(whole) if byte]
    with Store(path, writes=False) as store:
        recorded = [list(store.exchanges(name)) for name in store.names()]
    drawn, unnoticed = random.Random(13), 0
    for _ in range(60):
        at = drawn.choice(used)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << drawn.randrange(8))]) + whole[at + 1 :])
        if not found(path):
            unnoticed += 1
            with Store(path, writes=False) as store:
                assert [list(store.exchanges(name)) for name in store.names()] == recorded
    assert unnoticed < 16


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 9000])
def test_a_truncated_file_is_reported(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    assert found(path)


PLAIN = Exchange("GET", "http://a.example/", status=200, response_body=b"fine")


@pytest.mark.parametrize(
    ("leaking", "place"),
    [
        (replace(PLAIN, url=f"http://a.example/?q={KEY}"), "URL"),
        (replace(PLAIN, request_headers=(("accept", KEY),)), "request's headers"),
        (replace(PLAIN, request_body=f'{{"a": 1, "a": ["{KEY}"], "a": 2}}'.encode()), "request's body"),
        (replace(PLAIN, request_body=f'{{"{KEY}": 1}}'.encode()), "request's body"),
        (replace(PLAIN, response_headers=(("location", f"/?{KEY}"),)), "response's headers"),
        (replace(PLAIN, response_body=b"\xff\xfe" + KEY.encode()), "response's body"),
        (replace(PLAIN, response_body=f"{{not JSON: {KEY}".encode()), "response's body"),
        (
            replace(PLAIN, response_body=f'data: {{"c": "sk-proj-"}}\n\ndata: {{"c": "{KEY[8:]}"}}\n\n'.encode()),
            "response's body",
        ),
        (replace(PLAIN, status=None, error=f"ConnectError: no {KEY}"), "error"),
    ],
)
def test_a_secret_is_found_wherever_it_is(tmp_path: Path, leaking: Exchange, place: str) -> None:
    path = tmp_path / "agent.sqlite"
    record(path, a=[PLAIN], b=[PLAIN, leaking, leaking])
    remedy = "revoke it, and record again with cassette=record"
    assert found(path) == [f"b/1: a secret (model key) in the {place} of 2 exchanges; {remedy}"]


def test_secrets_are_found_in_encoded_values_and_in_the_recorded_settings(tmp_path: Path) -> None:
    path, secret = tmp_path / "agent.sqlite", "correct-horse-battery"
    record(path, a=[replace(PLAIN, response_body=b64encode(secret.encode())), replace(PLAIN, url=f"http://{MARK}/")])
    with Store(path, writes=True) as store:
        store.describe({"overrides": [f"llm.extra_body.key={KEY}"], "changed": True})
        store.forget([])
    assert found(path) == [f"a secret (model key) in the run's settings or a name; revoke it{ANEW.replace(';', ',')}"]
    (value, _) = found(path, secret)
    assert value.startswith("a/1: a secret (value of a variable) in the response's body of 1 exchange; ")


def test_incomplete_recordings_and_orphaned_texts_are_reported(path: Path) -> None:
    with Store(path, writes=True) as store:
        cassette = store.cassette("a/1")
        assert cassette is not None
        cassette.mark(whole=False)
    with closing(sqlite3.connect(path)) as database:  # as a killed process leaves it
        database.execute("DELETE FROM exchanges WHERE cassette = 2")
        database.execute("DELETE FROM about WHERE name = 'digest'")
        database.commit()
    cut = "a/1: its recording was cut off; complete it with cassette=auto"
    assert found(path) == [
        cut,
        f"10 texts without an exchange; `aiq cassettes forget {path.parent}` deletes what is not referred to",
    ]
    with Store(path, writes=True) as store:
        store.forget([])
    assert found(path) == [cut]
    with Store(path, writes=True) as store:
        store.forget(["a/1", "b/1"])
    assert found(path) == []
    with Store(path, writes=False) as store:
        assert store.names() == {}
        assert store.rows("SELECT count(*) FROM items") == [(0,)]
