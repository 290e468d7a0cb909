"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any, Self

from tqdm import tqdm

from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
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
        self._done = self._failed = self._unjudged = self._retried = 0
        self._over = self._under = 0.0
        self._cost: float | None = 0.0
        self._last_line = time.monotonic()
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def started(self, state: RunState) -> None:
        self._state = state
        self._total = len(state.spec.keys)
        self._metric = next(iter(state.spec.metrics), None)
        self.spent(state.spent())
        for key in state.spec.keys:
            if state.done(key):
                self._count(key)
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(total=self._total, initial=self._done, desc=self._name, unit="attempt")

    def retrying(self, key: SampleKey) -> None:
        self._retried += 1

    def spent(self, total: Usage) -> None:
        self._cost = total.cost_usd

    def finished(self, key: SampleKey) -> None:
        self._count(key)
        if self._bar is not None:
            self._bar.set_postfix_str(self._figures(), refresh=False)
            self._bar.update()
        elif self._shown and (self._done == self._total or time.monotonic() - self._last_line > LINE_EVERY_SECONDS):
            self._last_line = time.monotonic()
            print(f"{self._name}: {self._done} of {self._total} done, {self._figures()}", file=sys.stderr)

    def _count(self, key: SampleKey) -> None:
        self._done += 1
        self._failed += self._state.attempts[key].status != "completed"
        self._unjudged += any(self._state.judge_error(key, judge) is not None for judge in self._state.spec.judges)
        if self._metric is not None and (scored := self._state.score(key, self._metric)) and scored.parts:
            self._over += scored.parts[0]
            self._under += scored.parts[1]

    def _figures(self) -> str:
        parts = ["cost unknown" if self._cost is None else f"${self._cost:.2f}"]
        if self._under:
            parts.insert(0, f"{self._metric} {self._over / self._under:.3f}")
        counted = {"failed": self._failed, "unjudged": self._unjudged, "retried": self._retried}
        return ", ".join([*parts, *(f"{count} {what}" for what, count in counted.items() if count)])
