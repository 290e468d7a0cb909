"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any

from tqdm import tqdm

from aiq.core.samples import SampleKey
from aiq.runs.state import RunState
from aiq.site.tables import dollars

LINE_EVERY_SECONDS = 10.0
LONG_WAIT_SECONDS = 10.0
_WHY_CHARS = 120


class Progress:
    """Keys that are done, with the running score of the first metric, cost and errors. Written to stderr.

    Implements the runner's `Observer`. The running score is a plain mean of what is there; the final table
    has the estimate proper. `shown`: whether anything is written at all.
    """

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._shown = shown
        self._done = 0
        self._trouble = dict.fromkeys(("cut off", "limit", "failed", "unjudged", "retried"), 0)
        self._over = self._under = 0.0
        self._wait, self._wait_until = "", 0.0
        self._last_line = time.monotonic()
        self._bar: tqdm[Any] | None = None

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def started(self, state: RunState) -> None:
        self._state = state
        self._total = len(state.spec.keys)
        self._metric = next(iter(state.spec.metrics), "")
        for key in filter(state.done, state.spec.keys):
            self._count(key)
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(total=self._total, initial=self._done, desc=self._name, unit="attempt")

    def retrying(self, key: SampleKey) -> None:
        self._trouble["retried"] += 1

    def waiting(self, why: str, seconds: float) -> None:
        """Said where it takes long, so that nobody thinks that the run hangs; of several waits the longest."""
        now = time.monotonic()
        if seconds < LONG_WAIT_SECONDS or now + seconds <= self._wait_until:
            return
        first = now >= self._wait_until
        self._wait, self._wait_until = why[:_WHY_CHARS], now + seconds
        self._show(at_once=first)

    def finished(self, key: SampleKey) -> None:
        self._count(key)
        if self._bar is not None:
            self._bar.update()
        self._show(at_once=self._done == self._total)

    def _show(self, at_once: bool) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(self._figures())
        elif self._shown and (at_once or time.monotonic() - self._last_line > LINE_EVERY_SECONDS):
            self._last_line = time.monotonic()
            print(f"{self._name}: {self._done} of {self._total} done, {self._figures()}", file=sys.stderr)

    def _count(self, key: SampleKey) -> None:
        state = self._state
        self._done += 1
        attempt = state.attempts[key]
        self._trouble["cut off"] += attempt.partial
        self._trouble["limit"] += attempt.status == "limit" and not attempt.partial
        self._trouble["failed"] += attempt.status == "failed"
        self._trouble["unjudged"] += any(state.judge_error(key, judge) is not None for judge in state.spec.judges)
        if self._metric and (scored := state.score(key, self._metric)) and scored.parts:
            self._over += scored.parts[0]
            self._under += scored.parts[1]

    def _figures(self) -> str:
        score = [f"{self._metric} {self._over / self._under:.3f}"] if self._under else []
        trouble = [f"{count} {what}" for what, count in self._trouble.items() if count]
        wait = [self._wait] if self._wait_until > time.monotonic() and self._done < self._total else []
        return ", ".join([*score, dollars(self._state.spent()), *trouble, *wait])
