"""Literal cases, one JSON value a line, kept beside the tests that read them."""

import json
from pathlib import Path
from typing import Any


def rows(name: str, *kinds: str) -> list[Any]:
    """The rows of a file; with kinds, what follows the kind in those rows that begin with one of them."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").split("\n")
    found = [json.loads(line) for line in lines if line]
    return [row[1:] for row in found if row[0] in kinds] if kinds else found
