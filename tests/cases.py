"""Test cases as data: JSONL files beside the tests, each row naming its group in `of`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")]


def group(module: str, name: str) -> list[dict[str, Any]]:
    """The rows of a group in the JSONL beside a test module (`__file__`), without `of`."""
    cases = rows(Path(module).with_suffix(".jsonl"))
    return [{key: value for key, value in row.items() if key != "of"} for row in cases if row["of"] == name]


def table(module: str) -> Callable[[str], pytest.MarkDecorator]:
    """`each = table(__file__)`: decorated with `@each(name)`, a test runs once for every row of that group.

    `is` (optional) is the id of the case; the other keys of a row are the test's arguments.
    """

    def each(name: str) -> pytest.MarkDecorator:
        group_rows = group(module, name)
        names = [key for key in group_rows[0] if key != "is"]
        cases = [pytest.param(*(row[key] for key in names), id=row.get("is")) for row in group_rows]
        return pytest.mark.parametrize(names, cases)

    return each
