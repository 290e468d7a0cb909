"""FACT over whole runs on the offline stack: each page and question once a run, the same values in any order."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.files import shipped

EXPERIMENT = ("experiment=deep_drb", "agent=reports", "agent.path=reports.jsonl", "judge=[fact]", "epochs=2")
FAULTS = ("seed=6", "offline.faults.empty_content=0.4", "judge.fact.statements_per_call=1", "judge.fact.tries=2")
SETTINGS = (*EXPERIMENT, *FAULTS, "runner.progress=false", "runner.max_error_rate=1")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with four reports on two pages: two say the same of the first, all say the same of the second."""
    monkeypatch.chdir(tmp_path)
    pages = rows(shipped("benchmarks/world") / "pages.jsonl")
    first, second = [page for page in pages if page["text"].isascii()][:2]
    common = [f"{sentence}. [2]" for sentence in second["text"].replace("\n", " ").split(". ")[:4]]
    listed = f"## References\n\n[1] A - {first['url']}\n[2] B - {second['url']}"
    lines = []
    for number in (1, 2, 3, 4):
        own = f"This is said in report {number // 2} only and stands nowhere [1]."
        article = " ".join([own, *common])
        lines.append(json.dumps({"id": number, "prompt": "", "article": f"{article}\n\n{listed}"}))
    (tmp_path / "reports.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def run(*overrides: str) -> Path:
    assert main(["run", *SETTINGS, *overrides]) == 0
    return max(Path("results/deep_drb").iterdir(), key=lambda path: path.name)


def values(run: Path) -> dict[tuple[str, int, str], Any]:
    found = {}
    for row in rows(run / "scores.jsonl"):
        keys = ("status", "value", "numerator", "denominator", "detail", "reason")
        found[row["sample_id"], row["epoch"], row["metric"]] = [row[key] for key in keys]
    return found


def spent(run: Path) -> int:
    """Model calls in the books of the judge's rows."""
    return sum(usage["calls"] for row in rows(run / "scores.jsonl") for usage in (row["usage"] or {}).values())


def judged(run: Path) -> Mapping[str, Any]:
    usage: Mapping[str, Any] = json.loads((run / "summary.json").read_text())["usage"]["judge"]
    return usage


def test_whoever_comes_first_nothing_is_asked_twice_and_nothing_changes(here: Path) -> None:
    alone = run("runner.concurrency=1")
    assert len(rows(alone / "pages.jsonl")) == 2
    answers = rows(alone / "answers.jsonl")
    assert len({row["key"] for row in answers}) == len(answers)
    # 3 different reports, their 3 own statements and 4 common ones; 8 attempts would have asked 8 * (1 + 1 + 4)
    assert len(answers) <= 3 + 3 + 4
    verdicts = json.dumps([detail for *_, detail, _ in values(alone).values()])
    assert "no usable answer in 2 tries" in verdicts, "the faults spoiled no page: nothing depends on a seed here"
    assert '"supported"' in verdicts

    crowd = run("runner.concurrency=8")
    assert values(crowd) == values(alone)
    assert judged(crowd) == judged(alone)
    told = {row["key"]: row["text"] for row in rows(crowd / "answers.jsonl")}
    assert told == {row["key"]: row["text"] for row in answers}

    before, calls = values(alone), judged(alone)["total"]["calls"]
    lines = (alone / "scores.jsonl").read_text().splitlines(keepends=True)
    (alone / "scores.jsonl").write_text("".join(lines[: len(lines) // 2]))
    paid = spent(alone)
    assert main(["run", f"resume={alone}", "runner.concurrency=4"]) == 0
    assert values(alone) == before
    assert spent(alone) - paid < calls / 3, "what stood in answers.jsonl was paid for again"

    for name in ("scores.jsonl", "answers.jsonl", "pages.jsonl"):
        (crowd / name).unlink()
    assert main(["run", f"resume={crowd}"]) == 0
    assert values(crowd) == before, "stored answers save money and decide nothing"
    assert spent(crowd) == calls


def test_pages_of_another_web_are_read_anew(here: Path) -> None:
    old = run("epochs=1", "limit=1", "offline.faults.empty_content=0")
    page = rows(old / "pages.jsonl")[0]
    corpus = [{"url": page["url"], "title": page["title"], "text": "This is said in report 0 only and stands nowhere."}]
    Path("corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    assert main(["rescore", old.name, "web=corpus", "search.corpus=corpus.jsonl"]) == 0
    new = max(Path("results/deep_drb").iterdir(), key=lambda path: path.name)
    assert [row["text"] for row in rows(new / "pages.jsonl")] == [corpus[0]["text"]]
    assert values(new) != values(old)
