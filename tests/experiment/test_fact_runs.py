"""FACT over whole runs on the offline stack: each page and question once per run, the same values in any order."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.files import shipped
from tests.cases import rows

EXPERIMENT = ("experiment=deep_drb", "agent=reports", "agent.path=reports.jsonl", "judge=[fact]", "epochs=2")
FAULTS = ("seed=6", "offline.faults.empty_content=0.4", "judge.fact.statements_per_call=1", "judge.fact.tries=2")
SETTINGS = (*EXPERIMENT, *FAULTS, "runner.progress=false", "runner.max_error_rate=1")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with four reports on two pages: pairs say the same about the first, all the same about the second."""
    monkeypatch.chdir(tmp_path)
    pages = rows(shipped("benchmarks/world") / "pages.jsonl")
    first, second = [page for page in pages if page["text"].isascii()][:2]
    shared_sentences = [f"{sentence}. [2]" for sentence in second["text"].replace("\n", " ").split(". ")[:4]]
    references = f"## References\n\n[1] A - {first['url']}\n[2] B - {second['url']}"
    lines = []
    for number in (1, 2, 3, 4):
        first_sentence = f"This is said in report {number // 2} only and stands nowhere [1]."
        article = " ".join([first_sentence, *shared_sentences])
        lines.append(json.dumps({"id": number, "prompt": "", "article": f"{article}\n\n{references}"}))
    (tmp_path / "reports.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def started(*overrides: str) -> int:
    """The exit code of a run with the settings above, overridden by these."""
    settings = {setting.partition("=")[0]: setting for setting in (*SETTINGS, *overrides)}
    return main(["run", *settings.values()])


def run(*overrides: str) -> Path:
    assert started(*overrides) == 0
    return max(Path("results/deep_drb").iterdir(), key=lambda path: path.name)


def values(run: Path) -> dict[tuple[str, int, str], Any]:
    by_key = {}
    for row in rows(run / "scores.jsonl"):
        keys = ("status", "value", "numerator", "denominator", "detail", "reason")
        by_key[row["sample_id"], row["epoch"], row["metric"]] = [row[key] for key in keys]
    return by_key


def spent(run: Path) -> int:
    """Model calls recorded in the judge's rows."""
    return sum(usage["calls"] for row in rows(run / "scores.jsonl") for usage in (row["usage"] or {}).values())


def judged(run: Path) -> Mapping[str, Any]:
    usage: Mapping[str, Any] = json.loads((run / "summary.json").read_text())["usage"]["judge"]
    return usage


@pytest.mark.whole
def test_nothing_is_asked_twice_and_values_do_not_depend_on_the_order(here: Path) -> None:
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
    texts = {row["key"]: row["text"] for row in rows(crowd / "answers.jsonl")}
    assert texts == {row["key"]: row["text"] for row in answers}

    old_values, calls = values(alone), judged(alone)["total"]["calls"]
    lines = (alone / "scores.jsonl").read_text().splitlines(keepends=True)
    (alone / "scores.jsonl").write_text("".join(lines[: len(lines) // 2]))
    paid = spent(alone)
    assert main(["run", f"resume={alone}", "runner.concurrency=4"]) == 0
    assert values(alone) == old_values
    assert spent(alone) - paid < calls / 3, "what stood in answers.jsonl was paid for again"

    for name in ("scores.jsonl", "answers.jsonl", "pages.jsonl"):
        (crowd / name).unlink()
    assert main(["run", f"resume={crowd}"]) == 0
    assert values(crowd) == old_values, "stored answers save money and decide nothing"
    assert spent(crowd) == calls


def test_pages_of_another_web_are_read_again(here: Path) -> None:
    old = run("epochs=1", "limit=1", "offline.faults.empty_content=0")
    page = rows(old / "pages.jsonl")[0]
    corpus = [{"url": page["url"], "title": page["title"], "text": "This is said in report 0 only and stands nowhere."}]
    Path("corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    assert main(["rescore", old.name, "web=corpus", "search.corpus=corpus.jsonl"]) == 0
    new = max(Path("results/deep_drb").iterdir(), key=lambda path: path.name)
    assert [row["text"] for row in rows(new / "pages.jsonl")] == [corpus[0]["text"]]
    assert values(new) != values(old)


def test_pages_denied_to_agents_are_still_judged(here: Path) -> None:
    folder = run("epochs=1", "limit=1", "offline.faults.empty_content=0", "web.deny=[*]")
    assert len(rows(folder / "pages.jsonl")) == 2
    assert json.loads((folder / "summary.json").read_text())["judge_caveats"] == {}


def test_missing_pages_are_named_fail_the_run_and_alone_are_retried_on_resume(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With only one of the two pages, half of the citations cannot be read; the other page is added for the resume."""
    pages = [row for row in rows(shipped("benchmarks/world") / "pages.jsonl") if row["text"].isascii()][:2]
    corpus, lines = Path("corpus.jsonl"), [json.dumps(page) + "\n" for page in pages]
    corpus.write_text(lines[1])
    web = ("web=corpus", "search=corpus", "search.corpus=corpus.jsonl", "epochs=1", "limit=4")
    options = ("runner.concurrency=1", "judge.fact.statements_per_call=null", "offline.faults.empty_content=0")
    assert started(*web, *options, "runner.max_error_rate=0.1") == 3
    folder = next(Path("results/deep_drb").iterdir())
    output = capsys.readouterr()
    caveat = "judge fact: 4 of 8 cited pages not read and judged"
    assert f"{caveat}: 4 not_available; the first: not_available: {pages[0]['url']}" in output.out.replace("\n", " ")
    assert f"aiq: {caveat}, more than runner.max_error_rate allows (exit code 3)" in output.err
    assert f"aiq: to retry failed judgements: aiq run resume={folder}\n" in output.err
    assert f"{caveat}: 4 not_available" in (folder / "site/summary.js").read_text()
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["metrics"]["fact.judged_share"]["mean"] == 16 / 20
    assert summary["metrics"]["fact.citation_accuracy"]["n"] == 4

    calls, n_answers = spent(folder), len(rows(folder / "answers.jsonl"))
    corpus.write_text("".join(lines))
    assert main(["run", "resume=latest"]) == 0
    assert [row["url"] for row in rows(folder / "pages.jsonl")] == [page["url"] for page in reversed(pages)]
    answers = rows(folder / "answers.jsonl")[n_answers:]
    assert spent(folder) - calls == len(answers) == 3, "the missing page with the statement of each different report"
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["judge_caveats"], summary["metrics"]["fact.judged_share"]["mean"]) == ({}, 1.0)
    capsys.readouterr()
    assert main(["run", f"resume={folder}"]) == 0
    assert spent(folder) - calls == 3
