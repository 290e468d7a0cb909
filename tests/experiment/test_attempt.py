import asyncio
from typing import Any, ClassVar

import pytest

from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted
from aiq.core.events import Event, EventLog, RunFinished, StageChanged, call_path
from aiq.core.replies import read_reply
from aiq.core.reports import Report
from aiq.core.samples import Question, Sample, SampleKey, Turn
from aiq.core.session import Session
from aiq.core.settings import Settings as BaseSettings
from aiq.core.sources import Source
from aiq.core.tools import Toolbox
from aiq.core.usage import Limits
from aiq.experiment.attempt import as_row_error, boundary_error, classify, run_attempt
from aiq.runs.rows import AnsweredTurn, SampleRow
from tests.sessions import make_session
from tests.settings import configured


def wrapped(error: BaseException) -> Exception:
    outer = RuntimeError("Connection error.")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize("inner", [RunAborted("no key"), LimitReached("limits.sample_usd", 1), ModelError("gone")])
def test_our_error_is_found_inside_a_librarys_exception(inner: Exception) -> None:
    assert boundary_error(wrapped(wrapped(inner))) is inner
    assert boundary_error(ExceptionGroup("several", [wrapped(inner)])) is inner
    foreign = wrapped(KeyError("x"))
    assert boundary_error(foreign) is foreign


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
async def test_an_error_decides_the_status_and_whether_the_run_stops(
    error: BaseException, status: str, fatal: bool
) -> None:
    assert classify(error) == (status, fatal)


def test_an_error_is_one_line_of_bounded_length() -> None:
    assert as_row_error(ValueError("a\n  b")).message == "a b"
    assert as_row_error(ValueError()).message == "no message"
    assert len(as_row_error(ValueError("x" * 9999)).message) == 2000


@pytest.mark.parametrize("swallowed", [AgentError("made of a cancellation"), asyncio.CancelledError()])
async def test_a_cancelled_attempt_is_not_a_failure_whatever_the_agent_raises(swallowed: BaseException) -> None:
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
    """An agent that retrieves one page with a thousand links, and cites the page and one of the links."""

    Settings: ClassVar[type[BaseSettings]] = BaseSettings

    async def research(self, question: Question, session: Session) -> Report:
        links = " ".join(f"https://b.example/{n}" for n in range(1000))
        session.sources.add(Source(url="https://a.example/page", text=links), (0, 0, 0))
        session.sources.note(links, "mentioned", (0, 0), call_id="c1", tool="search")
        raw = "It is [1][2].\n\n## Sources\n\n[1] https://a.example/page\n[2] https://b.example/7\n"
        return Report(text="It is.", raw_text=raw, route="own")


async def test_a_row_keeps_retrieved_sources_and_others_that_the_report_cites() -> None:
    session = make_session(tools=Toolbox([]))
    rows: list[SampleRow] = []
    row = await run_attempt(Names(), Sample(id="s1", question=Question(text="q")), session, rows.append)
    assert rows == [row]
    assert [(source.url, source.kind) for source in row.sources] == [
        ("https://a.example/page", "retrieved"),
        ("https://b.example/7", "mentioned"),
    ]
    assert [source.url for source in row.retrieved] == ["https://a.example/page"]
    assert len(session.sources.known()) == 1001


class HalfWay:
    """An agent that says that its report is incomplete."""

    Settings: ClassVar[type[BaseSettings]] = BaseSettings

    async def research(self, question: Question, session: Session) -> Report:
        return Report(text="It is so", raw_text="It is so", route="own", outcome="partial")


async def test_a_report_that_its_agent_calls_partial_counts_as_cut_off() -> None:
    sample = Sample(id="s1", question=Question(text="q"))
    row = await run_attempt(HalfWay(), sample, make_session(), lambda row: None)
    assert (row.status, row.outcome, row.report, row.citation_status) == ("limit", "partial", "It is so", "no_sources")
    assert str(row.error) == "CutOff: the agent says that its report is not whole"
    assert (row.answered, row.partial, row.failed) == (True, True, False)
    assert not row.model_copy(update={"outcome": None}).answered  # of an older run


class Notes:
    """An agent that records its questions, drafts and retrieves in each turn, and obeys certain words in them."""

    Settings: ClassVar[type[BaseSettings]] = BaseSettings

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def research(self, question: Question, session: Session) -> Report:
        self.asked.append(question)
        if "hang" in question.text:
            await asyncio.sleep(60)
        if "fail" in question.text:
            raise AgentError("it cannot be done")
        text = f"<think>well</think>About {question.text}"
        session.replies.append(read_reply("notes", {"content": text}, "length" if "cut" in question.text else "stop"))
        session.keep_draft(text)
        number = len(self.asked)
        session.sources.add(Source(url=f"https://a.example/{number}", text=f"page {number}"), (*call_path.get(), 0))
        return Report(text=text, raw_text=text, route=f"route {number}")


