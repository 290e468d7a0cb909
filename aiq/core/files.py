"""Rows of dataset files (CSV, JSON, JSONL, also gzipped) with their location, shipped files, and writing files."""

import csv
import errno
import gzip
import hashlib
import io
import json
import math
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from aiq.core.errors import DatasetError, UserError
from aiq.core.text import utf8_safe_json


class Files:
    """The files of one dataset; their digest identifies it in a run's manifest."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the digests of all files read so far, as they are on disk, in the order of reading."""
        return self._digest.hexdigest()

    def text(self, path: Path, setting: str, encoding: str = "utf-8-sig") -> str:
        """The file's text; `setting` is the config key that named it. Raises DatasetError."""
        try:
            data = path.read_bytes()
            self.count(data)
            if data[:2] == b"\x1f\x8b":
                data = gzip.decompress(data)
            return data.decode(encoding)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise DatasetError(f"{path} is not a complete gzip file; fetch it again") from None
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error.strerror}); check {setting}") from None
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise DatasetError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None

    def count(self, data: bytes) -> None:
        """Add these bytes to the fingerprint."""
        self._digest.update(hashlib.sha256(data).digest())


def find(folder: Path, *names: str) -> Path | None:
    """The first of the names that exists in the folder, plain or with `.gz`."""
    candidates = (folder / f"{name}{suffix}" for name in names for suffix in ("", ".gz"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def as_text(value: JsonValue) -> str:
    """A cell as a spreadsheet shows it: None and NaN are empty, booleans TRUE and FALSE, whole floats without `.0`."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `where` names file and row as a spreadsheet or an editor numbers it."""

    where: str
    values: Mapping[str, JsonValue]

    def text(self, name: str) -> str:
        """The value as text without surrounding blanks; empty if there is none."""
        return as_text(self.values.get(name))

    def required(self, name: str) -> str:
        """Like `text`; raises DatasetError if it is empty."""
        text = self.text(name)
        if not text:
            raise DatasetError(f"{self.where}: no {name}; fill it in or delete the row")
        return text

    def matches(self, question: str) -> bool:
        """Whether its `prompt` or `question` equals this one except for white space, or it has neither."""
        prompt = self.text("prompt") or self.text("question")
        return not prompt or prompt.split() == question.split()


def read_rows(files: Files, path: Path, setting: str, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a `.csv`, `.json` or `.jsonl` file (also `.gz`), which is read at once; column names in lower case.

    `columns` are those that the header of a CSV file must have. Raises DatasetError.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in (".csv", ".json", ".jsonl"):
        raise DatasetError(f"{path}: expected a .csv, .json or .jsonl file (or one of these with .gz); check {setting}")
    text, name = files.text(path, setting), str(path)
    if suffix == ".csv":
        rows = _csv_rows(text, name, columns)
    else:
        rows = map(_lowercase_names, _json_rows(text, name) if suffix == ".json" else jsonl_rows(text, name))
    if (first := next(rows, None)) is None:
        raise DatasetError(f"{path} has no rows; check {setting}")
    return chain((first,), rows)


def distinct(rows: Iterable[Row], key: str) -> Iterator[Row]:
    """The rows unchanged. Raises DatasetError, naming both, if two have the same `key`."""
    places: dict[str, str] = {}
    for row in rows:
        value = row.text(key)
        if value and places.setdefault(value, row.where) != row.where:
            raise DatasetError(f"{row.where}: {key} {value} is already in {places[value]}; keep one")
        yield row


def _csv_rows(text: str, name: str, columns: Sequence[str]) -> Iterator[Row]:
    """The rows below the header, which may have other rows above it; empty rows are skipped.

    Rows are counted as in a spreadsheet: from 1, a cell with line breaks being one row. A row may end before optional
    columns: Excel may leave out the empty cells at its end.
    """
    header: list[str] | None = None
    number = 0
    csv.field_size_limit(sys.maxsize)  # a report in a cell may exceed the default of 131,072 characters
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), strict=True), start=1):
            where = f"{name}, row {number}"
            if header is None:
                header = _header([cell.strip().lower() for cell in cells], where, columns)
            elif any(cell.strip() for cell in cells[len(header) :]):
                raise DatasetError(f"{where}: more cells than the header has columns; check its quotes")
            elif any(cell.strip() for cell in cells):
                if absent := {*columns} & {*header[len(cells) :]}:  # an unquoted line break, or a truncated file
                    raise DatasetError(f"{where}: the row ends before {' and '.join(sorted(absent))}; check its quotes")
                yield Row(where, dict(zip(header, cells, strict=False)))
    except csv.Error as error:
        raise DatasetError(f"{name}, row {number + 1}: not readable as CSV ({error}); check its quotes") from None
    if header is None:
        raise DatasetError(f"{name}: no header row with {', '.join(columns)}, separated by commas; add one")


