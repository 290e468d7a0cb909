"""What `aiq run --dry-run` forecasts for a run or sweep: bounds from limits and prices, expectations from past runs."""

import json
from pathlib import Path
from typing import Any

from aiq.__main__ import main
from aiq.experiment.forecast import QUANTITIES, _total
from tests.cases import table
from tests.experiment.conftest import Captured, Workplace

each = table(__file__)

JUDGED = ("experiment=tiny", "agent.ask=true")
ASKING = (*JUDGED, "judge=[]")  # a call a sample, of a token in and one out; a dollar a token in
UNBOUNDED = "unbounded"


def dry(capsys: Captured, *given: str) -> dict[tuple[str, str], dict[str, str]]:
    """The printed table, by (`at most` or `expected`, account)."""
    capsys.readouterr()
    assert main(["run", "--dry-run", *given]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(("at most", "expected  "))]
    starts = [cells.split("  ") for cells in rows]
    return {
        (kind, account): dict(zip(QUANTITIES, filled(account, cells), strict=False))
        for kind, account, *cells in ([cell.strip() for cell in start if cell.strip()] for start in starts)
    }


def filled(account: str, cells: list[str]) -> list[str]:
    """The cells, plus an empty one: an account's share of the wall time is not shown."""
    return cells if len(cells) == len(QUANTITIES) else [*cells[:3], "", *cells[3:]]


@each("limits")
def test_the_upper_bound_of_a_runs_usage(
    here: Workplace, capsys: Captured, limits: list[str], bounds: dict[str, str]
) -> None:
    here.endpoint.close()  # nobody is asked
    files = sorted(here.path.iterdir())
    documents = ("knowledge.collection=mine", "knowledge.documents=[pages.jsonl]")
    cells = dry(capsys, *ASKING, *documents, "epochs=2", *limits)
    bound = dict.fromkeys(QUANTITIES, UNBOUNDED) | bounds
    assert cells == {("at most", "agent"): bound, ("at most", "run"): bound}
    assert [path for path in sorted(here.path.iterdir()) if path.name != "__pycache__"] == files


def test_judges_that_ask_a_model_are_bounded_only_by_limits_of_the_run(here: Workplace, capsys: Captured) -> None:
    cells = dry(capsys, *JUDGED, "limits.sample_tokens=5", "limits.run_usd=9")
    assert cells["at most", "agent"]["tokens"] == "30"
    for account in ("judges", "run"):
        assert (cells["at most", account]["tokens"], cells["at most", account]["usd"]) == (UNBOUNDED, "9.00")


def test_the_expected_usage_of_a_run(here: Workplace, capsys: Captured) -> None:
    here.ran(*ASKING[1:], "limit=3")
    cells = dry(capsys, *ASKING, "epochs=2", "limits.run_model_calls=11")
    assert cells["expected", "agent"] | {"seconds": ""} == {
        "model_calls": "11 (11 to 11)",  # not 12: the limit
        "tokens": "24 (24 to 24)",
        "usd": "12.00 (12.00 to 12.00)",
        "seconds": "",
        "tool_calls": "0 (0 to 0)",
    }
    assert cells["expected", "run"]["seconds"]
    assert dry(capsys, *ASKING, "llm.model=other", "limit=1")["expected", "run"]["usd"] == "unknown"
    assert dry(capsys, *JUDGED)["expected", "judges"]["tokens"] == "unknown"
    assert ("expected", "run") not in dry(capsys, "experiment=tiny", "agent=python", "agent.function=os.path:basename")
    here.write_samples({"a": "one"})
    assert main(["run", *ASKING, "name=single"]) == 0
    capsys.readouterr()
    assert main(["run", "--dry-run", *ASKING, "--like", "single"]) == 0
    assert f"({' '.join(ASKING)} name=single); 95 % prediction intervals" in capsys.readouterr().out
    assert dry(capsys, *ASKING, "--like", "single")["expected", "run"]["tokens"] == "2 (of one sample)"


def test_a_sweep_shows_each_run_and_the_total(here: Workplace, capsys: Captured) -> None:
    arguments = ("-m", *ASKING, "epochs=1,2", "limits.sample_model_calls=3")
    cells = dry(capsys, *arguments)
    assert {account: bounds["model_calls"] for (_, account), bounds in cells.items()} == {
        "epochs=1": "18", "epochs=2": "36", "2 runs in all": "54",
    }  # fmt: skip
    here.ran(*ASKING[1:])
    assert dry(capsys, *arguments)["expected", "2 runs in all"]["tokens"] == "36 (36 to 36)"
    assert len(here.runs()) == 1


@each("given")
def test_a_mistake_is_one_line(here: Workplace, capsys: Captured, given: list[str], message: str) -> None:
    assert main(["run", "experiment=tiny", *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@each("values")
def test_a_total_is_scaled_by_samples_and_epochs(
    values: Any, samples: int, epochs: int, expected: tuple[float, ...] | None
) -> None:
    total = _total(values, samples, epochs, None)
    assert (total and [part and round(part, 2) for part in total]) == (expected and [*expected])


def test_a_run_without_finished_attempts_gives_no_expectation(here: Workplace, capsys: Captured) -> None:
    run = here.ran(*ASKING[1:], "limit=1")
    rows: Path = run / "samples.jsonl"
    rows.write_text(json.dumps({**json.loads(rows.read_text()), "status": "cancelled"}) + "\n")
    assert main(["run", "--dry-run", *ASKING, "--like", str(run)]) == 2
    assert "none of its attempts has ended" in capsys.readouterr().err
