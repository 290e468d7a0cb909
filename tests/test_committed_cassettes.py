"""The committed recordings replay without a network to what lies beside them; the CI files verify and replay."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from aiq.__main__ import main
from scripts import cassettes

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / cassettes.FOLDER
MOST_BYTES = 3 * 2**20


def without_network() -> list[str]:
    """What to put before a command, where the system lets anybody have a network of nothing."""
    tried = ["unshare", "--map-root-user", "--net"]
    allowed = shutil.which(tried[0]) and subprocess.run([*tried, "true"], capture_output=True).returncode == 0
    return tried if allowed else []


def files() -> dict[str, tuple[int, int]]:
    """Size and time of each."""
    paths = (path for path in RECORDINGS.rglob("*") if path.is_file())
    return {str(path.relative_to(RECORDINGS)): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


@pytest.mark.slow
def test_each_replays_without_a_network_to_what_is_committed_and_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    before = files()
    command = [*without_network(), sys.executable, str(ROOT / "scripts" / "cassettes.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr  # where it is meant: run scripts/cassettes.py
    assert files() == before


@pytest.mark.slow
def test_what_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(RECORDINGS / "smollm2", tmp_path / "smollm2")
    expected = tmp_path / "smollm2" / "expected.jsonl"
    first, second, *others = map(json.loads, expected.read_text(encoding="utf-8").splitlines())
    changed = [{**first, "report": "another"}, {**second, "epoch": 2}, *others]
    expected.write_text("".join(f"{json.dumps(row)}\n" for row in changed), encoding="utf-8")
    monkeypatch.setattr(cassettes, "FOLDER", tmp_path)
    everything = "sample, epoch, status, report, scores"
    assert list(cassettes.checked("smollm2")) == [
        f"{first['sample']}, epoch 1: report",
        f"{second['sample']}, epoch 2: {everything}",
        f"{second['sample']}, epoch 1: {everything}",
    ]


def test_they_are_all_there_and_small() -> None:
    names = {f"{name}/{file}" for name in cassettes.RUNS for file in ("agent.sqlite", "judge.sqlite", "expected.jsonl")}
    assert files().keys() == names
    assert sum(size for size, _ in files().values()) <= MOST_BYTES


def test_nothing_is_wrong_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["cassettes", "verify", *(str(RECORDINGS / name) for name in cassettes.RUNS)])
    assert code == 0, capsys.readouterr()


@pytest.mark.parametrize("file", ["github.yml", "gitlab.yml"])
def test_the_files_for_ci_verify_and_replay(file: str, capsys: pytest.CaptureFixture[str]) -> None:
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