async def attempted(sample: Sample, agent: Notes, **given: Any) -> tuple[SampleRow, list[Event]]:
    events: list[Event] = []
    session = make_session(key=SampleKey(sample.id, 2), events=EventLog(events.append), **given)
    return await run_attempt(agent, sample, session, lambda row: None), events


TURNS = Sample(id="s1", question=Question(text="three", language="en"), turns=("one", "two"))


async def test_turns_are_asked_in_order_in_one_attempt_each_with_the_conversation_so_far() -> None:
    agent = Notes()
    row, events = await attempted(TURNS, agent)
    first_turns = [Turn(speaker=speaker, text=text) for speaker, text in (("user", "one"), ("assistant", "About one"))]
    second_turns = [Turn(speaker="user", text="two"), Turn(speaker="assistant", text="About two")]
    assert [(question.text, question.history) for question in agent.asked] == [
        ("one", ()),
        ("two", tuple(first_turns)),
        ("three", (*first_turns, *second_turns)),
    ]
    assert {(question.thread_id, question.language) for question in agent.asked} == {("s1.2", "en")}
    assert (row.question, row.report, row.route, row.status) == ("three", "About three", "route 3", "completed")
    assert row.turns == (
        AnsweredTurn(question="one", report="About one", route="route 1"),
        AnsweredTurn(question="two", report="About two", route="route 2"),
    )
    assert [source.url for source in row.sources] == [f"https://a.example/{number}" for number in (1, 2, 3)]
    stages = [event.detail for event in events if isinstance(event, StageChanged) and event.stage == "turn"]
    assert stages == [{"number": number, "question": turn} for number, turn in enumerate(("one", "two", "three"), 1)]
    assert SampleRow.model_validate_json(row.model_dump_json()) == row


async def test_a_samples_own_history_and_thread_id_apply_to_its_turns() -> None:
    turn = Turn(speaker="user", text="zero")
    agent = Notes()
    last_question = Question(text="two", history=(turn,), thread_id="mine")
    await attempted(Sample(id="s1", question=last_question, turns=("one",)), agent)
    assert [question.history[0] for question in agent.asked] == [turn, turn]
    assert [len(question.history) for question in agent.asked] == [1, 3]
    assert {question.thread_id for question in agent.asked} == {"mine"}


async def test_a_sample_without_turns_is_asked_unchanged() -> None:
    agent = Notes()
    row, events = await attempted(Sample(id="s1", question=Question(text="one")), agent)
    assert (agent.asked, row.turns) == ([Question(text="one")], ())
    assert not any(isinstance(event, StageChanged) for event in events)


async def test_a_failed_turn_ends_the_attempt_and_is_named_in_the_error() -> None:
    agent = Notes()
    row, events = await attempted(Sample(id="s1", question=Question(text="three"), turns=("one", "fail")), agent)
    assert len(agent.asked) == 2
    assert (row.status, str(row.error)) == ("failed", "AgentError: turn 2 of 3: it cannot be done")
    assert [turn.question for turn in row.turns] == ["one"]
    assert (row.report, row.raw_report, row.question) == (None, None, "three")  # the draft was of another turn
    assert [event.error for event in events if isinstance(event, RunFinished)] == ["turn 2 of 3: it cannot be done"]


async def test_a_time_limit_ends_the_attempt_in_any_turn() -> None:
    limits = configured(Limits, sample_seconds=0.2)
    row, _ = await attempted(TURNS.model_copy(update={"turns": ("one", "hang")}), Notes(), limits=limits)
    assert (row.status, len(row.turns)) == ("limit", 1)
    assert str(row.error).startswith("LimitReached: turn 2 of 3: ")


async def test_a_turn_that_was_cut_off_does_not_make_the_final_report_partial() -> None:
    """The outcome of each turn depends only on its own replies."""
    row, _ = await attempted(Sample(id="s1", question=Question(text="one"), turns=("cut",)), Notes())
    assert (row.status, row.turns[0].outcome) == ("completed", "partial")
    row, _ = await attempted(Sample(id="s1", question=Question(text="cut"), turns=("one",)), Notes())
    assert (row.status, row.turns[0].outcome) == ("limit", "ok")
