"""Cassette files: what goes in comes out, in order, whatever it is and however the file was left."""

import json
import resource
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.cassettes import store as stores
from aiq.cassettes.exchange import Exchange
from aiq.cassettes.store import Cassette, Store
from aiq.core.errors import UserError
from tests.cassettes.exchanges import answered, asked, unpacked

LONG = "a text of more than a hundred characters, as prompts and pages are, " * 2
STYLES: list[dict[str, Any]] = [
    {},
    {"separators": (",", ":")},
    {"ensure_ascii": False},
    {"indent": 2},
    {"sort_keys": True},
]
TEXT = st.text() | st.sampled_from([LONG, "\x00", "\x00:1", "\x00=", f"\x00:{LONG}", "\ud800", LONG + "\udfff", ""])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)
HEADERS = st.lists(st.tuples(st.text(), st.text()), max_size=3).map(tuple)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    if draw(st.booleans()):
        return draw(st.binary())
    text = json.dumps(draw(VALUE), **draw(st.sampled_from(STYLES)))
    return text.encode("utf-8", "surrogatepass")


EXCHANGES = st.builds(
    Exchange,
    method=st.sampled_from(["GET", "POST", "TOOL"]),
    url=st.sampled_from(["https://a.example/", "tool:///mine"]),
    request_headers=HEADERS,
    request_body=bodies(),
    status=st.none() | st.integers(100, 599),
    response_headers=HEADERS,
    response_body=bodies(),
    error=st.none() | st.text(min_size=1),
    role=st.text(),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "below" / "agent.sqlite"


def keep(cassette: Cassette, *exchanges: Exchange) -> None:
    for exchange in exchanges:
        cassette.add(exchange, cassette.place())


def opened(store: Store, name: str = "s1/1") -> Cassette:
    cassette = store.cassette(name, make=True)
    assert cassette is not None
    return cassette


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path, writes=True) as store:
        yield store


def kept(path: Path, name: str = "s1/1") -> list[Exchange]:
    with Store(path, writes=False) as store:
        return list(store.exchanges(name))


def answers(cassette: Cassette, request: Exchange, times: int) -> list[bytes | None]:
    exchanges = [cassette.take(request) for _ in range(times)]
    return [None if exchange is None else exchange.response_body for exchange in exchanges]


@settings(max_examples=25)
@given(st.lists(EXCHANGES, max_size=5))
def test_every_exchange_is_read_back_unchanged(tmp_path_factory: pytest.TempPathFactory, given: list[Exchange]) -> None:
    path = tmp_path_factory.mktemp("store") / "agent.sqlite"
    with Store(path, writes=True) as store:
        keep(opened(store), *given)
        assert list(store.exchanges("s1/1")) == given
    assert kept(path) == given
    with Store(path, writes=False) as store:
        cassette = opened_again(store)
        for exchange in given:
            recorded = cassette.take(asked(exchange.request_body, exchange.url, exchange.method))
            assert recorded is not None
            assert recorded.request_body == exchange.request_body


def opened_again(store: Store) -> Cassette:
    cassette = store.cassette("s1/1")
    assert cassette is not None
    return cassette


@pytest.mark.parametrize("body", [b"[" * 480 + b"]" * 480, b'{"a":' * 990 + b"1" + b"}" * 990, b"[" * 5000])
def test_deeply_nested_json_is_kept_and_harms_nothing_after_it(store: Store, body: bytes) -> None:
    hostile = Exchange("GET", "https://a.example/", status=200, response_body=body)
    cassette = opened(store)
    keep(cassette, hostile, answered({"a": 1}, "after"))
    assert list(cassette.exchanges()) == [hostile, answered({"a": 1}, "after")]


def test_equal_requests_are_answered_in_the_order_in_which_they_were_made(path: Path) -> None:
    with Store(path, writes=True) as store:
        cassette = opened(store)
        places = [cassette.place() for _ in range(3)]
        for place, answer in ((places[2], "third"), (places[0], "first"), (places[1], "second")):
            cassette.add(answered({"q": 1}, answer), place)
        keep(cassette, answered({"q": 2}, "other"))
    with Store(path, writes=False) as store:
        cassette = opened_again(store)
        assert answers(cassette, asked({"q": 2}), 2) == [b"other", None]
        assert cassette.unused() == 3
        assert answers(cassette, asked(b'{ "q" : 1 }'), 4) == [b"first", b"second", b"third", None]
        assert answers(cassette, asked({"q": 3}), 1) == [None]
        assert cassette.unused() == 0


def test_recording_a_request_again_replaces_all_its_earlier_exchanges(path: Path) -> None:
    for turn in ("old", "new"):
        with Store(path, writes=True) as store:
            cassette = opened(store)
            keep(cassette, *(answered({"q": 1}, f"{turn} {number}") for number in (1, 2)))
            if turn == "old":
                keep(cassette, answered({"q": 2}, "untouched"))
    assert [exchange.response_body for exchange in kept(path)] == [b"untouched", b"new 1", b"new 2"]
    assert not any(b"old" in data for data in unpacked(path))


def test_unused_exchanges_are_deleted_with_their_texts_and_the_rest_stays(path: Path) -> None:
    shared, deleted = f"shared {LONG}", f"gone {LONG}"
    for number in range(3):
        with Store(path, writes=True) as store:
            keep(opened(store), answered({"q": number, "text": shared}, deleted if number == 1 else "kept"))
    size = path.stat().st_size
    with Store(path, writes=True) as store:
        cassette = opened(store)
        for number in (0, 2):
            assert answers(cassette, asked({"q": number, "text": shared}), 1) == [b"kept"]
        cassette.drop_unused()
        assert cassette.unused() == 0
    assert [exchange.response_body for exchange in kept(path)] == [b"kept", b"kept"]
    assert not any(deleted.encode() in data for data in unpacked(path))
    assert sum(shared.encode() in data for data in unpacked(path)) == 1
    assert path.stat().st_size <= size


