"""The benchmark of recordings runs; its promises are for a quiet machine."""

import pytest

from benchmarks.performance import cassettes


@pytest.mark.slow
def test_replays_are_measured_beside_vcrpy(capsys: pytest.CaptureFixture[str]) -> None:
    assert cassettes.main(["--quick"]) == 0
    table = capsys.readouterr().out
    assert all(f"20: {what}" in table for what in ("aiq", *cassettes.STOCK))
