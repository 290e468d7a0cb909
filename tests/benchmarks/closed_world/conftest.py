"""The shipped world, generated anew, and its parts."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.samples import TruthRow
from benchmarks.closed_world.__main__ import generate
from benchmarks.closed_world.entities import World
from benchmarks.closed_world.facts import build_world
from benchmarks.closed_world.pages import Page

EVENTS = 240


class Made:
    """A folder that the generator has written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a JSONL or CSV."""
        text = (self.folder / name).read_text(encoding="utf-8")
        if name.endswith(".csv"):
            return list(csv.DictReader(text.splitlines(keepends=True)))
        return [json.loads(line) for line in text.splitlines()]

    def truth(self, dataset: str) -> dict[str, TruthRow]:
        found = [TruthRow.model_validate(row) for row in self.rows(f"{dataset}/truth.jsonl")]
        return {row.sample_id: row for row in found}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The shipped datasets, and events besides."""
    folder = tmp_path_factory.mktemp("world")
    generate(folder, seed=0, questions=120, tasks=12, events=EVENTS)
    return Made(folder)


@pytest.fixture(scope="session")
def pages(made: Made) -> dict[str, Page]:
    """By address."""
    return {row["url"]: Page.model_validate(row) for row in made.rows("world/pages.jsonl")}


@pytest.fixture(scope="session")
def world() -> World:
    """The shipped world before it is rendered."""
    return build_world(0, english=8, chinese=4)
