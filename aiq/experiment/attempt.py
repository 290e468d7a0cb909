"""One attempt at one (sample, epoch): the agent works within its limits, and exactly one row says how it ended."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiq.agents.base import Agent
from aiq.citations.registry import worth_keeping
from aiq.core.errors import AiqError, LimitReached, UserError, traceback_of
from aiq.core.events import RunFinished, RunStarted
from aiq.core.reports import Report
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.experiment.provenance import utc_now
from aiq.runs.journal import writable
from aiq.runs.rows import AttemptStatus, RowError, SampleRow, Timing

T = TypeVar("T")

RUN_BUDGET = "limits.run_usd"  # ends the run and not an attempt: resumed with more, the run does what it stopped


async def run_attempt(agent: Agent, sample: Sample, session: Session, write: Callable[[SampleRow], None]) -> SampleRow:
    """Let the agent answer, hand the row to `write` and return it.

    A failure is a row, never an exception, except what ends the whole run: then the row says
    `cancelled` and UserError, LimitReached (the run's budget) or CancelledError is raised.
    """

    async def research() -> Report:
        report = await session.within_time(agent.research(sample.question, session))
        if not isinstance(report, Report):
            raise TypeError(f"the agent gave {type(report).__name__}, not a Report")
        return report

    started, start = utc_now(), time.perf_counter()
    report, error = await outcome(session, sample.question.text, research)
    status, fatal = classify(error)
    raw = report.raw_text if report else session.draft
    row = SampleRow(
        sample_id=sample.id,
        sample_hash=sample.hash,
        epoch=session.key.epoch,
        attempt=session.attempt,
        status=status,
        question=sample.question.text,
        tags=sample.tags,
        report=writable(report.text) if report else None,
        raw_report=None if raw is None else writable(raw),
        route=report.route if report else None,
        outcome=report.outcome if report else None,
        extras=report.extras if report else {},
        sources=worth_keeping(session.sources.known(), raw or ""),
        audit=report.audit if report else None,
        usage=session.usage.by_role(),
        timing=Timing(started=started, seconds=round(time.perf_counter() - start, 4)),
        error=as_row_error(error) if error else None,
    )
    write(row)
    session.events.emit(RunFinished(status=status, error=traceback_of(error) or (error and str(error))))
    if error is not None and fatal:
        raise error from None
    return row


async def outcome(
    session: Session, question: str, work: Callable[[], Awaitable[T]]
) -> tuple[T, None] | tuple[None, BaseException]:
    """What work in the session gave, and the error that ended it: one of them is None."""
    try:
        with session.bind():
            session.events.emit(RunStarted(question=question, clock=session.now.isoformat()))
            return await work(), None
    except BaseException as raised:
        return None, boundary_error(raised)


def boundary_error(error: BaseException) -> BaseException:
    """The AiqError that a library wrapped in one of its own (the openai client does), or the error itself."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, AiqError):
            return found
        found = found.exceptions[0] if isinstance(found, BaseExceptionGroup) else found.__cause__
    return error


def as_row_error(error: BaseException) -> RowError:
    message = writable(str(error)).strip() or "no message"
    return RowError(type=type(error).__name__, message=" ".join(message.split())[:2000])


def classify(error: BaseException | None) -> tuple[AttemptStatus, bool]:
    """How work that ended in this error, or in none, counts, and whether the run ends with it."""
    if error is None:
        return "completed", False
    if isinstance(error, LimitReached):
        return ("cancelled", True) if error.limit == RUN_BUDGET else ("limit", False)
    if isinstance(error, UserError):
        return "cancelled", True
    if being_cancelled():  # whatever the agent made of it
        return "cancelled", True
    if isinstance(error, Exception | asyncio.CancelledError):  # not asked for: the agent cancelled itself
        return "failed", False
    return "cancelled", True


def being_cancelled() -> bool:
    """Whether the running task has been asked to end, even if an agent has caught the CancelledError."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
