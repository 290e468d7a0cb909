"""What the design promises for whole runs, on the real offline stack: agents see no answers, runs repeat, pay once."""

import csv
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.files import shipped
from aiq.core.seeds import derive
from tests.forked import Forked

Values = dict[tuple[Any, ...], Any]


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of complete lines only, since the file may be being written."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def run(folder: str, *overrides: str) -> Path:
    """Do one run below `folder` and return its run folder."""
    assert main(["run", *overrides, f"output_dir={folder}", "runner.progress=false"]) == 0
    return max(Path(folder).glob("*/*/manifest.json"), key=lambda path: path.parent.name).parent


def reports(run_folder: Path) -> Values:
    return {(row["sample_id"], row["epoch"]): row["report"] for row in rows(run_folder / "samples.jsonl")}


def scores(run_folder: Path) -> Values:
    return {
        (row["sample_id"], row["epoch"], row["metric"]): (row["value"], row["numerator"], row["denominator"])
        for row in rows(run_folder / "scores.jsonl")
    }


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scrambled(value: Any, key: str = "") -> Any:
    """The same JSON with every text replaced by meaningless letters; numbers and structure stay."""
    if isinstance(value, dict):
        return {
            name: item if name in ("id", "sample_id", "prompt") else scrambled(item, name)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [scrambled(item, f"{key}.{place}") for place, item in enumerate(value)]
    return f"x{derive(value, key):x}" if isinstance(value, str) else value


def scramble_lines(file: Path) -> None:
    file.write_text("".join(json.dumps(scrambled(row)) + "\n" for row in rows(file)), encoding="utf-8")


def test_short_answers_do_not_depend_on_the_accepted_answers(tmp_path: Path) -> None:
    copy = shutil.copytree(shipped("benchmarks/freshqa_mini"), tmp_path / "copy")
    scramble_lines(copy / "truth.jsonl")
    table = copy / "freshqa_mini.csv"
    with table.open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(questions[0]))
        writer.writeheader()
        hidden = re.compile(r"answer_\d|note|source")
        writer.writerows(
            {name: scrambled(text, name) if text and hidden.fullmatch(name) else text for name, text in row.items()}
            for row in questions
        )
    settings = ("experiment=full_freshqa", "limit=2")
    informed = run("told", *settings)
    blind = run("blind", *settings, f"dataset.path={table}")
    assert reports(informed) == reports(blind)
    assert scores(informed) != scores(blind)


def test_research_needs_no_key_and_its_reports_do_not_depend_on_criteria_references_or_truth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(shipped("benchmarks/drb_mini"), tmp_path / "copy")
    for name in ("criteria.jsonl", "reference.jsonl", "truth.jsonl"):
        scramble_lines(copy / name)
    settings = ("experiment=deep_drb", "dataset.ids=[1]", "agent.deep.max_loops=1", "agent.deep.max_researcher_calls=1")
    informed = run("told", *settings)
    assert "Made with the offline model" in capsys.readouterr().out
    blind = run("blind", *settings, f"dataset.path={copy}", "judge=[race,world]")  # the judges that read these files
    assert reports(informed) == reports(blind)
    misjudged, judged = scores(blind), scores(informed)
    assert {key: judged[key] for key in misjudged} != misjudged
    summary = json.loads((informed / "summary.json").read_text())
    assert (summary["statuses"], summary["cost_usd"], summary["judge_errors"]) == ({"completed": 1}, 0, {})
    assert summary["usage"]["agent"]["total"]["calls"] > 2
    row = rows(informed / "samples.jsonl")[0]
    assert all(".offline.example" in source["url"] for source in row["sources"])
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "told", "blind"}
    assert main(["show", str(informed), row["sample_id"]]) == 0
    assert "tool web_search_tool" in capsys.readouterr().out


@pytest.mark.whole
def test_epochs_differ_and_repeat_at_any_concurrency() -> None:
    settings = ("experiment=full_freshqa", "limit=8", "epochs=3")
    sequential = run("one", *settings, "runner.concurrency=1")
    concurrent = run("eight", *settings, "runner.concurrency=8")
    assert reports(sequential) == reports(concurrent)
    assert scores(sequential) == scores(concurrent)
    texts = reports(sequential)
    changed = [key for key in texts if texts[key] != texts[key[0], 1]]
    assert len(changed) >= 4, "epochs repeat each other"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A separate offline stack, so that its counts outlive the runs."""
    pages = str(shipped("benchmarks/world/pages.jsonl"))
    child = subprocess.Popen(
        [sys.executable, "-m", "aiq.offline", "--port", "0", "--pages", pages, "--keep"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    yield f"http://127.0.0.1:{json.loads(child.stdout.readline())['port']}"
    child.terminate()
    child.wait()


@pytest.mark.whole
@pytest.mark.usefixtures("children_share_a_stack")
def test_a_run_killed_midway_pays_for_nothing_twice(endpoint: str) -> None:
    settings = ("experiment=full_freshqa", "limit=16", f"llm.base_url={endpoint}/v1")
    undisturbed = run("undisturbed", *settings)
    with Forked("aiq.run", *settings, "runner.progress=false", "output_dir=killed") as process:
        while process.returncode is None:
            paths = list(Path("killed").glob("*/*/samples.jsonl"))
            if paths and len(rows(paths[0])) >= 5:
                process.kill()
                break
        assert process.wait() != 0, "the run ended before it could be killed"
    killed = next(Path("killed").glob("*/*/manifest.json")).parent
    finished = {(row["sample_id"], row["epoch"]) for row in rows(killed / "samples.jsonl")}
    assert 5 <= len(finished) < 16
    stats_before = calls(endpoint)
    assert main(["run", f"resume={killed}", "runner.progress=false"]) == 0
    assert reports(killed) == reports(undisturbed)
    assert scores(killed) == scores(undisturbed)
    paid_again = calls(endpoint) - stats_before
    missing = 16 - len(finished)
    needed = sum(
        sum(usage["calls"] for usage in row["usage"].values())
        for row in rows(killed / "samples.jsonl")
        if (row["sample_id"], row["epoch"]) not in finished
    )
    # what was missing, and one FreshEval call for each report that had no score yet
    assert needed <= paid_again <= needed + missing + 8
    assert len(rows(killed / "samples.jsonl")) == 16


def calls(endpoint: str) -> int:
    """How many chat completions the endpoint has answered."""
    with urllib.request.urlopen(f"{endpoint}/stats") as answer:
        stats = json.load(answer)
    return int(stats["paths"]["/v1/chat/completions"])
