"""Events in SQLite: one narrow table to count and sort, the documents beside it, and a full-text index.

Documents are only ever added, and each gets the next `seq`. SQLite admits one writer at a time, which takes its numbers
within its transaction, so a reader that sees a number sees all smaller ones. A point in time is therefore a number: a
scan that skips higher numbers sees the same documents on every page, whatever is added meanwhile.
"""
# ruff: noqa: S608  columns are quoted names of fields, which are words; values are parameters

import gzip
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import anyio.to_thread

from aiq.core.errors import ConfigError, DatasetError, ToolError, ToolErrorKind
from aiq.core.files import Row, jsonl_rows
from aiq.tools.mcp.events import (
    AnalyzeEvents,
    Answer,
    Bucket,
    Condition,
    Document,
    EventFields,
    Interval,
    Level,
    Query,
    Scalar,
    answer,
    answer_document,
    fault,
    keyword,
    value_at,
)
from aiq.tools.ranking import UNSPACED

_PERIOD: Mapping[Interval, str] = {
    "year": "substr({}, 1, 4)",
    "quarter": "substr({0}, 1, 4) || '-Q' || ((substr({0}, 6, 2) + 2) / 3)",
    "month": "substr({}, 1, 7)",
    "week": "date({}, '-6 days', 'weekday 1')",
    "day": "{}",
}
"""SQL for the period of a day; a week is named after its Monday."""
_CHARACTER = re.compile(f"([{UNSPACED}])")
_OPERATORS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

Where = tuple[str, tuple[Scalar, ...]]
"""A condition in SQL and its values."""
Keys = tuple[Scalar, ...]
"""The keys of a bucket and of the buckets that contain it, outermost first."""


