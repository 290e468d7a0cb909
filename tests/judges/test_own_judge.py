"""The example judge of docs/judges.md runs as printed, and reports an invalid setting in one line."""

import json
import re
import shlex
from pathlib import Path

import pytest

from aiq.__main__ import main

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judges.md"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command of the example, with the example's files in the working folder."""
    page = PAGE.read_text(encoding="utf-8")
    code, config = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "yaml"))
    printed = re.search(r"Then `aiq (run .*?)`", page)
    assert code is not None
    assert config is not None
    assert printed is not None
    assert len(code[1].splitlines()) <= 60
    (tmp_path / "conf" / "judge").mkdir(parents=True)
    (tmp_path / "my_judge.py").write_text(code[1], encoding="utf-8")
    (tmp_path / "conf" / "judge" / "mine.yaml").write_text(config[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return shlex.split(printed[1])


def test_the_printed_judge_scores(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "runner.progress=false"]) == 0
    run = next(Path("results").glob("*/*/manifest.json")).parent
    assert json.loads((run / "summary.json").read_text(encoding="utf-8"))["metrics"]["focus.score"]["n"] == 2
    row = json.loads((run / "scores.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert row["prompt_hash"]
    assert row["detail"]["tries"] == 1
    capsys.readouterr()
    assert main([*command, "judge.focus.tries=0"]) == 2
    assert "judge.focus.tries=0: Input should be greater than or equal to 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("base", "said"), [("", "is not a subclass of aiq.judges.base.Judge"), ("(Judge)", "declares no metrics")]
)
def test_a_class_that_is_not_a_judge_is_refused(
    command: list[str], base: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = "some_class" if base == "" else "some_judge"  # Python caches imported modules
    Path(f"{module}.py").write_text(
        "from aiq.judges.base import Judge, NoSettings\n"
        f"class Focus{base}:\n"
        "    Settings = NoSettings\n"
        "    def __init__(self, settings): ...\n"
        "    async def score(self, sample, report, session): ...\n"
    )
    Path("conf/judge/mine.yaml").write_text(f"# @package judge.focus\ntarget: {module}:Focus\n")
    assert main(command) == 2
    assert f"{module}:Focus {said}" in capsys.readouterr().err
