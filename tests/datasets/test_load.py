"""Loading datasets: shipped ones, truth beside them, the hub, and the filters that select samples."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import aiq
from aiq.core.errors import DatasetError
from aiq.core.files import resolve, shipped
from aiq.core.run_settings import DatasetSettings
from aiq.core.samples import Question, Sample
from aiq.datasets import Dataset, Samples, load
from aiq.datasets.load import select
from tests.cases import table
from tests.datasets.conftest import DRB, FRESHQA, OWN, loaded
from tests.settings import configured

each = table(__file__)


def test_shipped_datasets_load_unless_the_user_has_such_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # no benchmarks/ here, so the shipped one is used
    questions = loaded(FRESHQA, "benchmarks/freshqa_mini/freshqa_mini.csv")
    tasks = loaded(DRB, "benchmarks/drb_mini")
    assert (questions.size, len(questions.samples), tasks.size) == (120, 120, 12)
    assert all(sample.truth is not None for sample in (*questions.samples, *tasks.samples))
    assert all(sample.rubric is not None and sample.reference for sample in tasks.samples)
    assert questions.fingerprint != tasks.fingerprint
    assert resolve("benchmarks/drb_mini") == shipped("benchmarks/drb_mini")
    Path("benchmarks/drb_mini").mkdir(parents=True)
    assert resolve("benchmarks/drb_mini") == Path("benchmarks/drb_mini")
    assert resolve("benchmarks/absent") == Path("benchmarks/absent")


def test_truth_may_be_elsewhere_or_absent(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "own.jsonl"
    path.write_text('{"id": "a", "question": "Who?"}\n{"id": "b", "question": "Where?"}\n')
    assert [sample.truth for sample in loaded(OWN, path).samples] == [None, None]
    truth = tmp_path / "known.jsonl"
    truth.write_text(json.dumps({"sample_id": "b", "hops": 2, "needs_depth": True, "facts": []}) + "\n")
    first, second = loaded(OWN, path, truth=str(truth)).samples
    assert first.truth is None
    assert second.truth is not None
    assert second.truth.needs_depth
    assert first.hash == loaded(OWN, path).samples[0].hash


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("id", r"own\.jsonl, line 3: id x is already in .*own\.jsonl, line 1; keep one"),
        ("thread_id", "samples 1 and 3 have the same thread_id x.*history"),
    ],
)
def test_ids_and_threads_must_be_unique(tmp_path: Path, column: str, message: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps({"question": "Who?", column: key}) + "\n" for key in ("x", "y", "x")))
    with pytest.raises(DatasetError, match=message):
        loaded(OWN, path)


@each("row")
def test_broken_truth_is_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "own.csv").write_text("question\nWho?\n")
    (tmp_path / "truth.jsonl").write_text(row)
    with pytest.raises(DatasetError) as caught:
        loaded(OWN, tmp_path / "own.csv")
    assert message in str(caught.value)


def test_a_custom_format_is_one_class_and_one_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the code and config printed in docs/datasets.md."""
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    (tmp_path / "riddles.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    (tmp_path / "conf/dataset").mkdir(parents=True)
    (tmp_path / "conf/dataset/riddles.yaml").write_text(page.partition("```yaml\n")[2].partition("```")[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def of_config(*overrides: str) -> Dataset:
        return load(aiq.settings("dataset=riddles", *overrides).dataset, seed=0, limit=None)

    path = tmp_path / "riddles.csv"
    path.write_text("riddle,solution,level\nWhat has keys?,A piano,easy\nWhat has hands?,,hard\n")
    with pytest.raises(DatasetError, match=r"riddles\.csv, row 3: no solution"):
        of_config()
    path.write_text("riddle,solution,level\nWhat has keys?,A piano,easy\nWhat has hands?,A clock,hard\n")
    assert [sample.answers for sample in of_config().samples] == [("A piano",), ("A clock",)]
    (sample,) = of_config("dataset.hard=true").samples
    assert (sample.id, sample.question.text, sample.answers) == ("2", "What has hands?", ("A clock",))
    with pytest.raises(DatasetError, match=r"dataset.path is not set; name a CSV"):
        of_config("dataset.path=null")


DAY = date(2026, 1, 2)


def of_hub(hub: str, split: str = "train") -> Dataset:
    return load(
        aiq.settings("dataset=freshqa", f"dataset.hub={hub}", f"dataset.hub_split={split}").dataset, seed=0, limit=None
    )


def test_hub_rows_are_read_and_hub_failures_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(name: str, config: str | None, *, split: str) -> list[dict[str, object]]:
        if split != "train":
            raise ValueError(f"Unknown split {split}.\nShould be one of ['train'].")
        return [{" ID": 1, "Question": "Who?", "false_premise": True, "answer_0": "Ilan", "next_review": DAY}]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    (sample,) = (dataset := of_hub("a/b")).samples
    assert (sample.id, sample.answers, sample.tags["false_premise"]) == ("1", ("Ilan",), "TRUE")
    assert sample.tags["next_review"] == "2026-01-02"
    assert dataset.fingerprint == of_hub("a/b").fingerprint
    with pytest.raises(
        DatasetError, match=r"^dataset\.hub=a/b \(split x\) could not be loaded: Unknown split x\. Check"
    ):
        of_hub("a/b", "x")


_HUB = """
import sys
from aiq.core.errors import DatasetError
from tests.datasets.test_load import of_hub
print([(s.id, s.question.text, s.answers, s.tags["false_premise"]) for s in of_hub(sys.argv[1]).samples])
for hub, split in (("nobody-here/not-there", "train"), (sys.argv[1], "nope")):
    try:
        of_hub(hub, split)
    except DatasetError as error:
        print(str(error))
"""


@pytest.mark.whole
def test_the_real_hub_client(tmp_path: Path) -> None:
    """Takes ten seconds of computing, nearly all of it in the client."""
    folder = tmp_path / "freshqa"
    folder.mkdir()
    (folder / "train.csv").write_text(
        "id,question,false_premise,answer_0,answer_1\n1,Who?,TRUE,Ilan,\n2,In what year?,FALSE,1987,1988\n"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", _HUB, str(folder)]
    proc = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    rows, absent, split = proc.stdout.splitlines()
    assert rows == "[('1', 'Who?', ('Ilan',), 'TRUE'), ('2', 'In what year?', ('1987', '1988'), 'FALSE')]"
    assert absent.startswith("dataset.hub=nobody-here/not-there (split train) could not be loaded:")
    assert "set dataset.path" in absent
    assert "nope" in split


def test_loading_imports_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import aiq.datasets, aiq.datasets.freshqa"]
    proc = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded_modules = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in proc.stderr.splitlines() if "|" in line}
    assert loaded_modules & {"datasets", "pandas", "numpy", "pyarrow"} == set()


SAMPLES = tuple(
    Sample(
        id=str(number),
        question=Question(text=f"Question {number}", language="zh" if number % 5 == 0 else "en"),
        tags={
            "split": "DEV" if number % 2 else "TEST",
            "fact_type": ("fast-changing", "never-changing")[number % 3 > 0],
        },
    )
    for number in range(1, 31)
)


def chosen(*, seed: int = 0, limit: int | None = None, **filters: Any) -> list[int]:
    settings = configured(DatasetSettings, target="a:B", name="numbers", **filters)
    return [int(sample.id) for sample in select(Samples(SAMPLES), settings, seed=seed, limit=limit)]


def test_filters_combine_and_the_limit_comes_last() -> None:
    assert chosen() == list(range(1, 31))
    assert chosen(ids=[17, "3"]) == [3, 17]
    assert chosen(split="dev") == list(range(1, 31, 2))
    assert chosen(language="zh") == [5, 10, 15, 20, 25, 30]
    assert chosen(type="Fast-Changing") == list(range(3, 31, 3))
    assert chosen(split="DEV", type="fast-changing", limit=2) == [3, 9]
    assert chosen(sample=10, limit=3) == chosen(sample=10)[:3]


def test_a_subset_is_drawn_by_the_seed_and_keeps_the_order() -> None:
    first = chosen(sample=8)
    assert len(first) == 8
    assert first == sorted(first) == chosen(sample=8)
    assert first != chosen(sample=8, seed=1)
    assert set(chosen(sample=5)) < set(first)
    assert chosen(sample=99) == list(range(1, 31))


@each("filters")
def test_a_filter_that_leaves_nothing_is_named(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        chosen(**filters)
    with pytest.raises(DatasetError, match=r"dataset\.path and dataset\.hub are both set"):
        loaded(FRESHQA, "x", hub="y")
