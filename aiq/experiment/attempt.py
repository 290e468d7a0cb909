"""One attempt at one (sample, epoch): the agent works within its limits, and exactly one row says how it ended.

A sample's turns are asked in order within one attempt: each question comes with the conversation so far.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiq.agents.base import Agent
from aiq.citations.registry import sources_to_keep
from aiq.core.concurrency import being_cancelled
from aiq.core.errors import AgentError, AiqError, LimitReached, ModelError, UserError, message_of, traceback_of
from aiq.core.events import RunFinished, RunStarted, StageChanged
from aiq.core.replies import why_cut_off, why_no_answer, without_thoughts
from aiq.core.reports import Report, citation_status
from aiq.core.samples import Question, Sample, Turn
from aiq.core.session import Session, nested_call
from aiq.experiment.provenance import utc_now
from aiq.runs.journal import writable
from aiq.runs.rows import AnsweredTurn, AttemptStatus, RowError, SampleRow, Timing

T = TypeVar("T")
_REPORT_FIELDS = ("route", "outcome", "extras", "audit", "citation_status")  # copied from a report to its row


async def run_attempt(agent: Agent, sample: Sample, session: Session, write: Callable[[SampleRow], None]) -> SampleRow:
    """Let the agent answer, hand the row to `write` and return it.

    A failure is a row, not an exception. Only what ends the whole run is raised as well: UserError, LimitReached (of
    the run) or CancelledError, after a row `cancelled`; ModelError (refused, and no answer yet), after a row `failed`.
    """

    turns: list[AnsweredTurn] = []

    async def research() -> tuple[Report, str | None]:
        return await session.within_time(run_turns(agent, sample, session, turns))

    started, start = utc_now(), time.perf_counter()
    result, error = await result_or_error(session, sample.question.text, research)
    if isinstance(error, LimitReached) and not error.of_run and session.limits.on_limit == "synthesize":
        result, error = draft_report(session, str(error)), None if session.draft else error
    report, cutoff = result or (None, None)
    status, fatal = ("limit", False) if cutoff else classify(error)
    raw = report.raw_text if report else session.draft
    prefix = f"turn {len(turns) + 1} of {len(sample.turns) + 1}: " if sample.turns else ""
    row = SampleRow(
        sample_id=sample.id,
        sample_hash=sample.hash,
        epoch=session.key.epoch,
        attempt=session.attempt,
        status=status,
        question=sample.question.text,
        turns=tuple(turns),
        tags=sample.tags,
        report=writable(report.text) if report else None,
        raw_report=None if raw is None else writable(raw),
        sources=sources_to_keep(session.sources.known(), raw or ""),
        denied=session.denied,
        tools={tool: dict(sorted(outcomes.items())) for tool, outcomes in sorted(session.tool_outcomes.items())},
        outages={tool: writable(" ".join(reason.split())[:500]) for tool, reason in sorted(session.outages.items())},
        **({name: getattr(report, name) for name in _REPORT_FIELDS} if report else {}),
        usage=session.usage.by_role(),
        timing=Timing(started=started, seconds=round(time.perf_counter() - start, 4)),
        error=as_row_error(error, prefix) if error else RowError(type="CutOff", message=cutoff) if cutoff else None,
    )
    reason = cutoff or (error and prefix + (traceback_of(error) or message_of(error)))
    session.events.emit(RunFinished(status=status, error=reason))
    write(row)  # last: an attempt that has a row is finished, including its events
    if error is not None and fatal:
        raise error from None
    return row


async def run_turns(
    agent: Agent, sample: Sample, session: Session, turns: list[AnsweredTurn]
) -> tuple[Report, str | None]:
    """The agent's report on the sample's question, as from `finalise`, after answering its turns, added to `turns`.

    All turns share one thread id, by which agents that keep threads remember; other agents get the history.
    """
    question = sample.question
    if not sample.turns:
        return await ask_agent(agent, question, session)
    thread = question.thread_id or f"{sample.id}.{session.key.epoch}"

    async def ask(text: str) -> tuple[Report, str | None]:
        number, history = len(turns) + 1, [*question.history]
        for turn in turns:
            history += [Turn(speaker="user", text=turn.question), Turn(speaker="assistant", text=turn.report)]
        turn_question = question.model_copy(update={"text": text, "history": tuple(history), "thread_id": thread})
        session.events.emit(StageChanged(stage="turn", detail={"number": number, "question": text}))
        with nested_call(number, 0, None):
            return await ask_agent(agent, turn_question, session)

    for text in sample.turns:
        report, _ = await ask(text)
        answer = writable(report.text)
        turns.append(AnsweredTurn(question=text, report=answer, route=report.route, outcome=report.outcome))
        session.end_turn()
    return await ask(question.text)


async def ask_agent(agent: Agent, question: Question, session: Session) -> tuple[Report, str | None]:
    """The agent's report on one question, as from `finalise`. Raises TypeError if it is not a Report."""
    report = await agent.research(question, session)
    session.check()
    if not isinstance(report, Report):
        raise TypeError(f"the agent gave {type(report).__name__}, not a Report")
    return finalise(report, session)


