"""RACE in whole runs: unusable answers on one task cost only that score, and noise is reported."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.judges.race_scores import DIMENSIONS
from tests.experiment.conftest import Endpoint

pytestmark = pytest.mark.slow

TASKS = {"1": "Describe the port.", "2": "Describe the railway.", "3": "Describe the mill."}


@pytest.fixture
def model() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    criteria = {name: [{"criterion": name, "explanation": "e", "weight": 1.0}] for name in DIMENSIONS}
    judged_by = {"dimension_weight": dict.fromkeys(DIMENSIONS, 0.25), "criterions": criteria}
    rows: dict[str, Callable[[str], dict[str, Any]]] = {
        "query": lambda key: {"language": "en"},
        "criteria": lambda key: judged_by,
        "reference": lambda key: {"article": f"Reference {key}."},
        "reports": lambda key: {"article": f"Ours {key}."},
    }
    for name, fields in rows.items():
        lines = [json.dumps({"id": key, "prompt": text, **fields(key)}) + "\n" for key, text in TASKS.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def card(first: float, second: float) -> str:
    entry = {"article_1_score": first, "article_2_score": second}
    return json.dumps({name: [{"criterion": name, **entry}] for name in DIMENSIONS})


def command(model: Endpoint, *more: str) -> list[str]:
    return [
        "run", "agent=reports", "agent.path=reports.jsonl", "dataset=drb", "dataset.path=.", "judge=[race]",
        "llm=openai", "llm.api_key_env=null", "llm.model=m", f"llm.base_url={model.base_url}", "name=r",
        "search=offline", "web=offline", *more,
    ]  # fmt: skip


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def only_run() -> Path:
    (run,) = Path("results/r").glob("*")
    return run


def test_unusable_answers_on_one_task_cost_only_that_score(place: Path, model: Endpoint) -> None:
    model.answer = lambda prompt: "As an AI I like both." if "railway" in prompt else card(6, 4)
    assert main(command(model, "judge.race.tries=2")) == 3
    run = only_run()
    rows = {(row["sample_id"], row["metric"]): row for row in read(run, "scores.jsonl")}
    assert len(rows) == 15
    assert {key for key, row in rows.items() if row["status"] == "error"} == {key for key in rows if key[0] == "2"}
    assert rows["2", "race.overall"]["value"] is None
    assert "no usable answer in 2 tries" in rows["2", "race.overall"]["error"]["message"]
    assert rows["2", "race.overall"]["usage"]["judge.race"]["calls"] == 2
    assert all(row["status"] == "completed" for row in read(run, "samples.jsonl"))
    summary = json.loads((run / "summary.json").read_text())
    assert summary["metrics"]["race.overall"]["n"] == 2
    assert summary["metrics"]["race.overall"]["mean"] == pytest.approx(0.6)
    assert summary["judge_errors"]["race"]["n"] == 1
    assert summary["judge_noise"] == {}

    model.asked.clear()
    model.answer = lambda prompt: card(9, 3)
    assert main(["run", f"resume={run}"]) == 0
    assert len(model.asked) == 1  # only the missing score is asked for
    summary = json.loads((run / "summary.json").read_text())
    assert summary["metrics"]["race.overall"]["mean"] == pytest.approx((0.6 + 0.75 + 0.6) / 3)


def test_the_noise_of_votes_orders_and_members_is_reported(
    place: Path, model: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    model.answer = lambda prompt: card(6, 4)  # the first place is worth two points, whichever report has it
    assert main(command(model, "judge.race.order=both", "judge.race.panel=[a,b]", "judge.race.votes=2")) == 0
    run = only_run()
    assert len(model.asked) == 3 * 2 * 2 * 2
    rows = read(run, "scores.jsonl")
    assert {row["judge_model"] for row in rows} == {"a, b"}
    assert json.loads((run / "manifest.json").read_text())["models"]["judge.race"] == "a, b"
    summary = json.loads((run / "summary.json").read_text())
    assert summary["metrics"]["race.overall"]["mean"] == pytest.approx(0.5)
    noise = summary["judge_noise"]["race.overall"]
    assert (noise["reports"], noise["judgements"], noise["votes"], noise["members"]) == (3, 24, 0, 0)
    assert noise["order_gap"] == pytest.approx(0.2)
    out = capsys.readouterr().out
    assert "judge noise" in out
    assert "first - swapped" in out
