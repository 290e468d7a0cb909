"""The run itself: workers take keys from a queue, sample by sample; each attempt and each score is a row at once."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from aiq.core.samples import Sample, SampleKey
from aiq.experiment.attempt import being_cancelled, run_attempt
from aiq.experiment.journal import Journal
from aiq.experiment.plan import Plan
from aiq.experiment.progress import Progress
from aiq.experiment.records import SampleRow, ScoreRow
from aiq.experiment.scoring import score_failure, score_report
from aiq.experiment.sessions import Sessions
from aiq.experiment.tally import Tally

GRACE_SECONDS = 10.0
"""How long attempts may take to notice that they are cancelled."""


class Runner:
    """Brings every key of a plan to a finished attempt and finished scores, and keeps the tally.

    `unscored` holds whole rows of earlier attempts that judges have yet to score.
    """

    def __init__(
        self,
        plan: Plan,
        sessions: Sessions,
        tally: Tally,
        unscored: Mapping[SampleKey, SampleRow],
        samples: Journal[SampleRow],
        scores: Journal[ScoreRow],
        progress: Progress,
    ) -> None:
        self._plan = plan
        self._sessions = sessions
        self._tally = tally
        self._unscored = dict(unscored)
        self._samples = samples
        self._scores = scores
        self._progress = progress
        self._by_id: dict[str, Sample] = {sample.id: sample for sample in plan.dataset.samples}

    async def run(self, stop: asyncio.Event) -> bool:
        """Work until everything is done (True) or `stop` is set (False).

        Raises what ended the run: UserError, or LimitReached for the run's budget. In either case the
        attempts in flight are cancelled, and their rows say so.
        """
        queue = iter([key for key in self._plan.keys if not self._tally.through(key, self._plan)])
        workers = [asyncio.create_task(self._work(queue)) for _ in range(self._plan.settings.runner.concurrency)]
        everything = asyncio.gather(*workers)
        stopped = asyncio.create_task(stop.wait())
        try:
            ends: set[asyncio.Future[Any]] = {everything, stopped}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if everything.done():
                everything.result()
                return True
            return False
        finally:
            for task in (*workers, stopped):
                task.cancel()
            await asyncio.wait({*workers, stopped}, timeout=GRACE_SECONDS)
            if everything.done() and not everything.cancelled():
                everything.exception()  # seen: asyncio need not report it

    async def _work(self, queue: Iterator[SampleKey]) -> None:
        for key in queue:
            row = await self._attempt(key)
            if being_cancelled():
                return  # the agent swallowed it and answered all the same: its row is kept, nothing new begins
            await self._judge(row)

    async def _attempt(self, key: SampleKey) -> SampleRow:
        """A new attempt, or the earlier one that is only to be judged."""
        if self._tally.finished(key, retry_failed=self._plan.settings.runner.retry_failed):
            return self._unscored.pop(key)
        earlier = self._tally.attempts.get(key)
        sample = self._by_id[key.sample_id]
        with self._sessions.agent(key, earlier.number + 1 if earlier else 1, sample) as session:
            return await run_attempt(self._plan.agent, sample, session, self._keep_attempt)

    async def _judge(self, row: SampleRow) -> None:
        """Let each judge that has not scored this attempt do so, one after the other."""
        sample = self._by_id[row.sample_id]
        for planned in self._plan.judges:
            if self._tally.judged(row.key, planned):
                continue
            if row.answered:
                with self._sessions.judge(row) as session:
                    await score_report(planned, sample, row, session, self._keep_scores)
            else:
                self._keep_scores(score_failure(planned, sample, row))
        self._progress.finished(row.key)

    def _keep_attempt(self, row: SampleRow) -> None:
        self._samples.append(row)
        self._tally.add_attempt(row)

    def _keep_scores(self, rows: list[ScoreRow]) -> None:
        self._scores.append(*rows)
        self._tally.add_scores(rows)
