"""Runs over users' documents: the shipped experiment, collections per question, and mistakes with either."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.errors import UserError
from aiq.core.run_settings import KnowledgeSettings
from aiq.core.samples import Document, Question, Sample
from aiq.core.tools import Toolbox
from aiq.experiment.plan import check_data_sources, collections_of, with_documents
from aiq.tools.toolbox import Think
from tests.cases import table
from tests.settings import configured

each = table(__file__)

Folder = Callable[[], Path]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n\nThe auditor of Halden Works is Mara Tolvane.")
    return tmp_path


def sample(number: int, **question: Any) -> Sample:
    return Sample(id=str(number), question=Question(text="Who?", **question))


def settings(**changes: Any) -> KnowledgeSettings:
    return configured(KnowledgeSettings, **{"collection": "mine", "documents": ["notes.md"], **changes})


def run_of(*overrides: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    assert main(["run", *overrides, "runner.progress=false"]) == 0
    folder = max(Path("results").glob("*/*/manifest.json"), key=lambda path: path.parent.name).parent
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
    return rows, json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_the_shipped_experiment_answers_from_documents_and_cites_their_pages(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, summary = run_of("experiment=documents_qa", "dataset.ids=[7,12]")
    assert summary["metrics"]["fresheval.relaxed"]["mean"] >= 0.7
    assert summary["metrics"]["citations.valid_rate"]["mean"] == 1
    questions = {row["id"]: row for row in map(json.loads, _questions())}
    citations = {row["sample_id"]: set(re.findall(r"\S+\.pdf, p\.\d+", row["report"])) for row in rows}
    correct = [citations[number] & set(questions[number]["pages"].split("; ")) for number in citations]
    assert sum(map(bool, correct)) >= 0.7 * len(rows)
    assert any(source.get("citation_key") for row in rows for source in row["sources"])
    row_12 = next(row for row in rows if row["sample_id"] == "12")  # by way of the web to the minutes
    assert ".offline.example" in row_12["report"]
    assert ".pdf, p." in row_12["report"]
    listing = here / "knowledge" / "world" / "collection.json"
    mtime = listing.stat().st_mtime_ns
    second_rows, _ = run_of("experiment=documents_qa", "dataset.ids=[7]")
    assert listing.stat().st_mtime_ns == mtime  # nothing was read a second time
    assert [row["report"] for row in second_rows] == [row["report"] for row in rows if row["sample_id"] == "7"]
    page = max(Path("results").glob("*/*/site/samples-0.js"), key=lambda path: str(path)).read_text(encoding="utf-8")
    assert ".pdf, p." in page


def _questions() -> list[str]:
    from aiq.core.files import shipped

    return shipped("benchmarks/documents_mini/questions.jsonl").read_text(encoding="utf-8").splitlines()


def test_documents_are_listed_if_the_question_may_search_them(here: Path) -> None:
    own_document = Document(file_name="own.pdf", summary="Mine.")
    samples = with_documents(
        [
            sample(1),
            sample(2, documents=(own_document,)),
            sample(3, data_sources=("web",)),
            sample(4, data_sources=("documents",)),
        ],
        settings(),
    )
    summary = "Notes. The auditor of Halden Works is Mara Tolvane."
    notes = (Document(file_name="notes.md", summary=summary),)
    assert [s.question.documents for s in samples] == [notes, (own_document,), (), notes]


def test_a_question_names_its_own_collection(here: Path) -> None:
    with_documents([], settings(collection="yours"))
    samples = (sample(1, collection_name="yours"), sample(2), sample(3, collection_name="yours"))
    assert collections_of(samples) == ("yours",)
    first, second, _ = with_documents(samples, configured(KnowledgeSettings))
    assert [d.file_name for d in first.question.documents] == ["notes.md"]
    assert second.question.documents == ()


def test_without_collections_nothing_is_opened(here: Path) -> None:
    assert with_documents([sample(1)], configured(KnowledgeSettings)) == (sample(1),)
    assert not (here / "knowledge").exists()


@each("changes")
def test_a_mistake_is_one_line(here: Path, changes: dict[str, Any], question: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        with_documents([sample(1, **question)], settings(**changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "remedy"), [("papers", "set papers.provider"), ("documents", "set knowledge.collection")]
)
def test_a_data_source_that_no_tool_serves_is_reported_before_the_run(
    here: Path, capsys: pytest.CaptureFixture[str], source: str, remedy: str
) -> None:
    check_data_sources([sample(1), sample(2, data_sources=())], Toolbox([Think()]))
    (here / "q.jsonl").write_text(json.dumps({"question": "Who?", "answers": ["x"], "data_sources": [source]}))
    overrides = ["dataset=documents_mini", "dataset.path=q.jsonl", "judge=[fresheval]"]
    assert main(["run", "experiment=shallow_freshqa", *overrides, "runner.progress=false"]) == 2
    message = rf"sample \S+: no tool of this run serves the data source '{source}'.*{remedy}\n"
    assert re.search(message, capsys.readouterr().err)
    assert not (here / "results").exists()


def test_a_missing_key_is_reported_before_the_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "experiment=documents_qa", "papers.provider=serper", "runner.progress=false"]) == 2
    assert "papers.api_key_env=SERPER_API_KEY" in capsys.readouterr().err
    assert not (here / "results").exists()
