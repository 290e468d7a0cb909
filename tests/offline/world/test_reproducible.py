"""The same options give the same bytes, anywhere and always; other options another world."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiq.core.paths import shipped
from aiq.offline.world.command import generate
from aiq.offline.world.draw import Draw

FILES = (
    "world/pages.jsonl",
    "freshqa_mini/freshqa_mini.csv",
    "freshqa_mini/truth.jsonl",
    "drb_mini/query.jsonl",
    "drb_mini/criteria.jsonl",
    "drb_mini/reference.jsonl",
    "drb_mini/truth.jsonl",
    "documents_mini/questions.jsonl",
    "documents_mini/truth.jsonl",
    "hostile_mini/pages.jsonl",
    "hostile_mini/questions.jsonl",
    "hostile_mini/truth.jsonl",
    "world/documents/kesford-council-minutes-2026-09.pdf",
    "world/documents/wilvey-works-annual-report-2025.pdf",
)


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_files_are_what_the_command_makes(generated: Path, name: str) -> None:
    assert (generated / name).read_bytes() == shipped(f"benchmarks/{name}").read_bytes()


def test_the_shipped_files_are_small() -> None:
    assert sum(shipped(f"benchmarks/{name}").stat().st_size for name in FILES) < 3_000_000


def test_hash_randomisation_changes_nothing(generated: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aiq", "offline", "world", "--out", str(tmp_path)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": "7"}, check=True, capture_output=True, text=True
    )
    assert "120 questions, 12 research tasks (seed 0)" in done.stdout
    assert [_digest(tmp_path / name) for name in FILES] == [_digest(generated / name) for name in FILES]


def test_another_seed_makes_another_world(generated: Path, tmp_path: Path) -> None:
    generate(tmp_path, seed=1, questions=120, tasks=12)
    data = [name for name in FILES if not name.endswith(".pdf")]
    assert all(_digest(tmp_path / name) != _digest(generated / name) for name in data)
    assert {file.name for file in (tmp_path / "world" / "documents").iterdir()} & {Path(n).name for n in FILES} == set()


def test_lines_end_with_a_newline_only(generated: Path) -> None:
    for name in FILES:
        if name.endswith(".pdf"):
            continue
        data = (generated / name).read_bytes()
        assert data.endswith(b"\n")
        assert b"\r" not in data
        assert not data.startswith(b"\xef\xbb\xbf")


def test_choices_do_not_depend_on_the_python_version() -> None:
    draw = Draw(0, "golden")
    assert [draw.below(100) for _ in range(5)] == [73, 47, 71, 81, 24]
    assert Draw(0, "golden").shuffled("abcdef") == list("badfce")


@pytest.mark.parametrize("options", [("--tasks", "-1"), ("--questions", "0", "--tasks", "0")])
def test_sizes_that_make_no_sense_are_refused(options: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "aiq", "offline", "world", "--out", str(tmp_path), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--questions and --tasks" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    command = [sys.executable, "-m", "aiq", "offline", "world", "--out", str(tmp_path / "taken")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, "name a folder" in done.stderr) == (2, True)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
