"""A mistake in a command, a config or an endpoint is reported at once, in one clear line with exit code 2."""

import socket
import sys

import pytest

from aiq.__main__ import main
from tests.cases import table
from tests.experiment.conftest import Captured, Workplace

each = table(__file__)


def only_line(capsys: Captured) -> str:
    """The one line that was printed, without `aiq: `."""
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert output.err.startswith("aiq: ")
    return output.err.removeprefix("aiq: ").strip()


MUTE = """
import aiq.core.settings
class Mute:
    class Settings(aiq.core.settings.Settings, extra="allow"): pass
    def __init__(self, settings): pass
class Unmade(Mute):
    def __init__(self): pass
class Broken(Mute):
    def samples(self): return {}["row"]
"""


@each("run")
def test_a_mistake_is_one_line_and_leaves_nothing_behind(
    here: Workplace,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    for extra in ("ray", "submitit"):
        monkeypatch.setitem(sys.modules, extra, None)  # as if it were not installed
    (here.path / "a_file").write_text("")
    (here.path / "a_typo.py").write_text("class Agent(:\n")
    (here.path / "half_made.py").write_text("1 / 0\n")
    (here.path / "ends_it.py").write_text("raise SystemExit('no key')\n")
    (here.path / "mute.py").write_text(MUTE)
    judge = (here.path / "conf/judge/letters.yaml").read_text().replace("judge.letters", "judge.again")
    (here.path / "conf/judge/again.yaml").write_text(judge)
    (here.path / "conf/agent/torn.yaml").write_text("words: [1\n")
    assert main(["run", *arguments]) == 2
    assert message in only_line(capsys)
    assert not (here.path / "results").exists()


def test_an_endpoint_that_refuses_is_noticed_at_once(here: Workplace, capsys: Captured) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert main(["run", "experiment=tiny", f"llm.base_url={url}"]) == 2
    assert url in only_line(capsys)
    assert not (here.path / "results").exists()
    here.endpoint.refuse_from = 0
    assert main(["run", "experiment=tiny", "agent.ask=true", "runner.concurrency=1", "runner.progress=false"]) == 2
    assert "401" in only_line(capsys)
    assert len(here.endpoint.asked) == 1


def test_a_key_refused_later_stops_the_run_and_not_each_sample(here: Workplace, capsys: Captured) -> None:
    here.endpoint.refuse_from = 2
    assert main(["run", "experiment=tiny", "agent.ask=true", "runner.concurrency=1", "runner.progress=false"]) == 2
    line = only_line(capsys)
    assert "401" in line
    assert "resume=" in line
    assert line.rstrip().endswith("need a new run)")
    assert len(here.endpoint.asked) == 3
    run = here.only_run()
    assert [row["status"] for row in here.lines(run / "samples.jsonl")] == ["completed", "completed", "cancelled"]
    assert here.summary(run)["status"] == "failed"
    here.endpoint.refuse_from = None
    assert main(["run", f"resume={run}"]) == 0
    assert here.summary(run)["statuses"] == {"completed": 6}


@each("no command")
def test_an_unknown_command_gets_a_hint(arguments: list[str], hint: str, capsys: Captured) -> None:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    error = capsys.readouterr().err
    assert hint in error
    assert error.count("\n") == 1
