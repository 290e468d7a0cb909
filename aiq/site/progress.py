"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any

from tqdm import tqdm

from aiq.core.samples import SampleKey
from aiq.runs.state import RunState

LINE_EVERY_SECONDS = 10.0


class Progress:
    """Keys that are done, with the running score of the first metric, cost and errors. Written to stderr.

    Implements the runner's `Observer`. The running score is a plain mean of what is there; the final table
    has the estimate proper. `shown`: whether anything is written at all.
    """

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._shown = shown
        self._done = 0
        self._trouble = dict.fromkeys(("cut off", "failed", "unjudged", "retried"), 0)
        self._over = self._under = 0.0
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

    def finished(self, key: SampleKey) -> None:
        self._count(key)
        if self._bar is not None:
            self._bar.set_postfix_str(self._figures(), refresh=False)
            self._bar.update()
        elif self._shown and (self._done == self._total or time.monotonic() - self._last_line > LINE_EVERY_SECONDS):
            self._last_line = time.monotonic()
            print(f"{self._name}: {self._done} of {self._total} done, {self._figures()}", file=sys.stderr)

    def _count(self, key: SampleKey) -> None:
        state = self._state
        self._done += 1
        attempt = state.attempts[key]
        self._trouble["cut off"] += attempt.partial
        self._trouble["failed"] += attempt.status != "completed" and not attempt.partial
        self._trouble["unjudged"] += any(state.judge_error(key, judge) is not None for judge in state.spec.judges)
        if self._metric and (scored := state.score(key, self._metric)) and scored.parts:
            self._over += scored.parts[0]
            self._under += scored.parts[1]

    def _figures(self) -> str:
        score = [f"{self._metric} {self._over / self._under:.3f}"] if self._under else []
        cost = self._state.spent().cost_usd
        spent = "cost unknown" if cost is None else f"${cost:.2f}"
        return ", ".join([*score, spent, *(f"{count} {what}" for what, count in self._trouble.items() if count)])
