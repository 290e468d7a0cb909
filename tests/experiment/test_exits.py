"""A user's code that calls sys.exit, interrupts or cancels itself has failed, and never ends a run silently."""

import sys

import pytest

from aiq.__main__ import main
from tests.experiment.conftest import Captured, Workplace

PARTS = '''\
import asyncio, sys
from aiq.core.errors import ToolError
from aiq.core.reports import Score
from tiny_parts import Letters


async def directly(question):
    sys.exit(0)


def in_a_thread(question):
    sys.exit()


async def in_a_task(question):
    async def leave():
        await asyncio.sleep(0)
        sys.exit("goodbye")

    await asyncio.gather(leave(), asyncio.sleep(0.01))


async def interrupted(question):
    if "3" in question:
        raise KeyboardInterrupt
    return question


def leaves(why: str) -> str:
    """Leave."""
    sys.exit(3)


async def cancels(why: str) -> str:
    """Cancel."""
    raise asyncio.CancelledError


async def uses_tools(question, session):
    said = []
    for name in ("leaves", "cancels"):
        try:
            await session.call_tool(name, {"why": "so"})
        except ToolError as error:
            said.append(str(error))
    return " and ".join(said)


class Leaving(Letters):
    async def score(self, sample, report, session):
        sys.exit(0)
'''


@pytest.fixture
def exits(here: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """The workplace with a module of such code in it."""
    (here.path / "exits.py").write_text(PARTS)
    for name in ("leaves", "cancels"):
        file = here.path / f"conf/tool/{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# @package tool.{name}\n# One\ntarget: exits:{name}\n")
    monkeypatch.delitem(sys.modules, "exits", raising=False)
    return here


def run(function: str, *overrides: str) -> int:
    return main(["run", "experiment=tiny", "agent=python", f"agent.function=exits:{function}", *overrides])


@pytest.mark.parametrize(
    ("function", "called"),
    [("directly", "sys.exit(0)"), ("in_a_thread", "sys.exit()"), ("in_a_task", "sys.exit('goodbye')")],
)
def test_an_agent_that_calls_sys_exit_has_failed_and_the_run_goes_on(
    exits: Workplace, function: str, called: str
) -> None:
    assert run(function, "runner.max_error_rate=0") == 3
    rows = exits.lines(exits.only_run() / "samples.jsonl")
    assert [row["status"] for row in rows] == ["failed"] * 6
    assert rows[0]["error"] == {"type": "SystemExit", "message": f"{called} was called"}
    assert exits.manifest(exits.only_run())["status"] == "finished"
    assert (exits.only_run() / "index.html").exists()


def test_a_tool_that_exits_or_cancels_itself_is_a_failed_call(exits: Workplace) -> None:
    assert run("uses_tools", "tool=[leaves,cancels]", "limit=1") == 0
    [row] = exits.lines(exits.only_run() / "samples.jsonl")
    assert row["report"] == "leaves: SystemExit: sys.exit(3) was called and cancels: CancelledError: no message"
    assert row["tools"] == {"cancels": {"failed": 1}, "leaves": {"failed": 1}}


def test_a_judge_that_calls_sys_exit_has_failed_on_the_report(exits: Workplace) -> None:
    assert main(["run", "experiment=tiny", "judge.letters.target=exits:Leaving", "runner.max_error_rate=0"]) == 3
    assert exits.summary(exits.only_run())["judge_errors"]["letters"]["causes"] == {
        "SystemExit: sys.exit(0) was called": 6
    }


def test_an_interruption_from_within_says_how_to_resume(exits: Workplace, capsys: Captured) -> None:
    assert run("interrupted", "runner.concurrency=1") == 130
    folder = exits.only_run()
    assert f"interrupted; finished work is kept, resume with: aiq run resume={folder.relative_to(exits.path)}" in (
        capsys.readouterr().err
    )
    assert exits.summary(folder)["statuses"] == {"completed": 3, "cancelled": 1}
    (exits.path / "exits.py").write_text(PARTS.replace("raise KeyboardInterrupt", "pass"))
    del sys.modules["exits"]
    assert main(["run", "resume=latest"]) == 0
    assert exits.summary(folder)["statuses"] == {"completed": 6}


def test_code_that_exits_outside_of_any_attempt_is_an_error_of_the_command(exits: Workplace, capsys: Captured) -> None:
    (exits.path / "tiny_parts.py").open("a").write(
        "\n\nclass Early(EchoAgent):\n    def __init__(self, settings):\n        sys.exit(0)\n"
    )
    assert main(["run", "experiment=tiny", "agent.target=tiny_parts:Early"]) == 2
    assert capsys.readouterr().err.startswith("aiq: sys.exit(0) was called")
