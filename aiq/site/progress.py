"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Final

from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.text import Text

from aiq.core.errors import say
from aiq.core.samples import SampleKey
from aiq.runs.state import RunState
from aiq.site.tables import dollars

LINE_EVERY_SECONDS: Final = 10.0
LONG_WAIT_SECONDS: Final = 10.0
_WHY_CHARS: Final = 120
_WIDEST: Final = 40
_NARROWEST: Final = 10


class Progress:
    """Progress on stderr: keys done, time, the running score of the first metric, cost and errors.

    Implements the runner's `Observer`. The running score is a plain mean of the scores so far; the final table
    has the proper estimate. `shown`: whether anything is written at all.
    """

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._shown = shown
        self._done = self._total = self._done_before = 0
        self._trouble = dict.fromkeys(("cut off", "limit", "failed", "unjudged", "retried"), 0)
        self._numerator = self._denominator = 0.0
        self._figures = ""
        self._wait, self._wait_until = "", 0.0
        self._start = self._last_line = time.monotonic()
        self._live: Live | None = None

    def close(self) -> None:
        if self._live is not None:
            with suppress(OSError):  # the terminal is gone
                self._live.stop()

    def started(self, state: RunState) -> None:
        self.follow(state, len(state.spec.keys), filter(state.done, state.spec.keys))

    def follow(self, state: RunState, total: int, done: Iterable[SampleKey]) -> None:
        """Follow a run of `total` keys, of which these are done."""
        self._state, self._total = state, total
        self._metric = next(iter(state.spec.metrics), "")
        for key in done:
            self._count(key)
        self._done_before, self._start = self._done, time.monotonic()
        console = Console(file=sys.stderr, highlight=False)
        if self._shown and console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(self, console=console, refresh_per_second=2, vertical_overflow="visible")
            self._live.start()
            console.show_cursor()  # a killed process could not show it again
        self._refresh()

    def retrying(self, key: SampleKey) -> None:
        self._trouble["retried"] += 1

    def waiting(self, why: str, seconds: float) -> None:
        """Show a long wait, so that nobody thinks the run hangs; of several waits the longest."""
        now = time.monotonic()
        if seconds < LONG_WAIT_SECONDS or now + seconds <= self._wait_until:
            return
        first = now >= self._wait_until
        self._wait, self._wait_until = why[:_WHY_CHARS], now + seconds
        self._show(at_once=first)

    def finished(self, key: SampleKey) -> None:
        self._count(key)
        self._show(at_once=self._done == self._total)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """One line if it has room for a bar, else with the figures below it."""
        front, back = Text(f"{self._name} "), Text(f" {self._done}/{self._total}, {self._time()}")
        figures = Text(self._figures)
        below = front.cell_len + back.cell_len + figures.cell_len + _NARROWEST + 2 > options.max_width
        if not below:
            back = Text.assemble(back, ", ", figures)
        room = min(options.max_width - front.cell_len - back.cell_len, _WIDEST)
        if room >= _NARROWEST:
            filled = room * self._done // self._total if self._total else room
            full, rest = "#-" if options.ascii_only else "━─"
            front.append(full * filled, "green").append(rest * (room - filled), "dim")
        yield front.append_text(back)
        if below:
            yield figures

    def _show(self, at_once: bool) -> None:
        self._refresh()
        if self._live is None and self._shown and (at_once or time.monotonic() - self._last_line > LINE_EVERY_SECONDS):
            self._last_line = time.monotonic()
            done = f"{self._done} of {self._total} done"
            say(f"{self._name}: {done}, {self._time()}, {self._figures}")

    def _time(self) -> str:
        """How long it has taken, and how long the rest will take at this rate."""
        elapsed, completed = time.monotonic() - self._start, self._done - self._done_before
        if not completed or self._done == self._total:
            return _clock(elapsed)
        return f"{_clock(elapsed)}, {_clock(elapsed / completed * (self._total - self._done))} left"

    def _count(self, key: SampleKey) -> None:
        state = self._state
        self._done += 1
        attempt = state.attempts[key]
        self._trouble["cut off"] += attempt.partial
        self._trouble["limit"] += attempt.status == "limit" and not attempt.partial
        self._trouble["failed"] += attempt.status == "failed"
        self._trouble["unjudged"] += any(state.judge_error(key, judge) is not None for judge in state.spec.judges)
        if self._metric and (score := state.score(key, self._metric)) and score.parts:
            self._numerator += score.parts[0]
            self._denominator += score.parts[1]

    def _refresh(self) -> None:
        """Update the figures: done here, because the thread that draws the bar must not read a growing state."""
        score = [f"{self._metric} {self._numerator / self._denominator:.3f}"] if self._denominator else []
        trouble = [f"{count} {kind}" for kind, count in self._trouble.items() if count]
        wait = [self._wait] if self._wait_until > time.monotonic() and self._done < self._total else []
        self._figures = ", ".join([*score, dollars(self._state.spent()), *trouble, *wait])


def _clock(seconds: float) -> str:
    """Such as `3:12` or `1:03:12`."""
    return str(timedelta(seconds=round(seconds))).removeprefix("0:").removeprefix("0")