class SqliteEvents:
    """A collection in memory, or in a file that other processes may add to."""

    def __init__(self, fields: EventFields, db: str | Path = ":memory:") -> None:
        """Raises ConfigError for a file that is not a collection with these fields."""
        self.fields = fields
        self._lock = Lock()
        columns = ", ".join(f"{_column(name)} {'REAL' if name in fields.numbers else 'TEXT'}" for name in fields.paths)
        try:
            self._db = sqlite3.connect(db, check_same_thread=False, isolation_level=None, timeout=60)
            self._db.executescript(f"""
                PRAGMA journal_mode = WAL;
                BEGIN IMMEDIATE;
                CREATE TABLE IF NOT EXISTS made (fields TEXT);
                CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY AUTOINCREMENT, {columns});
                CREATE TABLE IF NOT EXISTS document (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
                CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5(text, content='', tokenize='porter unicode61');
                COMMIT;
            """)
            schema = fields.model_dump_json()
            self._db.execute("INSERT INTO made SELECT ? WHERE NOT EXISTS (SELECT 1 FROM made)", (schema,))
            if self._rows("SELECT fields FROM made", ()) != [(schema,)]:
                raise ConfigError(f"events.db={db} was made with other events.fields; delete it, or name another file")
            for name, index_columns in (("by_date", f"{_column(fields.date)}, seq"), ("by_id", _column("id"))):
                self._db.execute(f"CREATE INDEX IF NOT EXISTS {name} ON event ({index_columns})")
        except sqlite3.Error as error:
            raise ConfigError(f"events.db={db} cannot be used ({error}); name another file") from None
        self._totals = lru_cache(256)(self._count)  # at a point in time they do not change

    def close(self) -> None:
        self._db.close()

    def add(self, rows: Iterable[Row]) -> int:
        """Add the documents with new ids, all or none; returns how many. Raises DatasetError."""
        columns = ", ".join(map(_column, self.fields.paths))
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            last_seq: int = self._db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0]
            added = 0
            for row in rows:
                document = dict(row.values)
                cells = [self._cell(document, name, row.where) for name in self.fields.paths]
                cursor = self._db.execute(
                    f"INSERT INTO event ({columns}) SELECT {_placeholders(cells)} "
                    f"WHERE NOT EXISTS (SELECT 1 FROM event WHERE {_column('id')} = ? AND seq <= ?)",
                    (*cells, cells[0], last_seq),
                )
                if cursor.rowcount:
                    added += 1
                    values = (value_at(document, path) for path in self.fields.text)
                    text = _spaced("\n".join(keyword(value) for value in values if value is not None))
                    body = json.dumps(document, ensure_ascii=False)
                    self._db.execute("INSERT INTO document VALUES (?, ?)", (cursor.lastrowid, body))
                    self._db.execute("INSERT INTO word (rowid, text) VALUES (?, ?)", (cursor.lastrowid, text))
        return added

    def _cell(self, document: Document, name: str, where: str) -> Scalar | None:
        """A document's value of a field: numbers as they are, dates as days, everything else as text."""
        path, is_date = self.fields.paths[name], name in self.fields.dates
        value = value_at(document, path)
        if isinstance(value, list | dict):
            raise DatasetError(f"{where}: {path} is not a single value; leave it out of events.fields")
        if value is None or value == "":
            if name in ("id", self.fields.date):
                raise DatasetError(f"{where}: no {path}; every event needs one")
            return None
        if name in self.fields.numbers:
            if isinstance(value, str | bool):
                raise DatasetError(f"{where}: {path} is not a number")
            return value
        text = keyword(value)
        if is_date and not re.match(r"\d{4}-\d\d-\d\d", text):
            raise DatasetError(f"{where}: {path} is not a date of the form 2025-03-09")
        return text[:10] if is_date else text

    async def analyze(self, query: Query) -> Answer:
        try:
            return await anyio.to_thread.run_sync(self._analyze, query)
        except (sqlite3.Error, OverflowError) as error:  # too many values, or one that is too large
            raise ToolError(ToolErrorKind.FAILED, f"the collection cannot answer this: {error}") from None

    async def bounds(self, field: str) -> tuple[Scalar | None, Scalar | None]:
        least, greatest = self._rows(f"SELECT min({_column(field)}), max({_column(field)}) FROM event", ())[0]
        return least, greatest

    def _analyze(self, query: Query) -> Answer:
        pit: int = self._rows("SELECT coalesce(max(seq), 0) FROM event", ())[0][0]
        if pit_id := query.call.pit_id:
            if not pit_id.isdecimal():
                raise fault("pit_id is none of this collection; give back pagination.pit_id of a page, or leave it out")
            pit = min(pit, int(pit_id))
        conditions = [_condition(condition) for condition in query.conditions]
        where = _conjunction([*conditions, *_words(query.call.query), ("seq <= ?", (pit,))])
        page, after = self._page(where, query)
        groups = (
            self._buckets(where, query.group_by, query.call, query.call.samples_per_bucket) if query.group_by else ()
        )
        periods = self._buckets(where, (query.histogram,), query.call, 0) if query.histogram else ()
        return answer(query, self._totals(where), page, after, str(pit), groups, periods)

    def _count(self, where: Where) -> tuple[int, int]:
        """The number of documents and of events."""
        counts = f"COUNT(*), COUNT(DISTINCT {_column('id')})"
        documents, events = self._rows(f"SELECT {counts} FROM event WHERE {where[0]}", where[1])[0]
        return documents, events

    def _page(self, where: Where, query: Query) -> tuple[list[Document], tuple[Scalar, ...] | None]:
        """The documents after `query.after`, and where the next page begins, if one more can be read."""
        date, size = _column(self.fields.date), query.call.page_size
        if query.after is not None:
            if [type(part) for part in query.after] != [str, int]:
                raise fault("search_after is none of this collection; give back pagination.search_after of a page")
            where = _conjunction([where, (f"({date}, seq) > (?, ?)", query.after)])
        rows = self._rows(
            f"SELECT {date}, seq FROM event WHERE {where[0]} ORDER BY {date}, seq LIMIT {size + 1}", where[1]
        )
        page = rows[:size]
        return self._documents([seq for _, seq in page]), page[-1] if len(rows) > len(page) else None

    def _documents(self, seqs: Sequence[int]) -> list[Document]:
        rows = self._rows(f"SELECT seq, body FROM document WHERE seq IN ({_placeholders(seqs)})", seqs)
        bodies = dict(rows)
        return [answer_document(json.loads(bodies[seq]), self.fields) for seq in seqs]

    def _buckets(self, where: Where, levels: Sequence[Level], call: AnalyzeEvents, samples: int) -> tuple[Bucket, ...]:
        """The most frequent values of the first level, or its periods in order; in each those of the next level."""
        keys = [_key(level) for level in levels]
        tables = [self._table(where, keys[: depth + 1]) for depth in range(len(keys))]
        firsts = self._first_seqs(where, keys, samples) if samples else {}

        def buckets_below(path: Keys) -> tuple[Bucket, ...]:
            level, innermost = levels[len(path)], len(path) + 1 == len(levels)
            rows = sorted(tables[len(path)].get(path, ()))
            if not level.interval:
                rows = sorted(rows, key=lambda row: -row[1])[: call.top_n_per_group if path else call.top_n]
            return tuple(
                Bucket(
                    key=key,
                    count=events,
                    doc_count=documents,
                    samples=tuple(self._documents(firsts.get((*path, key), ()))) if innermost else (),
                    buckets=() if innermost else buckets_below((*path, key)),
                )
                for key, events, documents in rows
            )

        return buckets_below(())

    def _table(self, where: Where, keys: Sequence[str]) -> dict[Keys, list[tuple[Scalar, int, int]]]:
        """Key, events and documents of each bucket of the last key, by the keys before it."""
        table: dict[Keys, list[tuple[Scalar, int, int]]] = {}
        not_null, columns = " AND ".join(f"{key} IS NOT NULL" for key in keys), ", ".join(keys)
        for *path, key, events, documents in self._rows(
            f"SELECT {columns}, COUNT(DISTINCT {_column('id')}), COUNT(*) FROM event "
            f"WHERE {where[0]} AND {not_null} GROUP BY {columns}",
            where[1],
        ):
            table.setdefault(tuple(path), []).append((key, events, documents))
        return table

    def _first_seqs(self, where: Where, keys: Sequence[str], count: int) -> dict[Keys, list[int]]:
        """The first documents of each bucket."""
        firsts: dict[Keys, list[int]] = {}
        columns = ", ".join(keys)
        place = f"ROW_NUMBER() OVER (PARTITION BY {columns} ORDER BY {_column(self.fields.date)}, seq) AS place"
        numbered = f"SELECT {columns}, seq, {place} FROM event WHERE {where[0]}"
        for *path, seq, _ in self._rows(f"SELECT * FROM ({numbered}) WHERE place <= {count} ORDER BY place", where[1]):
            firsts.setdefault(tuple(path), []).append(seq)
        return firsts

    def _rows(self, sql: str, values: Sequence[Scalar]) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()


