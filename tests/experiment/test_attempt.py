import asyncio
from typing import ClassVar

import pytest

from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted
from aiq.core.reports import Report
from aiq.core.samples import Question, Sample
from aiq.core.session import Session
from aiq.core.settings import Settings as BaseSettings
from aiq.core.sources import Source
from aiq.core.tools import Toolbox
from aiq.experiment.attempt import as_row_error, boundary_error, classify, run_attempt
from aiq.runs.rows import SampleRow
from tests.sessions import make_session


def wrapped(error: BaseException) -> Exception:
    outer = RuntimeError("Connection error.")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize("inner", [RunAborted("no key"), LimitReached("limits.sample_usd", 1), ModelError("gone")])
def test_our_error_is_found_in_what_a_library_made_of_it(inner: Exception) -> None:
    assert boundary_error(wrapped(wrapped(inner))) is inner
    assert boundary_error(ExceptionGroup("several", [wrapped(inner)])) is inner
    other = wrapped(KeyError("x"))
    assert boundary_error(other) is other


@pytest.mark.parametrize(
    ("error", "status", "fatal"),
    [
        (AgentError("x"), "failed", False),
        (ModelError("x"), "failed", False),
        (ValueError("x"), "failed", False),
        (LimitReached("limits.sample_seconds", 1), "limit", False),
        (LimitReached("limits.run_usd", 1), "cancelled", True),
        (RunAborted("x"), "cancelled", True),
        (KeyboardInterrupt(), "cancelled", True),
    ],
)
async def test_how_an_attempt_ends_and_whether_the_run_does(error: BaseException, status: str, fatal: bool) -> None:
    assert classify(error) == (status, fatal)


def test_an_error_is_one_line_of_bounded_length() -> None:
    assert as_row_error(ValueError("a\n  b")).message == "a b"
    assert as_row_error(ValueError()).message == "no message"
    assert len(as_row_error(ValueError("x" * 9999)).message) == 2000


@pytest.mark.parametrize("swallowed", [AgentError("made of a cancellation"), asyncio.CancelledError()])
async def test_what_an_agent_makes_of_being_cancelled_is_no_failure(swallowed: BaseException) -> None:
    messages = []

    async def attempt() -> tuple[str, bool]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as cancelled:
            messages.append(as_row_error(cancelled).message)
            return classify(swallowed)
        raise AssertionError("it was to be cancelled")

    task = asyncio.create_task(attempt())
    await asyncio.sleep(0)
    task.cancel("<Task finished name='Task-90'>")
    assert await task == ("cancelled", True)
    assert messages == ["the run was stopped"]


class Names:
    """An agent that retrieves one page which mentions a thousand, and cites it and one of them."""

    Settings: ClassVar[type[BaseSettings]] = BaseSettings

    async def research(self, question: Question, session: Session) -> Report:
        links = " ".join(f"https://b.example/{n}" for n in range(1000))
        session.sources.add(Source(url="https://a.example/page", text=links), (0, 0, 0))
        session.sources.note(links, "mentioned", (0, 0), call_id="c1", tool="search")
        raw = "It is [1][2].\n\n## Sources\n\n[1] https://a.example/page\n[2] https://b.example/7\n"
        return Report(text="It is.", raw_text=raw, route="own")


async def test_a_row_keeps_what_was_retrieved_and_what_else_the_report_names() -> None:
    session = make_session(tools=Toolbox([]))
    written: list[SampleRow] = []
    row = await run_attempt(Names(), Sample(id="s1", question=Question(text="q")), session, written.append)
    assert written == [row]
    assert [(source.url, source.kind) for source in row.sources] == [
        ("https://a.example/page", "retrieved"),
        ("https://b.example/7", "mentioned"),
    ]
    assert [source.url for source in row.retrieved] == ["https://a.example/page"]
    assert len(session.sources.known()) == 1001


class HalfWay:
    """An agent that says itself that its report is not whole."""

    Settings: ClassVar[type[BaseSettings]] = BaseSettings

    async def research(self, question: Question, session: Session) -> Report:
        return Report(text="It is so", raw_text="It is so", route="own", outcome="partial")


async def test_a_report_that_its_agent_calls_partial_is_counted_as_one_that_was_cut_off() -> None:
    sample = Sample(id="s1", question=Question(text="q"))
    row = await run_attempt(HalfWay(), sample, make_session(), lambda row: None)
    assert (row.status, row.outcome, row.report, row.citation_status) == ("limit", "partial", "It is so", "no_sources")
    assert str(row.error) == "CutOff: the agent says that its report is not whole"
    assert (row.answered, row.partial, row.failed) == (True, True, False)
    assert not row.model_copy(update={"outcome": None}).answered  # of an older run
