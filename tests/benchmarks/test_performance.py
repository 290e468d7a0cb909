"""The benchmarks run; their promises hold only on a quiet machine."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.performance import bootstrap, cassettes, events, faults


def test_replays_of_each_kind_are_measured(tmp_path: Path) -> None:
    asyncio.run(cassettes.record(tmp_path, 9))
    cassettes.write_stock(tmp_path)
    for what in ("aiq", *cassettes.STOCK):
        assert cassettes.measure(what, tmp_path, 9, 9)[1] > 0


@pytest.mark.whole
def test_replays_are_compared_with_vcrpy(capsys: pytest.CaptureFixture[str]) -> None:
    assert cassettes.main(["--quick"]) == 0
    table = capsys.readouterr().out
    assert all(f"20: {what}" in table for what in ("aiq", *cassettes.STOCK))


def test_resamples_equal_those_of_a_plain_loop(capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(["--quick"]) == 0
    assert "times as fast" in capsys.readouterr().out


def test_events_are_counted_and_scanned(capsys: pytest.CaptureFixture[str]) -> None:
    assert events.main(["--quick"]) == 0
    assert "scan by 100" in capsys.readouterr().out


@pytest.mark.whole
def test_runs_withstand_an_endpoint_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert faults.main(["--quick"]) == 0
    broken = [line for line in capsys.readouterr().out.splitlines() if "BROKEN" in line]
    assert all("used of what it allows" in line for line in broken)  # a minute is too short to measure that
