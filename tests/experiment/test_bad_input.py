"""What is wrong with a command, a config or an endpoint is one clear line, at once, and exit code 2."""

import socket
import sys

import pytest

from aiq.__main__ import main
from tests.cases import table
from tests.experiment.conftest import Workplace

each = table(__file__)


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that was printed, without `aiq: `."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("aiq: ")
    return captured.err.removeprefix("aiq: ").strip()


OFFLINE = ("llm.base_url=http://model.offline.example/v1",)

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["experiment=tinny"], "experiment=tinny: there is no such experiment; did you mean tiny?"),
        (["experiment=tiny", "dataset.path=absent.jsonl"], "dataset.path=absent.jsonl"),
        (["experiment=tiny", "search.corpus=absent.jsonl"], "absent.jsonl"),
        (["experiment=tiny", "output_dir=a_file"], ": Not a directory; name another folder with output_dir"),
        (["experiment=tiny", "agent.target=nowhere:Agent"], "agent.target: there is no module 'nowhere'"),
        (["experiment=tiny", "agent.target=tiny_parts:Nobody"], "module tiny_parts has no 'Nobody'"),
        (["experiment=tiny", "agent.target=a_typo:Agent"], "module a_typo cannot be imported: SyntaxError"),
        (["experiment=tiny", "agent.target=half_made:Failing"], "cannot be imported: ZeroDivisionError: division by"),
        (["experiment=tiny", "agent.target=ends_it:Agent"], "module ends_it cannot be imported: SystemExit: no key"),
        (["experiment=tiny", "agent.target=mute:Unmade"], "mute:Unmade cannot be made: TypeError: "),
        (["experiment=tiny", "dataset.target=mute:Broken"], "mute:Broken cannot read its samples: KeyError: 'row'"),
        (["experiment=tiny", "agent.target=pathlib:Path"], "agent.target: pathlib:Path has no Settings, a child of"),
        (["experiment=tiny", "agent.target=mute:Mute"], "has no `async def research(question, session)`"),
        (["experiment=tiny", "agent=torn"], "torn.yaml"),
        (["experiment=tiny", "judge=[letters,again]"], "judge: letters and again both yield letters.count; keep one"),
        (["experiment=tiny", "resume=latest", "resume=x"], "no --cfg, --dry-run or second folder goes with it"),
        (["experiment=tiny", "seed=1,2"], "several values are a sweep, which needs -m"),
        (["-m", "experiment=tiny"], "no setting has several values"),
        (["experiment=shallow_freshqa", "agent.data_sources=web"], "agent.data_sources='web': write null for all data"),
        (
            ["experiment=full_freshqa", "agent.data_sources=[wab]"],
            "this run has no data source 'wab'",
        ),
        (["experiment=full_freshqa", "agent.deep.tools=[serch]"], "agent.deep.tools: this run has no tool 'serch'"),
        (["experiment=deep_drb", "agent.deep.min_queries=7"], "min_queries=7 is above max_queries=6"),
        (["experiment=tiny", "llm.api_key_env=NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"),
        (["experiment=tiny", "judge=null"], "judge=null: name in brackets, as judge=[A,B] (judge=[]: none)"),
        (["experiment=tiny", "agent.base_url=x"], "the chosen agent has no such setting; agent=endpoint has it"),
        (["experiment=tiny", "agent.ask=true", "agent.word=2"], "agent.word: there is no such setting; did you mean"),
        (
            ["experiment=tiny", "agent=endpoint", "agent.base_url=http://a/v1", "agent.model=m", "agent.timeout=9"],
            "agent.timeout: there is no such setting; did you mean agent.timeout_seconds?",
        ),
        (
            ["experiment=tiny", "agent=endpoint", "agent.base_url=http://a/v1", "agent.model=500"],
            "agent.model=500: is no text; put it in quotes of its own: agent.model='\"500\"'",
        ),
        (["experiment=tiny", "agent=null"], "agent=null: name one option; there are: ai_q"),
        (["experiment=tiny", "agent=[echo,ai_q]"], "agent=[echo,ai_q]: name one option"),
        (["experiment=tiny", "run_id=.."], "run_id='..': write letters and digits, and after the first also . and -"),
        (["experiment=tiny", "runner.launcher.target=nowhere:Here"], "runner.launcher.target: there is no module"),
        (["experiment=tiny", "runner=slurm", "runner.processes=2"], "pip install 'aiq-bench[slurm]'"),
        (["experiment=tiny", "runner=ray", "runner.processes=2"], "pip install 'aiq-bench[ray]'"),
        (["resume=nowhere"], "nowhere is no run folder"),
        (["resume=results", "-m"], "results is no sweep"),
        (["experiment=tiny", "=3"], "=3: expected SETTING=VALUE; the setting has no name"),
        (["experiment=tiny", "~"], "~: expected SETTING=VALUE; the setting has no name"),
        (["-m", "experiment=tiny", "limit=1,"], "limit=1,: this is no SETTING=VALUE; write"),
        (["experiment=tiny", "dataset.path=["], "dataset.path=[: this is no SETTING=VALUE; write"),
        (["experiment=tiny", *OFFLINE, "llm.model=gpt-4o"], "type llm=openai llm.model=gpt-4o as well"),
        (["experiment=tiny", *OFFLINE, "llm.model=offline-1", "llm.roles.judge.model=gpt-4o"], "llm.roles: 'gpt-4o'"),
        (["experiment=deep_drb", "judge.race.panel=[offline-2,gpt-4o]"], "judge.race.panel: 'gpt-4o' would be"),
        (["experiment=tiny", "nonsense"], "nonsense: expected SETTING=VALUE (or an option"),
        (["experiment=tiny", "limit", "=", "2"], "limit: expected SETTING=VALUE; write limit=VALUE, without blanks"),
        (["experiment", "tiny"], "experiment: expected SETTING=VALUE; write experiment=VALUE"),
        (["resume", "latest"], "resume: expected SETTING=VALUE; write resume=VALUE"),
    ],
)
def test_one_line_and_nothing_left_behind(
    here: Workplace,
    capsys: pytest.CaptureFixture[str],
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
    again = (here.path / "conf/judge/letters.yaml").read_text().replace("judge.letters", "judge.again")
    (here.path / "conf/judge/again.yaml").write_text(again)
    (here.path / "conf/agent/torn.yaml").write_text("words: [1\n")
    assert main(["run", *arguments]) == 2
    assert message in only_line(capsys)
    assert not (here.path / "results").exists()


def test_an_endpoint_that_refuses_is_noticed_before_anything_is_asked(
    here: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert main(["run", "experiment=tiny", f"llm.base_url={url}"]) == 2
    assert url in only_line(capsys)
    here.endpoint.refuse_all = True
    assert main(["run", "experiment=tiny", "agent.ask=true"]) == 2
    assert "401" in only_line(capsys)
    assert here.endpoint.asked == []
    assert not (here.path / "results").exists()


def test_a_key_refused_later_stops_the_run_and_not_each_sample(
    here: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    here.endpoint.refuse_from = 2
    assert main(["run", "experiment=tiny", "agent.ask=true", "runner.concurrency=1", "runner.progress=false"]) == 2
    line = only_line(capsys)
    assert "401" in line
    assert "resume=" in line
    assert line.rstrip().endswith("take a new run)")
    assert len(here.endpoint.asked) == 3
    run = here.only_run()
    assert [row["status"] for row in here.lines(run / "samples.jsonl")] == ["completed", "completed", "cancelled"]
    assert here.summary(run)["status"] == "failed"
    here.endpoint.refuse_from = None
    assert main(["run", f"resume={run}"]) == 0
    assert here.summary(run)["statuses"] == {"completed": 6}


@each("arguments")
def test_commands_that_do_not_exist(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    error = capsys.readouterr().err
    assert hint in error
    assert error.count("\n") == 1
