"""The trials of docs/gate.md with one run: each promise is checked."""

import pytest

from benchmarks.gate_trials import main


@pytest.mark.whole
def test_a_real_run_passes_and_its_degradations_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1", "--limit", "60"]) == 0
    out = capsys.readouterr().out
    assert "against its own baseline: 1 of 1 pass" in out
    assert out.count("1 of 1 fail and name") == 3
