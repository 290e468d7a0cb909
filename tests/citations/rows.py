"""Reads literal cases, one JSON value per line, from files beside the tests."""

import json
from pathlib import Path
from typing import Any


def rows(name: str, *kinds: str) -> list[Any]:
    """The rows of a file; with `kinds`, the rest of each row that begins with one of these kinds."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").split("\n")
    values = [json.loads(line) for line in lines if line]
    return [row[1:] for row in values if row[0] in kinds] if kinds else values
