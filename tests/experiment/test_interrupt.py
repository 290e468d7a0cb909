"""The first signal asks, the second ends at once and says how to go on."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from aiq.experiment.runner import stop_on_signal


async def test_the_second_signal_ends_the_process_and_names_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    stop = asyncio.Event()
    with stop_on_signal(stop, Path("results/tiny/1")):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(stop.wait(), 5)
        assert ended == []
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
    assert ended == [130]
    assert "go on with: aiq run resume=results/tiny/1" in capsys.readouterr().err
