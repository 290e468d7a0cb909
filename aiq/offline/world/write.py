"""Writes the world's files: UTF-8, one JSON object a line, keys in a fixed order, `\\n` at every line's end."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel


def jsonl(path: Path, rows: Iterable[BaseModel | Mapping[str, Any]]) -> None:
    """One line per row, in the order of the model's fields or the mapping's keys; None is left out of models."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            value = row.model_dump(mode="json", exclude_none=True) if isinstance(row, BaseModel) else row
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
