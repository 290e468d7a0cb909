"""The committed recordings replay offline, match their baselines and pass the gate; the CI examples use them."""

import shlex
import socket
import sys
from pathlib import Path

import pytest
import yaml

from aiq.__main__ import main
from aiq.analysis.baselines import BaselineFile
from scripts import cassettes

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS, BASELINES = ROOT / cassettes.FOLDER, ROOT / cassettes.BASELINES
MOST_BYTES = 3 * 2**20


def files() -> dict[str, tuple[int, int]]:
    """Size and modification time of each recording."""
    paths = (path for path in RECORDINGS.rglob("*") if path.is_file())
    return {str(path.relative_to(RECORDINGS)): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


@pytest.mark.parametrize(
    "names",
    [["smollm2"], pytest.param(["shallow_freshqa", "deep_drb", "escalation_freshqa"], marks=pytest.mark.whole)],
)
def test_each_recording_replays_offline_passes_its_gate_and_stays_unchanged(
    names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(_: socket.socket, address: object) -> None:
        raise AssertionError(f"a replay connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(sys, "argv", ["cassettes.py", "--check", *names])
    monkeypatch.chdir(ROOT)
    before = files()
    code = cassettes.main()
    assert (code, capsys.readouterr().out) == (0, "")  # if the change is intended, run scripts/cassettes.py
    assert files() == before


def test_differences_from_the_baseline_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = BaselineFile(BASELINES / "smollm2.json")
    first, second, *others = file.content.attempts
    attempts = (first.model_copy(update={"report": "another"}), second.model_copy(update={"epoch": 2}), *others)
    monkeypatch.setattr(cassettes, "BASELINES", tmp_path)
    monkeypatch.chdir(cassettes.ROOT)
    file.content.model_copy(update={"attempts": attempts}).write(tmp_path / "smollm2.json")
    assert list(cassettes.checked("smollm2")) == [
        "the run has epochs=1, the baseline 2",
        f"{first.sample}, epoch 1: report another -> {first.report}",
        f"{second.sample}, epoch 2: gone",
        f"{second.sample}, epoch 1: new",
    ]


def test_all_recordings_are_present_and_small() -> None:
    assert files().keys() == {f"{name}/{file}" for name in cassettes.RUNS for file in ("agent.sqlite", "judge.sqlite")}
    baselines = {path.stem: path.stat().st_size for path in BASELINES.iterdir()}
    assert baselines.keys() == cassettes.RUNS.keys()
    assert sum(size for size, _ in files().values()) + sum(baselines.values()) <= MOST_BYTES


def test_the_recordings_verify(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["cassettes", "verify", *(str(RECORDINGS / name) for name in cassettes.RUNS)])
    assert code == 0, capsys.readouterr()


@pytest.mark.parametrize("file", ["github.yml", "gitlab.yml"])
def test_the_ci_examples_verify_and_replay(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = yaml.safe_load((ROOT / "docs" / "ci" / file).read_text(encoding="utf-8"))
    if "jobs" in content:
        steps = [step["run"] for step in content["jobs"]["replay"]["steps"] if "run" in step]
    else:
        steps = content["aiq replay"]["script"]
    assert steps[:2] == ["pip install aiq-bench", "aiq cassettes verify cassettes"]
    program, command, *settings = shlex.split(steps[2])
    assert (program, command, "cassette=replay" in settings) == ("aiq", "run", True)
    assert main(["run", "--cfg", *settings]) == 0
    assert "mode: replay" in capsys.readouterr().out