def read_events(path: Path) -> Iterator[Row]:
    """The rows of a JSONL file, gzipped or not, one at a time. Raises DatasetError."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if is_packed else open)(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield from jsonl_rows(line, f"{path}, line {number}")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read ({error}); check events.events") from None


def _condition(condition: Condition) -> Where:
    column = _column(condition.field)
    if condition.values:
        return f"{column} IN ({_placeholders(condition.values)})", condition.values
    spans = [
        _conjunction([(f"{column} {_OPERATORS[bound]} ?", (value,)) for bound, value in span.items()])
        for span in condition.spans
    ]
    return f"({' OR '.join(sql for sql, _ in spans)})", tuple(value for _, values in spans for value in values)


def _words(query: str) -> Iterator[Where]:
    """The condition that a document has all words of the query; none if the query is empty."""
    if query.strip():
        words = " ".join(f'"{_spaced(word)}"' for word in re.findall(r"\w+", query))
        if not words:
            raise fault(f"query={query!r} has no word to look for")
        yield "seq IN (SELECT rowid FROM word WHERE word MATCH ?)", (words,)


def _spaced(text: str) -> str:
    """The text with blanks around each character of scripts without spaces, as the index takes a run for one word."""
    return _CHARACTER.sub(r" \1 ", text)


def _conjunction(conditions: Iterable[Where]) -> Where:
    parts = list(conditions)
    return " AND ".join(sql for sql, _ in parts), tuple(value for _, values in parts for value in values)


def _key(level: Level) -> str:
    return _PERIOD[level.interval].format(_column(level.field)) if level.interval else _column(level.field)


def _column(name: str) -> str:
    return f'"f_{name}"'


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