def finalise(report: Report, session: Session) -> tuple[Report, str | None]:
    """The report as it counts, and why it was cut off (then it is `partial`) or None if it is complete.

    Removes closed thoughts and adds the citation status. Raises AgentError for a text that is not an answer, which is
    kept as a draft. The same for every agent, as far as its replies came through the session.
    """
    if report.outcome == "rejected":
        return report, None
    text = without_thoughts(report.text)
    if reason := why_no_answer(text, session.replies):
        session.keep_draft(report.raw_text)
        raise AgentError(f"the agent gave no report: {reason}")
    status = report.citation_status or citation_status(report.route, report.audit, bool(session.sources.all()))
    cutoff = why_cut_off(report.raw_text or text, session.replies) or session.stop_reason
    if report.outcome == "partial":
        cutoff = cutoff or "the agent says that its report is not whole"
    update = {"text": text, "citation_status": status, **({"outcome": "partial"} if cutoff else {})}
    return report.model_copy(update=update), cutoff


def draft_report(session: Session, reason: str) -> tuple[Report, str] | None:
    """The unverified report that an agent had written when it reached a limit, and why it is only a draft."""
    if session.draft is None:
        return None
    report, _ = finalise(Report(text=session.draft, raw_text=session.draft, route="draft", outcome="partial"), session)
    return report, reason


async def result_or_error(
    session: Session, question: str, work: Callable[[], Awaitable[T]]
) -> tuple[T, None] | tuple[None, BaseException]:
    """The result of work in the session, or the error that ended it; the other is None."""
    try:
        with session.bind():
            session.events.emit(RunStarted(question=question, clock=session.now.isoformat()))
            return await work(), None
    except BaseException as error:
        return None, boundary_error(error)
    finally:
        session.end()


def boundary_error(error: BaseException) -> BaseException:
    """The AiqError that a library wrapped in an error of its own (as the openai client does), or the error itself."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AiqError):
            return cause
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__
    return error


def as_row_error(error: BaseException, prefix: str = "") -> RowError:
    """The error in one line, after `prefix`; if the run was stopped, without asyncio's message, which names tasks."""
    if isinstance(error, asyncio.CancelledError) and being_cancelled():
        return RowError(type="CancelledError", message="the run was stopped")
    return RowError(type=type(error).__name__, message=" ".join((prefix + writable(message_of(error))).split())[:2000])


def classify(error: BaseException | None) -> tuple[AttemptStatus, bool]:
    """The status of work that ended in this error (or in none), and whether the error ends the run."""
    if error is None:
        return "completed", False
    if isinstance(error, LimitReached):
        return ("cancelled", True) if error.of_run else ("limit", False)
    if isinstance(error, UserError):
        return "cancelled", True
    if isinstance(error, ModelError) and error.never_answered:
        return "failed", True  # and not retried: the cause may be this one question after all
    if being_cancelled() or isinstance(error, KeyboardInterrupt):  # even if the agent caught the cancellation
        return "cancelled", True
    return "failed", False  # also if the agent cancelled itself or called sys.exit
