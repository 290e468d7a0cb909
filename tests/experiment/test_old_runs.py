"""A run in the first version of the layout (`version_1`) can be resumed, shown and rescored like any other.

Its manifest lacks the judges' declarations, and its events are in one file per sample and epoch.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.runs.folder import RunFolder
from aiq.site.pages import data_records, write_run
from tests.experiment.conftest import Captured, Workplace

SAMPLES = {"s1": "red one", "s2": "red fail", "s3": "blue unjudgeable", "s10": "blue reject"}


@pytest.fixture
def old(here: Workplace) -> Path:
    """The old run in a results folder; s3 could not be judged, s2 failed, s10 was rejected."""
    here.write_samples(SAMPLES)
    folder = here.path / "results/tiny/20261122-165638-260feb"
    shutil.copytree(Path(__file__).parent / "version_1", folder)
    return folder


def without(path: Path, key: tuple[str, int]) -> None:
    """Remove the rows of a (sample, epoch) from a file, as if the run had been cut off before them."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [row for row in rows if (row["sample_id"], row["epoch"]) != key]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept))


def rounded(value: Any) -> Any:
    """Numbers rounded to nine digits, because quantiles of different library versions may differ in the last ones."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_missing_work_is_made_up_on_resume_and_the_numbers_are_the_same(here: Workplace, old: Path) -> None:
    summary, values = here.summary(old), here.values(old)
    for name, key in (("samples", ("s1", 2)), ("scores", ("s1", 2)), ("scores", ("s10", 1))):
        without(old / f"{name}.jsonl", key)
    resume = ["run", f"resume={old}", f"llm.base_url={here.endpoint.base_url}"]
    assert main(resume) == 0
    assert sorted(here.endpoint.asked) == sorted(["red one", *(values[s, e, "report"] for s, e in RETRIED)])
    assert here.values(old) == values
    new = here.summary(old)
    assert summary["judge_errors"] == {"letters": {"n": 2, "first": "this report cannot be judged"}}
    assert new["judge_errors"] == {"letters": {"n": 2, "causes": {"this report cannot be judged": 2}}}
    parts = ("metrics", "slices", "statuses", "agent_failures", "failures", "unavailable", "ranges")
    assert rounded({name: new[name] for name in parts}) == rounded({name: summary[name] for name in parts})
    manifest = here.manifest(old)
    assert (manifest["schema_version"], manifest["status"]) == (2, "finished")
    assert [metric["name"] for metric in manifest["judges"][0]["metrics"]] == list(summary["metrics"])


RETRIED = (("s1", 2), ("s3", 1), ("s3", 2))
"""What the judge must be asked for: the missing scores, and those that it failed on."""


def test_it_is_shown_with_its_events(here: Workplace, old: Path, capsys: Captured) -> None:
    assert main(["show", old.name, "s1", "--epoch", "2"]) == 0
    assert "model echo.writer" in capsys.readouterr().out
    assert main(["show", old.name, "s1", "--judge"]) == 0
    assert "model judge.letters" in capsys.readouterr().out
    write_run(RunFolder(old))
    records = [*data_records(old / "site/samples-0.js")]
    assert (records[-1]["id"], records[-1]["epoch"]) == ("s10", 2)
    assert any("this report cannot be judged" in score["why"] for record in records for score in record["scores"])


def test_its_reports_are_scored_again_with_their_events(here: Workplace, old: Path, capsys: Captured) -> None:
    overrides: list[Any] = ["judge.letters.minimum=1", f"llm.base_url={here.endpoint.base_url}"]
    assert main(["rescore", old.name, *overrides]) == 0
    (new,) = set(here.runs()) - {old}
    assert rounded(here.summary(new)["metrics"]) == rounded(here.summary(old)["metrics"])
    capsys.readouterr()
    assert main(["show", new.name, "s1"]) == 0
    assert "model echo.writer" in capsys.readouterr().out


def test_an_audit_of_a_run_without_citation_settings_says_so(old: Path, capsys: Captured) -> None:
    manifest = json.loads((old / "manifest.json").read_text())
    del manifest["config"]["citations"]
    (old / "manifest.json").write_text(json.dumps(manifest))
    assert main(["audit", str(old)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "20261122-165638-260feb was made by another version: citations." in line
    assert "aiq run resume=RUN" in line
