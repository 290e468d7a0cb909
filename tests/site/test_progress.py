"""The progress bar on a terminal and the lines elsewhere say the same."""

import io
import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from aiq.core.errors import say
from aiq.runs.rows import AttemptStatus
from aiq.site.progress import Progress, _clock
from tests.runs.test_summary import score, state_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_long_wait_is_shown_at_once_and_only_once(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("run", shown=True)
    progress.started(state_of(attempts=2))
    progress.waiting("judge.race: HTTP 500; waiting 9.50 s", 9.5)
    assert "waiting" not in stream.getvalue()
    for _ in range(3):
        progress.waiting("judge.race: HTTP 429: slow down; waiting 60.00 s", 60)
    progress.close()
    output = stream.getvalue()
    assert "$0.00, judge.race: HTTP 429: slow down; waiting 60.00 s" in output
    assert stream.isatty() or output.count("\n") == 1


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
@pytest.mark.parametrize("status", ["completed", "failed", "limit"])
def test_the_running_score_cost_and_trouble_are_shown(
    stream: io.StringIO, status: AttemptStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.truncate(0)
    monkeypatch.setattr(sys, "stderr", stream)
    state = state_of(attempts=2)
    keys = state.spec.keys
    progress = Progress("run", shown=True)
    state.add_scores([score(keys[0], value=0.25), score(keys[0], "j.y", value=1)])
    state.attempts.set(1, state.attempts[keys[1]]._replace(status=status))
    progress.started(state)
    progress.retrying(keys[1])
    state.add_scores([score(keys[1], value=0.75), score(keys[1], "j.y", value=1)])
    progress.finished(keys[1])
    progress.close()
    output = stream.getvalue()
    trouble = "" if status == "completed" else f"1 {status}, "
    assert f"j.x 0.500, $0.00, {trouble}1 retried" in output
    assert ("2/2" if stream.isatty() else "run: 2 of 2 done") in output


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", ["run", "an_experiment_with_a_rather_long_name"])
def test_the_bar_fits_and_is_complete(width: int, name: str) -> None:
    state = state_of(attempts=4)
    for key in state.spec.keys[:3]:
        state.add_scores([score(key, value=0.25), score(key, "j.y", value=1)])
    progress = Progress(name, shown=False)
    progress.follow(state, 4, state.spec.keys[:2])
    progress.retrying(state.spec.keys[2])
    progress.finished(state.spec.keys[2])
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    with console.capture() as capture:
        console.print(progress)
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= width
    output = " ".join(" ".join(lines).split())
    assert all(part in output for part in (name, "3/4, 0:00, 0:00 left", "j.x 0.250, $0.00, 1 retried"))
    assert ("━" in output) == (width > 60 or name == "run")


def test_times_are_short() -> None:
    assert [_clock(seconds) for seconds in (0.4, 65, 3700, 90_000)] == ["0:00", "1:05", "1:01:40", "1 day, 1:00:00"]


@pytest.mark.parametrize("full", [False, True])
def test_a_closed_pipe_or_a_full_disk_does_not_stop_the_run(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `aiq run ... 2>&1 | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    with Path("/dev/full").open("w", buffering=1) if full else os.fdopen(writing, "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        for _ in range(2):
            say("a line")


def test_a_closed_terminal_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    window, terminal = os.openpty()
    with os.fdopen(terminal, "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        progress = Progress("run", shown=True)
        progress.started(state_of(attempts=2))
        os.close(window)
        progress.close()
        say("a line")
