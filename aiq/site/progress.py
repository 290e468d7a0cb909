"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any, Self

from tqdm import tqdm

from aiq.core.samples import SampleKey
from aiq.experiment.plan import Plan
from aiq.runs.state import Scored, Tally

LINE_EVERY_SECONDS = 10.0


class Progress:
    """Keys that are through, with the running score of the first metric, cost and errors. Written to stderr.

    The running score is a plain mean of what is there; the final table has the estimate proper.
    """

    def __init__(self, plan: Plan, tally: Tally) -> None:
        self._name = plan.settings.name
        self._shown = plan.settings.runner.progress
        self._total = len(plan.keys)
        self._judges = plan.judges
        self._metric = next((metric for planned in plan.judges for metric in planned.metrics), None)
        self._tally = tally
        self._through = self._failed = self._unjudged = 0
        self._over = self._under = 0.0
        self._last_line = time.monotonic()
        self._bar: tqdm[Any] | None = None
        for key in plan.keys:
            if tally.through(key, plan):
                self._count(key)

    def __enter__(self) -> Self:
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(total=self._total, initial=self._through, desc=self._name, unit="attempt")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def finished(self, key: SampleKey) -> None:
        """The key is through: attempted and judged."""
        self._count(key)
        if self._bar is not None:
            self._bar.set_postfix_str(self._state(), refresh=False)
            self._bar.update()
        elif self._shown and (self._through == self._total or time.monotonic() - self._last_line > LINE_EVERY_SECONDS):
            self._last_line = time.monotonic()
            print(f"{self._name}: {self._through} of {self._total} done, {self._state()}", file=sys.stderr)

    def _count(self, key: SampleKey) -> None:
        self._through += 1
        self._failed += self._tally.attempts[key].status != "completed"
        self._unjudged += any(self._tally.judge_failed(key, planned) is not None for planned in self._judges)
        if self._metric is not None and (scored := self._tally.scores[self._metric.name].get(key)):
            over, under = _parts(scored)
            self._over, self._under = self._over + over, self._under + under

    def _state(self) -> str:
        cost = self._tally.spent().cost_usd
        parts = ["cost unknown" if cost is None else f"${cost:.2f}"]
        if self._metric is not None and self._under:
            parts.insert(0, f"{self._metric.name} {self._over / self._under:.3f}")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._unjudged:
            parts.append(f"{self._unjudged} unjudged")
        return ", ".join(parts)


def _parts(scored: Scored) -> tuple[float, float]:
    """What a score adds to the running mean: over and under the line."""
    if scored.numerator is not None:
        return scored.numerator, scored.denominator or 0.0
    return (scored.value, 1.0) if scored.value is not None else (0.0, 0.0)
