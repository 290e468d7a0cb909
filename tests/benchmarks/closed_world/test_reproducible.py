"""The same options always give the same bytes, on any machine; other options give another world."""

import hashlib
from pathlib import Path

import pytest

from aiq.core.files import shipped
from benchmarks.closed_world.__main__ import generate, main
from tests.benchmarks.closed_world.conftest import Made
from tests.cases import table

each = table(__file__)

SHIPPED = (
    *("world", "freshqa_mini", "drb_mini", "documents_mini", "hostile_mini"),
    *("conversation_mini", "turns_mini", "events_mini"),
)


def digests(folder: Path, *parts: str) -> dict[str, str]:
    files = [file for part in parts for file in sorted((folder / part).rglob("*")) if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_shipped_files_are_what_the_command_makes(made: Made) -> None:
    assert digests(made.folder, *SHIPPED) == digests(shipped("benchmarks"), *SHIPPED)
    assert "120 questions, 12 research tasks, 600 events (seed 0)" in made.said


def test_another_seed_makes_another_world(made: Made, tmp_path: Path) -> None:
    """Only the questions about events are the same, with other answers."""
    generate(tmp_path, seed=1, questions=120, tasks=12, events=600)
    other, original = digests(tmp_path, "."), digests(made.folder, ".")
    same = {name for name, digest in original.items() if digest in other.values()}
    assert same == {"events_mini/questions.jsonl"}


@pytest.mark.parametrize(("questions", "tasks"), [(1, 0), (0, 1), (200, 20)])
def test_any_size_works(questions: int, tasks: int, tmp_path: Path) -> None:
    pages = generate(tmp_path, seed=5, questions=questions, tasks=tasks, events=0)
    for name, count in (("world/pages", pages), ("freshqa_mini/truth", questions), ("drb_mini/truth", tasks)):
        assert len((tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()) == count
    assert not (tmp_path / "events_mini").exists()


@each("options")
def test_senseless_options_are_refused(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("x")
    with pytest.raises(SystemExit) as exc_info:
        main(["--out", "made", *options])
    assert exc_info.value.code == 2
    assert said in capsys.readouterr().err