def _header(names: list[str], where: str, columns: Sequence[str]) -> list[str] | None:
    """The names if they are a header: two of the columns, or the only one, are among them. Raises DatasetError."""
    missing = [column for column in columns if column not in names]
    if len(columns) - len(missing) < min(2, len(columns)):
        return None
    if missing:
        raise DatasetError(f"{where}: the header lacks the column {', '.join(missing)}; add it")
    duplicate = next((column for column in names if column and names.count(column) > 1), None)
    if duplicate:
        raise DatasetError(f"{where}: there are two columns {duplicate}; rename one")
    return names


def _lowercase_names(row: Row) -> Row:
    """The row with names in lower case, as a header has them. Raises DatasetError if two are the same."""
    _header(names := [name.strip().lower() for name in row.values], row.where, ())
    return Row(row.where, dict(zip(names, row.values.values(), strict=True)))


def _json_rows(text: str, name: str) -> Iterator[Row]:
    """The objects of a JSON list."""
    value = parsed_json(text, name)
    if not isinstance(value, list):
        raise DatasetError(f"{name}: expected a JSON list of objects")
    for number, item in enumerate(value, start=1):
        yield _object(item, f"{name}, item {number}")


def jsonl_rows(text: str, name: str) -> Iterator[Row]:
    """One object per line; blank lines are skipped."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            yield _object(parsed_json(line, where), where)


def parsed_json(text: str, where: str) -> Any:
    """The value of a JSON text. Raises DatasetError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        detail = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise DatasetError(f"{where}: not valid JSON ({detail}); fix or delete it") from None
    if r"\u" in text and json.loads(utf8_safe_json(text.encode())) != value:
        raise DatasetError(f"{where}: an escape (\\ud...) spells half a character; fix or delete it")
    return value


def _object(value: JsonValue, where: str) -> Row:
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected a JSON object")
    return Row(where, value)


_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str) -> Path:
    """The folder `conf` or `benchmarks` (or a path below it) that came with aiq: beside the package, or in a wheel."""
    bundled = _PACKAGE / "_shipped" / name
    return bundled if bundled.exists() else _PACKAGE.parent / name


def resolve(path: str) -> Path:
    """A path from config as it is, or the shipped file if it starts with `benchmarks/` and does not exist here."""
    local = Path(path).expanduser()
    if not local.exists() and path.startswith("benchmarks/") and shipped(path).exists():
        return shipped(path)
    return local


def write_text(path: Path, text: str, *, append: bool = False) -> None:
    """Write a file and create its folders, line ends as they are; half a surrogate pair becomes `?`.

    Raises UserError if that is impossible.
    """
    check_outputs(path)
    try:
        with path.open("ab" if append else "wb") as file:
            file.write(text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise _unwritable(path, error.strerror) from None


def check_outputs(*paths: Path | None) -> None:
    """Create the folders of output files. Raises UserError, before any work is lost, if one cannot be written."""
    for path in filter(None, paths):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise _unwritable(path, os.strerror(errno.ENOTDIR)) from None
        except OSError as error:
            raise _unwritable(path, error.strerror) from None
        if path.is_dir():
            raise _unwritable(path, os.strerror(errno.EISDIR))
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise _unwritable(path, os.strerror(errno.EACCES))


def _unwritable(path: Path, reason: str | None) -> UserError:
    return UserError(f"{path}: cannot be written ({reason}); choose another place")
