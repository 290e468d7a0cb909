"""The offline judges are blind where docs/judge-calibration.md says they are, and a calibration finds it."""

from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.analysis.calibration import calibrate
from aiq.runs.folder import find_run

PERTURBATIONS = "{facts:null,shuffled:null,padding:null,instructions:null,remarks:null,order:null}"


def test_their_weaknesses_come_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["dataset.tasks=2", "epochs=1", f"dataset.perturbations={PERTURBATIONS}", "runner.progress=false"]
    assert main(["run", "experiment=judge_calibration", "judge=[race,fact]", *few]) == 0
    found = {one.metric: one.damages for one in calibrate([find_run("latest")]).metrics}

    def sees(metric: str, damage: str) -> float:
        spearman = found[metric][damage].spearman
        assert spearman is not None
        return spearman.value

    assert sees("race.overall", "sections") > 0.8
    assert sees("race.overall", "numbers") < 0.7  # never notices that a figure is wrong
    assert sees("race.overall", "nonsense") < 0  # pleased with words
    assert sees("fact.citation_accuracy", "numbers") > 0.8
    assert sees("fact.citation_accuracy", "nonsense") > 0.8
    assert sees("fact.citation_accuracy", "roles") > 0.5  # who did what to whom
    assert sees("fact.effective_citations", "fabricated") > 0.8
    assert sees("fact.citation_accuracy", "fabricated") < 0.8  # officially, a page that is not there does not count
