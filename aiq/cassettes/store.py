"""Cassettes on disk: one SQLite file holds those of all samples, with each longer text once, compressed together.

A file is read piece by piece: a cassette's keys when its sample begins, an exchange when it is requested. Each
exchange is written in a transaction, so a process that is killed loses only what was in flight.
"""

import hashlib
import json
import lzma
import sqlite3
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.match import request_key
from aiq.cassettes.packing import UNREADABLE, pack, references, unpack
from aiq.core.errors import UserError

VERSION: Final = 1

BLOCK_BYTES: Final = 2**19
"""Items compressed together when a file is closed: about ten times smaller than each by itself, and about 5 ms to
read."""

_DIGEST: Final = "digest"  # in `about`: the digest of all that _CONTENTS finds, absent while the file is written
_CACHED_BLOCKS: Final = 8  # those read last: an exchange and its texts were written at about the same time
_DISK_ERRORS: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cassettes (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, whole INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS exchanges (
    id INTEGER PRIMARY KEY, cassette INTEGER NOT NULL, place INTEGER NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL,
    item INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS exchanges_of ON exchanges (cassette);
CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, data BLOB, block INTEGER, start INTEGER, size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
"""
"""An item is a text or an exchange in JSON: `data` itself, or `size` bytes from `start` in an unpacked block."""


_CONTENTS: Final = (
    "SELECT * FROM about WHERE name != 'digest' ORDER BY name",
    "SELECT * FROM cassettes ORDER BY id",
    "SELECT id, cassette, place, key, digest FROM exchanges ORDER BY id",
)
RECORD_ANEW: Final = "delete the file and record it again with cassette=auto, or restore it"


class NoRecording(UserError):
    """There is no file, or only an empty one left by a process that was killed."""


class Cassette:
    """The exchanges of one (sample, epoch): equal requests are answered in the order in which they were made."""

    def __init__(self, store: "Store", number: int, name: str, *, whole: bool) -> None:
        self.name, self.ignored = name, store.ignored
        self._store = store
        self._number = number
        self._remaining: dict[bytes, deque[int]] = defaultdict(deque)
        self._next_place = 0
        rows = store.rows("SELECT id, key, place FROM exchanges WHERE cassette = ? ORDER BY place, id", number)
        for row, key, place in rows:
            self._remaining[key].append(row)
            self._next_place = place + 1
        self._new_keys: set[bytes] = set()
        self._whole = whole

    def place(self) -> int:
        """The place of the next request in the order of requests."""
        self._next_place += 1
        return self._next_place - 1

    def take(self, request: Exchange, unless: Callable[[Exchange], bool] | None = None) -> Exchange | None:
        """The next recorded exchange of this request; None if there is none (left).

        Exchanges for which `unless` holds are skipped and deleted.
        """
        rows = self._remaining.get(request_key(request, self._store.ignored))
        while rows:
            row = rows.popleft()
            exchange = self._store.exchange(row)
            if unless is None or not unless(exchange):
                return exchange
            self._store.drop([row])
        return None

    def add(self, exchange: Exchange, place: int) -> None:
        """Store an exchange; the first new one of a request replaces all its earlier ones."""
        self.mark(whole=False)
        key = request_key(exchange, self._store.ignored)
        if key not in self._new_keys:
            self._new_keys.add(key)
            self._store.drop(self._remaining.pop(key, ()))
        self._store.insert(self._number, place, exchange)

    def unused(self) -> int:
        """The number of exchanges that have not been requested since the cassette was opened."""
        return sum(map(len, self._remaining.values()))

    def drop_unused(self) -> None:
        """Delete the exchanges that have not been requested since the cassette was opened."""
        for rows in self._remaining.values():
            self._store.drop(rows)
        self._remaining.clear()

    def exchanges(self) -> Iterator[Exchange]:
        """All exchanges, in the order of requests."""
        return self._store.exchanges(self.name)

    def mark(self, *, whole: bool) -> None:
        """Mark whether all that belongs to the cassette was recorded."""
        if whole != self._whole:
            self._whole = whole
            self._store.write("UPDATE cassettes SET whole = ? WHERE id = ?", int(whole), self._number)


class Store(AbstractContextManager["Store"]):
    """One file of cassettes. Without `writes` it must exist, and is not changed.

    `about`: what the recording says about itself, JSON values by name. `ignored`: the parts of a request that may vary.
    Raises UserError for a file that is missing (NoRecording), damaged, in use, or of a later version.
    """

    def __init__(self, path: Path, *, writes: bool, ignored: Collection[str] = ()) -> None:
        self.path = path
        self.opened: dict[str, Cassette] = {}
        """The cassettes that were requested."""
        self._changed = False
        self._pending: dict[str, Any] = {}
        self._block = lru_cache(_CACHED_BLOCKS)(self._read_block)
        missing = NoRecording(f"{path}: there is no such recording; record one with cassette=record")
        if not writes and not path.is_file():
            raise missing
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{path.parent}: cannot be created ({error.strerror}); name another folder") from None
        try:
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
            if writes:
                self._database.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            elif not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._database.close()
                raise missing
            self.about: dict[str, Any] = {
                name: json.loads(value) for name, value in self._database.execute("SELECT name, value FROM about")
            }
            self._closing_digest = self.about.pop(_DIGEST, None)
            is_newer = self.about.get("version", VERSION) > VERSION
            self.ignored = frozenset(self.about.get("ignored", ignored))
        except (sqlite3.Error, ValueError, TypeError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK_ERRORS:
                raise UserError(f"{path}: cannot be written ({error})") from None
            raise UserError(f"{path}: not a readable recording ({error}); {RECORD_ANEW}") from None
        if is_newer:
            raise UserError(f"{path}: was recorded by a later aiq (format {self.about['version']}); update aiq")
        if ignored and self.ignored != frozenset(ignored):
            self._database.close()
            message = f"{path}: was recorded with ignored={sorted(self.ignored)}"
            raise UserError(f"{message}; drop your own, or delete the recording and record it again")
        if writes and "version" not in self.about:
            self.describe({"version": VERSION, "ignored": sorted(ignored)})

    def __exit__(self, *_: object) -> None:
        self.close()

    def describe(self, description: Mapping[str, Any]) -> None:
        """Add this to the description of the recording, to be written as soon as anything in the file changes.

        It is written at once if prompts or tools have changed, which may be recorded nowhere else.
        """
        changed = {name: value for name, value in description.items() if self.about.get(name) != value}
        write_now = "clock" not in self.about or not changed.keys().isdisjoint(("prompts", "mcp"))
        self.about |= changed
        self._pending |= changed
        if write_now or self._changed:
            self._write_pending()

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, {}
        for name, value in pending.items():
            self.write("INSERT OR REPLACE INTO about VALUES (?, ?)", name, json.dumps(value, ensure_ascii=False))

    def names(self) -> dict[str, bool]:
        """Every cassette in the file, and whether it is complete."""
        return {name: bool(whole) for name, whole in self.rows("SELECT name, whole FROM cassettes ORDER BY id")}

    def cassette(self, name: str, *, make: bool = False) -> Cassette | None:
        """The cassette of that name, opened once; if there is none it is made (`make`), or None."""
        if name not in self.opened:
            for number, whole in self.rows("SELECT id, whole FROM cassettes WHERE name = ?", name):
                self.opened[name] = Cassette(self, number, name, whole=bool(whole))
        if name not in self.opened and make:
            number = self.write("INSERT INTO cassettes (name, whole) VALUES (?, 0)", name)
            self.opened[name] = Cassette(self, number, name, whole=False)
        return self.opened.get(name)

    def exchanges(self, name: str) -> Iterator[Exchange]:
        """All exchanges of a cassette, in the order of requests."""
        query = (
            "SELECT e.id FROM exchanges e JOIN cassettes c ON c.id = e.cassette WHERE c.name = ? ORDER BY place, e.id"
        )
        for (row,) in self.rows(query, name):
            yield self.exchange(row)

    def exchange(self, row: int) -> Exchange:
        """The exchange of a row. Raises UserError if it differs from what was recorded."""
        digest = None
        try:
            ((item, digest),) = self.rows("SELECT item, digest FROM exchanges WHERE id = ?", row)
            exchange = unpack(self.item(item), self.item)
        except UNREADABLE:
            exchange = None
        if exchange is None or exchange.digest != digest:
            raise self._damage_error(f"exchange {row}")
        return exchange

    def item(self, item: int) -> bytes:
        """A text, or a packed exchange. Raises UserError if it cannot be read."""
        try:
            ((data, block, start, size),) = self.rows("SELECT data, block, start, size FROM items WHERE id = ?", item)
            return zlib.decompress(data) if block is None else self._block(block)[start : start + size]
        except (zlib.error, lzma.LZMAError, ValueError, TypeError, MemoryError):
            raise self._damage_error(f"item {item}") from None

    def _damage_error(self, part: str) -> UserError:
        return UserError(f"{self.path}, {part}: was changed after it was recorded; {RECORD_ANEW}")

    @property
    def is_intact(self) -> bool:
        """Whether the file is as it was when it was closed; True if it was cut off, since that is then unknown."""
        return self._closing_digest in (None, self._digest())

    def _digest(self) -> str:
        """The SHA-256 of its description, its cassettes, and every exchange with its place."""
        digest = hashlib.sha256()
        for query in _CONTENTS:
            digest.update(repr(self.rows(query)).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def _read_block(self, block: int) -> bytes:
        ((data,),) = self.rows("SELECT data FROM blocks WHERE id = ?", block)
        return lzma.decompress(data)

    def insert(self, cassette: int, place: int, exchange: Exchange) -> int:
        """Write an exchange with its texts in one transaction, and return its row."""
        key = request_key(exchange, self.ignored)
        self.write("BEGIN IMMEDIATE")  # so that no other run changes what it reads before it writes
        try:
            item = self._store_item(pack(exchange, self._store_item))
            row = self.write(
                "INSERT INTO exchanges (cassette, place, key, digest, item) VALUES (?, ?, ?, ?, ?)",
                *(cassette, place, key, exchange.digest, item),
            )
            self.write("COMMIT")
        except BaseException:
            self._database.rollback()
            raise
        return row

    def _store_item(self, data: bytes) -> int:
        """The item with these bytes, written unless it exists already."""
        digest = hashlib.sha256(data).digest()[:16]
        for (item,) in self.rows("SELECT id FROM items WHERE hash = ?", digest):
            return int(item)
        statement = "INSERT INTO items (hash, data, size) VALUES (?, ?, ?)"
        return self.write(statement, digest, zlib.compress(data), len(data))

    def drop(self, rows: Collection[int]) -> None:
        for row in rows:
            self.write("DELETE FROM exchanges WHERE id = ?", row)

    def forget(self, names: Collection[str]) -> None:
        """Delete these cassettes and, when the file is closed, what is no longer referred to."""
        for name in names:
            self.write("DELETE FROM cassettes WHERE name = ?", name)
        self.write("DELETE FROM exchanges WHERE cassette NOT IN (SELECT id FROM cassettes)")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that a query finds. Raises UserError for a damaged file."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise UserError(f"{self.path}: cannot be read ({error}); record it again") from None

    def write(self, statement: str, *values: object) -> int:
        """Execute a statement and return the row it wrote. Raises UserError if the disk or another run prevents it."""
        try:
            if not self._changed:
                self._changed = True
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=NORMAL")
                self._database.execute("DELETE FROM about WHERE name = ?", (_DIGEST,))
                self._write_pending()
            return int(self._database.execute(statement, values).lastrowid or 0)
        except sqlite3.Error as error:
            raise UserError(f"{self.path}: cannot be written ({error}); what was recorded before is kept") from None

    def close(self) -> None:
        """If anything has changed, delete what is not needed, compress what is new, and leave a single file."""
        try:
            if self._changed:
                self.write("BEGIN IMMEDIATE")
                self._drop_unreferenced()
                self._compress()
                self.write("INSERT OR REPLACE INTO about VALUES (?, ?)", _DIGEST, json.dumps(self._digest()))
                self.write("COMMIT")
                self._database.execute("PRAGMA busy_timeout=0")  # waiting for others would hold them up
                self._database.execute("PRAGMA journal_mode=DELETE")
                self._database.execute("VACUUM")
        except (UserError, sqlite3.Error):
            pass  # somebody else reads it, or the disk is full: it stays larger than necessary, but complete
        finally:
            self._database.close()

    def referenced_items(self) -> set[int]:
        """The items that exchanges refer to."""
        needed: set[int] = set()
        for (item,) in self.rows("SELECT DISTINCT item FROM exchanges ORDER BY item"):
            needed.update((item, *references(self.item(item))))
        return needed

    def _drop_unreferenced(self) -> None:
        """Delete the items that no exchange refers to any more, and unpack what is left of their blocks."""
        needed, kept, changed_blocks = self.referenced_items(), defaultdict(list), set()
        for item, block in self.rows("SELECT id, block FROM items"):
            if item in needed:
                kept[block].append(item)
            else:
                changed_blocks.add(block)
                self.write("DELETE FROM items WHERE id = ?", item)
        for block in changed_blocks - {None}:
            for item in kept[block]:
                data = zlib.compress(self.item(item))
                self.write("UPDATE items SET data = ?, block = NULL WHERE id = ?", data, item)
            self.write("DELETE FROM blocks WHERE id = ?", block)

    def _compress(self) -> None:
        """Compress the items that are not in a block yet, block by block."""
        loose = self.rows("SELECT id FROM items WHERE block IS NULL ORDER BY id")
        data, items = bytearray(), []
        for number, (item,) in enumerate(loose, start=1):
            items.append((item, len(data)))
            data += self.item(item)
            if len(data) >= BLOCK_BYTES or number == len(loose):
                block = self.write("INSERT INTO blocks (data) VALUES (?)", lzma.compress(data))
                for packed, start in items:
                    self.write("UPDATE items SET data = NULL, block = ?, start = ? WHERE id = ?", block, start, packed)
                data.clear()
                items.clear()
