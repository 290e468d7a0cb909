"""A sample's limits with `limits.on_limit=synthesize`, for every agent; the run's limits, and what counts on resume."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from aiq import datasets
from aiq.__main__ import main
from aiq.core.errors import LimitReached, ToolError
from aiq.core.events import EventLog
from aiq.core.reports import Report
from aiq.core.samples import Question, Sample, SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.settings import Settings
from aiq.core.usage import Limits, Quantity, Usage, UsageLedger
from aiq.experiment.attempt import run_attempt
from aiq.experiment.compose import settings
from aiq.experiment.resources import open_resources
from aiq.experiment.resume import seconds_worked
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_state
from tests.cases import table
from tests.experiment.conftest import Captured, Workplace
from tests.sessions import make_session
from tests.settings import configured

each = table(__file__)


async def looping(text: str, session: Session) -> str:
    """A user's agent: a stock client and a loop of tool calls, without any knowledge of limits."""
    messages: list[Any] = [{"role": "user", "content": text}]
    tools = session.tools.definitions(("web",))
    while True:
        answer = await session.openai("own").chat.completions.create(model="offline-1", messages=messages, tools=tools)
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            assert call.type == "function"
            try:
                content = (await session.call_tool(call.function.name, call.function.arguments, call.id)).content
            except ToolError as error:
                content = f"{error.kind}: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


PRICED = "llm.prices={offline-1: {input: 1, output: 1}}"


@pytest.mark.parametrize(
    ("agent", "limits"),
    [
        (["agent=ai_q_shallow"], {"sample_tokens": 6000}),
        (["agent=ai_q", PRICED], {"sample_model_calls": 4}),
        (["agent=ai_q_deep", "dataset=drb_mini"], {"sample_model_calls": 12, "reserve": 0.5}),
        (["agent=shannon"], {"sample_tool_calls": 3}),
        (["agent=planner"], {"sample_tool_calls": 4}),
        (["agent=python", f"agent.function={__name__}:looping"], {"sample_model_calls": 3}),
    ],
)
async def test_at_a_limit_every_agent_ends_with_a_report_of_what_it_has(
    agent: list[str], limits: Mapping[str, Any]
) -> None:
    overrides = [f"limits.{name}={value}" for name, value in {"on_limit": "synthesize", **limits}.items()]
    run = settings("experiment=shallow_freshqa", *agent, *overrides)
    (sample,) = datasets.load(run.dataset, seed=0, limit=1).samples
    async with open_resources(run) as resources:
        key, events = SampleKey(sample.id, 1), EventLog(lambda event: None)
        session = resources.session(run, key=key, user=ApprovingUser(), events=events)
        row = await run_attempt(run.agent.make("agent")[0], sample, session, lambda row: None)
    (name, bound), *_ = limits.items()
    assert (row.status, row.outcome) == ("limit", "partial")
    assert (row.report or "").strip()
    assert str(row.error).startswith(f"CutOff: limits.{name}={bound:g} is used up")
    assert row.tool_calls <= limits.get("sample_tool_calls", row.tool_calls)
    calls = session.usage.total().calls
    assert calls <= limits.get("sample_model_calls", calls)


class Drafting:
    """Writes a draft, then works until a limit stops it."""

    Settings: ClassVar = Settings

    async def research(self, question: Question, session: Session) -> Report:
        session.keep_draft("A draft [1].")
        raise LimitReached("limits.sample_tokens", 5)


@pytest.mark.parametrize(("on_limit", "report"), [("synthesize", "A draft [1]."), ("stop", None)])
async def test_at_the_hard_limit_the_draft_becomes_the_report(on_limit: str, report: str | None) -> None:
    session = make_session(limits=configured(Limits, on_limit=on_limit, sample_tokens=5))
    sample = Sample(id="s1", question=Question(text="Why?"))
    row = await run_attempt(Drafting(), sample, session, lambda row: None)
    assert (row.status, row.report, row.raw_report) == ("limit", report, "A draft [1].")
    assert (row.error and row.error.message) == "limits.sample_tokens=5 reached"
    assert row.answered == (report is not None)


@each("quantity")
def test_research_ends_when_only_the_reserve_is_left(quantity: Quantity, bound: float, used: float, over: bool) -> None:
    ledger = UsageLedger()
    for _ in range(int(used) if quantity == "model_calls" else 10):
        part = used / 10
        usage: dict[str, dict[str, Any]] = {"tokens": {"input_tokens": round(part)}, "usd": {"cost_usd": part}}
        ledger.record("a", Usage(calls=1, **usage.get(quantity, {})))
    if quantity == "tokens":
        ledger.record("a", Usage(input_tokens=round(used) - ledger.total().input_tokens))
    ledger.tool_calls = int(used) if quantity == "tool_calls" else 0
    reason = configured(Limits, **{f"sample_{quantity}": bound}).reached(ledger, used if quantity == "seconds" else 0)
    assert (reason is not None) == over
    assert reason is None or reason.startswith(f"limits.sample_{quantity}={bound:g} is used up")


def test_the_reserve_suffices_for_a_call_as_large_as_the_largest() -> None:
    ledger, limits = UsageLedger(), configured(Limits, sample_tokens=1000)
    ledger.record("a", Usage(calls=1, input_tokens=300, output_tokens=199))
    assert limits.reached(ledger, 0) is None
    ledger.record("a", Usage(calls=1, estimated_tokens=2, unreported_calls=1))
    assert limits.reached(ledger, 0)


@each("bound")
def test_a_limit_of_the_run_stops_it_and_counts_earlier_use_on_resume(
    here: Workplace, capsys: Captured, quantity: str, bound: float, enough: float, agent: str
) -> None:
    name = f"limits.run_{quantity}"
    assert main(["run", "experiment=tiny", agent, f"{name}={bound:g}", "runner.concurrency=1"]) == 130
    folder = here.only_run()
    n_completed = here.summary(folder)["statuses"].get("completed", 0)
    assert n_completed < 6
    resume = f"resume={folder.relative_to(here.path)}"
    message = f"aiq: {name}={bound:g} reached; finished work is kept, resume with: aiq run {resume} {name}=MORE\n"
    assert capsys.readouterr().err.endswith(message)
    assert main(["run", resume]) == 130  # nothing is left of it
    assert here.summary(folder)["statuses"].get("completed", 0) == n_completed
    assert main(["run", resume, f"{name}={enough:g}"]) == 0
    assert here.summary(folder)["statuses"] == {"completed": 6}
    assert not any(row["status"] == "limit" for row in here.lines(folder / "samples.jsonl"))


def test_the_time_of_killed_starts_is_derived_from_their_rows(here: Workplace) -> None:
    folder = RunFolder(here.ran("limit=2"))
    state, start = read_state(folder), datetime(2026, 11, 1, tzinfo=UTC)
    ends = {0: 5.0, 100: 7.5}
    for i, (row, (offset, seconds)) in enumerate(zip([*state.attempts.values()], ends.items(), strict=True)):
        started = start.timestamp() + offset + 1
        state.attempts.set(i, row._replace(started=started, seconds=seconds))
    times = [(start + timedelta(seconds=seconds_after)).isoformat() for seconds_after in (100, 500)]
    manifest = folder.read_manifest().model_copy(update={"started": start.isoformat()})
    resumptions = tuple({"time": time, "overrides": ()} for time in times)
    manifest = type(manifest).model_validate({**manifest.model_dump(), "resumed": resumptions})
    assert seconds_worked(manifest, state) == pytest.approx(6 + 8.5)  # nothing in the one that begins
