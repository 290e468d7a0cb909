"""`aiq correct` on runs with known truth: with labels of their own samples, of another run's, and of none."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from aiq.__main__ import main
from tests.analysis.test_compare import Captured, Given, Place, place

__all__ = ["place"]

LENIENT: Callable[[int, int], bool] = lambda number, epoch: number % 4 != 0  # noqa: E731  a judge that likes 3 of 4


def truly(number: int) -> bool:
    return number % 2 == 1  # and people accept every second one


def labels(rows: Iterable[tuple[str, object, str]], path: Path = Path("labels.jsonl")) -> str:
    text = "".join(f"{json.dumps(dict(zip(('sample_id', 'label', 'metric'), row, strict=True)))}\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return str(path)


def corrected(place: Place, run: str, *arguments: str) -> Given:
    assert main(["correct", run, *arguments, "--json", "out.json"]) == 0
    corrections: Given = json.loads((place.path / "out.json").read_text(encoding="utf-8"))
    return corrections


def test_labels_of_some_samples_correct_a_lenient_judge(place: Place, capsys: Captured) -> None:
    place.run("a", LENIENT, n=200, failed=(1, 3))
    path = labels([*((f"s{n}", truly(n), "j.right") for n in range(100, 140)), ("s999", True, "")])
    corrections = corrected(place, "a", "--labels", path)
    (metric,) = [m for m in corrections["metrics"] if m["metric"] == "j.right"]
    assert (metric["method"], metric["n"], metric["labels"], metric["failed"]) == ("ppi++", 200, 40, 2)
    assert metric["judge"] == pytest.approx(148 / 200)
    truth = 98 / 200  # the failed ones, 1 and 3, are wrong
    assert metric["ci95"][0] < truth < metric["ci95"][1]
    assert abs(metric["mean"] - truth) < abs(metric["judge"] - truth)
    assert metric["ci95"][1] - metric["ci95"][0] < metric["labels_ci95"][1] - metric["labels_ci95"][0]
    assert corrections["unmatched"] == 1
    output = capsys.readouterr().out
    assert all(part in output for part in ("(PPI++)", "2 failed samples need no label", "1 label without a judged"))


def test_labels_of_another_run_give_the_judges_error_rates(place: Place, capsys: Captured) -> None:
    place.run("labelled", LENIENT, n=100)
    place.run("a", lambda number, epoch: number % 2 == 0 or number % 4 == 1, n=100)
    path = labels((f"s{n}", truly(n), "j.right") for n in range(100))
    corrections = corrected(place, "a", "--labels", path, "--labelled", "labelled")
    (metric,) = corrections["metrics"]
    assert (metric["method"], metric["sensitivity"], metric["specificity"]) == ("lee", 1.0, 0.5)
    assert metric["mean"] == pytest.approx((0.75 + 0.5 - 1) / (1.0 + 0.5 - 1), abs=0.02)
    assert corrections["labelled_in"] == ["labelled"]
    assert "Lee et al." in capsys.readouterr().out


RIGHT = [(f"s{n}", truly(n), "j.right") for n in range(60)]


@pytest.mark.parametrize(
    ("given", "elsewhere", "metric", "why"),
    [
        ([("s1", True, "j.cited"), ("s2", False, "j.cited")], None, "j.cited", "a ratio over many items per report"),
        ([("s1", True, "j.right")], None, "j.right", "1 label; 2 are needed"),
        (RIGHT, {"judge_hash": "h2"}, "j.right", "its judge, prompt or model differs"),
        ([(f"s{n}", 0.5, "j.score") for n in range(9)], {}, "j.score", "only correct scores of 0 or 1"),
        ([("s1", True, "j.right"), ("s3", True, "j.right")], {}, "j.right", "both right and wrong samples"),
        ([(f"s{n}", not LENIENT(n, 1), "j.right") for n in range(60)], {}, "j.right", "no better than chance"),
    ],
)
def test_metrics_that_labels_cannot_correct_are_left_out_with_the_reason(
    place: Place, given: list[tuple[str, object, str]], elsewhere: Given | None, metric: str, why: str
) -> None:
    place.run("a", LENIENT)
    arguments = () if elsewhere is None else ("--labelled", place.run("b", LENIENT, **elsewhere))
    corrections = corrected(place, "a", "--labels", labels(given), *arguments)
    assert corrections["metrics"] == []
    assert why in corrections["left_out"][metric]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            ("s999", True, ""),
            "none of 1 label is for a judged sample; check sample_id, metric (j.right, j.score, j.cited)",
        ),
        (("s1", 7, "j.score"), "label 7 of sample s1 is outside j.score (0.0 .. 1.0)"),
    ],
)
def test_labels_that_match_nothing_are_one_line(
    place: Place, row: tuple[str, object, str], said: str, capsys: Captured
) -> None:
    place.run("a", LENIENT)
    assert main(["correct", "a", "--labels", labels([row])]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
