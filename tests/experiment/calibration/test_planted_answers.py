"""FreshEval measured by answers whose verdict is known: short answers have no degrees of damage, so labels are used."""

import json
import re
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.analysis.calibration import calibrate
from aiq.core.files import shipped
from aiq.core.samples import Sample
from aiq.core.settings import DatasetSettings
from aiq.datasets import load
from aiq.runs.folder import find_run

FILE = shipped("benchmarks/freshqa_mini") / "freshqa_mini.csv"


def numeric() -> list[tuple[Sample, int]]:
    """Questions that are answered by a number above 1000, written with separators, and the number."""
    settings = DatasetSettings(target="aiq.datasets.freshqa:FreshQA", name="freshqa_mini", path=str(FILE))
    samples = load(settings, seed=0, limit=None).samples
    found = [(sample, sample.answers[0]) for sample in samples if re.fullmatch(r"[\d,]*,\d{3}", sample.answers[0])]
    return [(sample, int(text.replace(",", ""))) for sample, text in found][:9]


def planted() -> list[tuple[Sample, str, bool]]:
    """Answers and whether each is right: in turn as it is, twice as much, and moved by half a percent."""
    factors = (1, 2, 1.005)
    return [
        (sample, f"It is {round(number * factors[n % 3]):,}.", n % 3 == 0)
        for n, (sample, number) in enumerate(numeric())
    ]


def test_labels_show_that_the_offline_judge_takes_no_other_number_for_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = planted()
    reports = [{"id": sample.id, "prompt": sample.question.text, "article": text} for sample, text, _ in rows]
    labels = [{"sample_id": sample.id, "label": "正确" if right else "incorrect"} for sample, _, right in rows]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in reports), encoding="utf-8")
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels), encoding="utf-8")
    chosen = [f"dataset.ids=[{','.join(sample.id for sample, _, _ in rows)}]", "runner.progress=false"]
    reported = ["agent=reports", "agent.path=answers.jsonl", "judge=[fresheval]"]
    assert main(["run", "experiment=shallow_freshqa", *reported, *chosen]) == 0
    (measured,) = calibrate([find_run("latest")], Path("labels.jsonl")).labels
    assert (measured.metric, measured.labels) == ("fresheval.relaxed", 9)
    assert measured.accuracy is not None
    assert measured.accuracy.value == 1
    assert measured.kappa is not None
    assert measured.kappa.value == 1