def test_blocks_are_filled_and_each_text_is_stored_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "BLOCK_BYTES", 1000)
    exchanges = [answered({"q": number, "text": LONG}, f"{number} {LONG}") for number in range(20)]
    with Store(path, writes=True) as store:
        keep(opened(store), *exchanges)
    assert kept(path) == exchanges
    assert [file.name for file in path.parent.iterdir()] == ["agent.sqlite"]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM items WHERE block IS NULL").fetchone() == (0,)
        assert database.execute("SELECT count(*) > 3 FROM blocks").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM items WHERE size = ?", (len(LONG),)).fetchone() == (1,)


def test_a_file_is_byte_identical_if_nothing_is_added(path: Path) -> None:
    with Store(path, writes=True, ignored=["id"]) as store:
        store.describe({"clock": "then"})
        keep(opened(store), answered({"q": 1}, "one"))
    before = path.read_bytes()
    for writes in (True, False):
        with Store(path, writes=writes) as store:
            assert store.ignored == {"id"}
            assert answers(opened_again(store), asked({"q": 1, "id": 7}), 1) == [b"one"]
            assert store.cassette("s2/1") is None
    assert path.read_bytes() == before


def test_two_recordings_into_one_file_are_both_kept(path: Path) -> None:
    with Store(path, writes=True) as first, Store(path, writes=True) as second:
        for number in range(5):
            keep(opened(first, "s1/1"), answered({"q": number}, f"one {number}"))
            keep(opened(second, "s2/1"), answered({"q": number}, f"other {number}"))
        assert second.cassette("s1/1") is not None
    with Store(path, writes=False) as store:
        assert store.names() == {"s1/1": False, "s2/1": False}
    for name, writer in (("s1/1", "one"), ("s2/1", "other")):
        assert [exchange.response_body.decode() for exchange in kept(path, name)] == [f"{writer} {n}" for n in range(5)]


def test_two_runs_can_record_at_once(path: Path) -> None:
    def record(name: str) -> None:
        with Store(path, writes=True) as store:
            keep(opened(store, name), *(answered({"q": number}, f"{LONG} {name} {number}") for number in range(100)))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(record, ("s1/1", "s2/1")))
    assert [len(kept(path, name)) for name in ("s1/1", "s2/1")] == [100, 100]


def test_a_reader_is_not_disturbed_by_a_writer(path: Path) -> None:
    with Store(path, writes=True) as store:
        keep(opened(store), *(answered({"q": number}, f"{LONG} {number}") for number in range(3)))
    with Store(path, writes=False) as reader:
        cassette = opened_again(reader)
        assert cassette.take(asked({"q": 0})) is not None
        with Store(path, writes=True) as writer:
            keep(opened(writer), answered({"q": 9}, "more"))
        assert answers(cassette, asked({"q": 1}), 1) == [f"{LONG} 1".encode()]
    assert len(kept(path)) == 4


def test_a_file_left_by_a_kill_is_readable_and_packed_by_the_next_writer(path: Path) -> None:
    store = Store(path, writes=True)
    keep(opened(store), answered({"q": 1}, LONG))
    copy = path.parent / "copy"
    copy.mkdir()
    for file in list(path.parent.glob("agent.sqlite*")):
        (copy / file.name).write_bytes(file.read_bytes())
    store.close()
    killed = copy / "agent.sqlite"
    assert kept(killed) == kept(path)
    with Store(killed, writes=True) as writer:
        keep(opened(writer), answered({"q": 2}, LONG))
    assert [file.name for file in copy.iterdir()] == ["agent.sqlite"]
    assert len(kept(killed)) == 2


@pytest.mark.parametrize("table", ["exchanges", "items", "blocks"])
def test_changes_after_recording_are_detected(path: Path, table: str) -> None:
    with Store(path, writes=True) as store:
        keep(opened(store), answered({"q": 1}, LONG))
    with closing(sqlite3.connect(path)) as database:
        if table == "blocks":
            database.execute("UPDATE blocks SET data = substr(data, 1, 40)")
        elif table == "items":
            database.execute("UPDATE items SET start = start + 1 WHERE start > 0")
        else:
            database.execute("UPDATE exchanges SET digest = ?", (bytes(16),))
        database.commit()
    with pytest.raises(UserError, match="was changed after it was recorded; delete the file and record it again"):
        kept(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "record one with cassette=record"),
        (b"no database" * 100, "record it again"),
        (b"", "record one with cassette=record"),
    ],
)
def test_a_missing_or_invalid_file_is_reported_with_the_remedy(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "agent.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        Store(path, writes=False)
    assert str(path) in str(caught.value)


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    with pytest.raises(UserError, match=r"file: cannot be created \(.*\); name another folder"):
        Store(tmp_path / "file" / "agent.sqlite", writes=True)


def test_a_full_disk_is_reported(path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # as on a full disk
    try:
        with pytest.raises(UserError, match=r"cannot be written \(disk I/O error\)$"):
            Store(path, writes=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_recording_of_a_later_version_asks_for_an_update(path: Path) -> None:
    with Store(path, writes=True) as store:
        store.describe({"version": 99})
    with pytest.raises(UserError, match="by a later aiq"):
        Store(path, writes=True)
