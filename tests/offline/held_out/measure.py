"""How well the shipped shallow researcher answers questions in wording its authors have not seen.

    .venv/bin/python -m tests.offline.held_out.measure [--set held_out|ordinary|reworded|mini]

`held_out` is `questions.csv` over `pages.jsonl` of this folder, `ordinary` the same with plainer questions, `mini` the
shipped `freshqa_mini`, and `reworded` the latter with the questions of `reworded.jsonl` and the same answers. Each set
is run with `aiq run`, as a user would run it.

Only aggregates are printed: never a question, a page or an answer. Whoever tunes the offline model must not read the
data in this folder, or its figures no longer measure anything.

Two accuracies, both 0 to 1: `judged` is `fresheval.relaxed`, given by the offline judge; `stated` depends on no
judge: an accepted form of the answer is in the report's first paragraph. A false premise has no short form, so such
questions have no `stated`.
"""

import argparse
import csv
import json
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from aiq.__main__ import main

_HERE = Path(__file__).resolve().parent
_REPOSITORY = _HERE.parents[2]
_MINI = _REPOSITORY / "benchmarks" / "freshqa_mini" / "freshqa_mini.csv"

Row = dict[str, str]

SETS = ("held_out", "ordinary", "reworded", "mini")
_PAGES = {"held_out": _HERE / "pages.jsonl", "ordinary": _HERE / "ordinary_pages.jsonl"}
GROUPS: dict[str, Callable[[Row], bool]] = {
    "all": lambda row: True,
    "one-hop": lambda row: row["num_hops"] == "one-hop",
    "multi-hop": lambda row: row["num_hops"] == "multi-hop",
    "English": lambda row: row["note"] != "zh",
    "Chinese": lambda row: row["note"] == "zh",
    "false premise": lambda row: row["false_premise"] == "TRUE",
}


@dataclass(frozen=True)
class Accuracy:
    """The accuracy over a group of samples. A mean (0 to 1) is None if no sample of the group has a value."""

    samples: int
    judged: float | None
    stated: float | None


def measure(name: str) -> dict[str, Accuracy]:
    """The accuracies on the set `name` (one of `SETS`) by group. Raises `RuntimeError` if the run fails."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        questions = _reworded(folder / "reworded.csv") if name == "reworded" else _questions(name)
        run = _run(questions, folder / "results", _PAGES.get(name))
        return _accuracies(_rows(questions), run)


def _questions(name: str) -> Path:
    own = {"held_out": _HERE / "questions.csv", "ordinary": _HERE / "ordinary_questions.csv"}
    return own.get(name, _MINI)


def _rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _jsonl(paths: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def _reworded(path: Path) -> Path:
    """Write `freshqa_mini` with the questions of `reworded.jsonl` to `path`."""
    questions = {line["id"]: line["question"] for line in _jsonl([_HERE / "reworded.jsonl"])}
    rows = [row | {"question": questions[row["id"]]} for row in _rows(_MINI)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _run(questions: Path, output: Path, pages: Path | None) -> Path:
    """The folder of a finished run over `questions`."""
    command = ["run", "experiment=shallow_freshqa", "judge=[fresheval]"]
    command += [f"dataset.path={questions}", f"output_dir={output}", "runner.progress=false"]
    command += [f"offline.world={pages}"] if pages else []
    with redirect_stdout(StringIO()) as said, redirect_stderr(said):  # the output may contain a question
        code = main(command)
    if code:
        raise RuntimeError(f"exit code {code} of: aiq {' '.join(command)}")
    (summary,) = output.glob("*/*/summary.json")
    return summary.parent


def _accuracies(rows: list[Row], run: Path) -> dict[str, Accuracy]:
    scores = _jsonl(sorted(run.glob("scores*.jsonl")))
    judged = {line["sample_id"]: line["value"] for line in scores if line["metric"] == "fresheval.relaxed"}
    reports = {line["sample_id"]: line["report"] or "" for line in _jsonl(sorted(run.glob("samples*.jsonl")))}
    found = {}
    for name, belongs in GROUPS.items():
        group = [row for row in rows if belongs(row)]
        stated = [states(reports[row["id"]], _forms(row)) for row in group if row["false_premise"] != "TRUE"]
        found[name] = Accuracy(len(group), _mean(judged.get(row["id"]) for row in group), _mean(stated))
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    mean = summary["metrics"]["fresheval.relaxed"]["mean"]
    return found | {"all": Accuracy(len(rows), mean, found["all"].stated)}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _forms(row: Row) -> list[str]:
    return [row[column] for column in row if column.startswith("answer_") and row[column]]


def states(report: str, forms: list[str]) -> bool:
    """Whether the first paragraph of `report` after its headings contains one of `forms` as whole words."""
    paragraphs = [part for part in re.split(r"\n\s*\n", report.strip()) if not part.startswith("#")]
    text = _plain(paragraphs[0]) if paragraphs else ""
    return any(re.search(rf"(?<![a-z0-9]){re.escape(_plain(form))}(?![a-z0-9])", text) for form in forms)


def _plain(text: str) -> str:
    """`text` without case, emphasis, citation marks and thousands separators."""
    text = re.sub(r"\[\d+\]|[*`]", "", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text).split())


def table(accuracies: dict[str, Accuracy]) -> str:
    """`accuracies` as text, one line per group."""

    def shown(mean: float | None) -> str:
        return f"{'-':>7}" if mean is None else f"{mean:7.3f}"

    lines = [f"{name:14}{one.samples:8}{shown(one.judged)}{shown(one.stated)}" for name, one in accuracies.items()]
    return "\n".join([f"{'':14}{'samples':>8}{'judged':>7}{'stated':>7}", *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Accuracy on questions in wording not seen; prints aggregates only")
    parser.add_argument("--set", choices=SETS, default="held_out")
    try:
        print(table(measure(parser.parse_args().set)))
    except RuntimeError as error:
        sys.exit(f"{error}; where packages are missing, use .venv/bin/python")
