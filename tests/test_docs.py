"""The example of the documentation runs as it is written."""

import json
import re
from pathlib import Path

import pytest

from aiq.__main__ import main

PAGE = Path(__file__).resolve().parent.parent / "docs" / "agents.md"


def test_the_example_agent_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(# my_agent\.py\n.*?)```", page, re.DOTALL)
    config = re.search(r"```yaml\n# conf/agent/mine\.yaml.*?\n(.*?)```", page, re.DOTALL)
    assert code is not None
    assert config is not None
    (tmp_path / "conf" / "agent").mkdir(parents=True)
    (tmp_path / "my_agent.py").write_text(code.group(1), encoding="utf-8")
    (tmp_path / "conf" / "agent" / "mine.yaml").write_text(config.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["run", "experiment=shallow_freshqa", "agent=mine", "limit=3", "runner.progress=false"]) == 0
    summary = json.loads(next(Path("results").glob("*/*/summary.json")).read_text(encoding="utf-8"))
    assert summary["statuses"] == {"completed": 3}
    assert list(summary["routes"]) == ["mine"]
    assert "my.agent" in summary["usage"]["agent"]["roles"]
    capsys.readouterr()
    assert main(["run", "experiment=shallow_freshqa", "agent=mine", "agent.searches=0"]) == 2
    assert "agent.searches=0" in capsys.readouterr().err
