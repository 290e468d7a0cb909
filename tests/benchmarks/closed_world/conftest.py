"""The shipped world, regenerated, and its parts."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aiq.core.samples import TruthRow
from benchmarks.closed_world.entities import World
from benchmarks.closed_world.facts import build_world
from benchmarks.closed_world.pages import Page

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Made:
    """A folder that the generator has written, and its output."""

    folder: Path
    said: str

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a JSONL or CSV file."""
        text = (self.folder / name).read_text(encoding="utf-8")
        if name.endswith(".csv"):
            return list(csv.DictReader(text.splitlines(keepends=True)))
        return [json.loads(line) for line in text.splitlines()]

    def truth(self, dataset: str) -> dict[str, TruthRow]:
        truths = [TruthRow.model_validate(row) for row in self.rows(f"{dataset}/truth.jsonl")]
        return {row.sample_id: row for row in truths}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The shipped datasets, made in a separate process with another hash seed."""
    folder = tmp_path_factory.mktemp("world")
    command = [sys.executable, "-m", "benchmarks.closed_world", "--out", str(folder)]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    proc = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return Made(folder, proc.stdout)


@pytest.fixture(scope="session")
def pages(made: Made) -> dict[str, Page]:
    """The pages by URL."""
    return {row["url"]: Page.model_validate(row) for row in made.rows("world/pages.jsonl")}


@pytest.fixture(scope="session")
def world() -> World:
    """The shipped world before it is rendered."""
    return build_world(0, english=8, chinese=4)
