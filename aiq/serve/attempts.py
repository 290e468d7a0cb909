"""Attempts at tasks: the code of evaluations runs the agent and writes the row, in the run of this start."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, cast

from aiq.agents.base import Agent, Resumable
from aiq.core.errors import AiqError, UserError
from aiq.core.events import Event
from aiq.core.reports import Report
from aiq.core.run_settings import RunSettings
from aiq.core.samples import Question, Sample
from aiq.core.session import Session, User
from aiq.core.usage import UsageLedger
from aiq.experiment.attempt import run_attempt
from aiq.experiment.resources import Resources
from aiq.runs.rows import SampleRow
from aiq.serve.agents import Agents
from aiq.serve.run import ServedRun
from aiq.serve.store import Task


class Attempts:
    """Makes attempts. `blank`: a question without its text; `live`: agents see the present time, not the run's."""

    def __init__(
        self,
        agents: Agents,
        settings: RunSettings,
        run: ServedRun,
        resources: Resources,
        blank: Question,
        *,
        live: bool,
    ) -> None:
        self._agents, self._limits, self._run, self._blank, self._live = agents, settings.limits, run, blank, live
        self._checkpointer, self._saved = resources.checkpointer, settings.checkpointer.kind != "memory"

    def can_resume(self, task: Task) -> bool:
        """Whether the task can go on from the checkpointer, which of several turns would have only the last."""
        with suppress(UserError):
            agent = self._agents.agent(task.request.agent, task.request.chosen)
            return self._saved and not task.request.turns and isinstance(agent, Resumable) and agent.threads is not None
        return False

    async def run(
        self,
        task: Task,
        user: User,
        spend: UsageLedger,
        usd: float | None,
        on_event: Callable[[Event], None],
        keep: Callable[[SampleRow, int], None],
    ) -> None:
        """One attempt. `usd`: the most that `spend` may reach; `keep` gets the row, and its place in the run.

        Raises ConfigError, before anything is done, if the agent is not served, or not with the chosen settings.
        """
        agent = self._agents.agent(task.request.agent, task.request.chosen)
        if task.attempt > 1 and self.can_resume(task):
            agent = cast("Agent", _Resuming(agent))
        sample = self._sample(task)
        fields: dict[str, Any] = {"user": user, "spend": spend, "memory": ""}
        fields |= {"limits": self._limits.model_copy(update={"run_usd": usd})}
        fields |= {"now": datetime.now(UTC)} if self._live else {}
        with (
            self._run.sessions.agent(task.request.agent, sample, 1, task.attempt, on_event, **fields) as session,
            suppress(AiqError),  # the row has it; what ends a run does not end a server
        ):
            try:
                await run_attempt(agent, sample, session, lambda row: keep(row, self._run.keep(sample, row)))
            finally:
                await self._forget(sample)

    def _sample(self, task: Task) -> Sample:
        request = task.request
        thread = f"{task.id}.{task.attempt}" if request.turns else task.id if self._saved else None
        question = self._blank.model_copy(update={"text": request.query, "thread_id": thread})
        return Sample(id=task.id, question=question, turns=request.turns, tags={"agent": request.agent})

    async def _forget(self, sample: Sample) -> None:
        """Delete what a checkpointer in memory holds of a conversation that is over."""
        if not self._saved and self._checkpointer is not None and sample.question.thread_id:
            await self._checkpointer.adelete_thread(sample.question.thread_id)


class _Resuming:
    """An agent that continues the conversation of an earlier attempt, if that began one."""

    def __init__(self, agent: Any) -> None:
        self._agent: Resumable = agent

    async def research(self, question: Question, session: Session) -> Report:
        report = await self._agent.resume(str(question.thread_id), session)
        return await self._agent.research(question, session) if report is None else report
