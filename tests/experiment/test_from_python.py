"""`aiq.run([...])`: a run from a script or a notebook, its rows, and what happens if it is stopped."""

import signal
from typing import Any

import pytest

import aiq
from aiq.core.errors import UserError
from tests.cases import table
from tests.experiment.conftest import Captured, Endpoint, Workplace
from tests.forked import Forked

each = table(__file__)

TINY = ["experiment=tiny", "runner.progress=false"]


def test_a_script_gets_the_run_its_rows_and_no_table(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"s1": "a question", "s2": "a question that must fail"})
    run = aiq.run([*TINY, "runner.max_error_rate=0.2"])
    assert (run.folder.resolve(), run.exit_code) == (here.only_run().resolve(), 3)
    assert run.summary.statuses == {"completed": 1, "failed": 1}
    assert list(run.frames.samples["sample_id"]) == ["s1", "s2"]
    assert set(run.frames.scores["metric"]) == {"letters.count", "letters.vowels", "letters.pages"}
    assert "1 completed, 1 failed; letters.count" in repr(run)
    assert (run.folder / "index.html").is_file()
    output = capsys.readouterr()
    assert output.out == output.err == ""
    resumed = aiq.run([f"resume={run.folder}", "runner.progress=false", "runner.max_error_rate=1"])
    assert (resumed.folder, resumed.exit_code, len(here.lines(run.folder / "samples.jsonl"))) == (run.folder, 0, 2)


async def test_it_works_in_a_notebook_whose_event_loop_is_running(here: Workplace) -> None:
    assert aiq.run([*TINY, "agent.ask=true"]).summary.statuses == {"completed": 6}


@each("overrides")
def test_a_mistake_is_raised_as_an_error(here: Workplace, overrides: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        aiq.run(overrides)


def test_a_stopped_run_is_not_returned_as_finished(here: Workplace, endpoint: Endpoint) -> None:
    endpoint.refuse_from = 2
    with pytest.raises(UserError, match=r"refuses the key .*; finished work is kept, resume with: aiq run resume=res"):
        aiq.run([*TINY, "agent.ask=true", "runner.concurrency=1"])
    assert here.manifest(here.only_run())["status"] == "failed"


SCRIPT = """
import asyncio, aiq

async def cell():
    try:
        aiq.run(["experiment=tiny", "runner.progress=false"])
    except KeyboardInterrupt as interrupt:
        print(interrupt)

{start}
"""


@pytest.mark.parametrize("start", ["asyncio.run(cell())", "try: cell().send(None)\nexcept StopIteration: pass"])
def test_an_interrupted_run_of_a_notebook_or_script_can_be_resumed(place: Workplace, start: str) -> None:
    place.write_samples({"s1": "a question", "s2": "this will hang"})
    place.path.joinpath("cell.py").write_text(SCRIPT.format(start=start))
    with Forked("cell", cwd=place.path) as process:
        place.wait_for(lambda: any(place.lines(run / "samples.jsonl") for run in place.runs()))
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        output = process.out
    run = place.only_run()
    assert output.strip().endswith(f"resume with: aiq run resume={run.relative_to(place.path)}")
    assert place.manifest(run)["status"] == place.summary(run)["status"] == "interrupted"
    assert [row["status"] for row in place.lines(run / "samples.jsonl")] == ["completed", "cancelled"]
