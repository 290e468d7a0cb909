"""A report that was written is never lost: whatever fails afterwards, the attempt's row has it as raw_report."""

from typing import Any

import pytest

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.settings import AiqSettings
from aiq.citations.registry import SourceRegistry
from aiq.core.samples import Question, Sample
from aiq.core.sources import Source
from aiq.core.usage import Limits
from aiq.experiment.attempt import run_attempt
from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.runs.rows import SampleRow

REPORT = "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30


class BrokenRegistry(SourceRegistry):
    """Cannot be read the first time, which is when the report is verified."""

    broken = True

    def _break(self) -> None:
        if self.broken:
            self.broken = False
            raise ValueError("the registry is broken")

    def all(self) -> tuple[Source, ...]:
        self._break()
        return super().all()

    def known(self) -> tuple[Source, ...]:
        self._break()
        return super().known()


async def attempt(
    on_bench: Any, script: Any, limits: Limits | None = None, broken: bool = False, **settings: Any
) -> SampleRow:
    rows: list[SampleRow] = []
    sources = BrokenRegistry() if broken else SourceRegistry()
    async with on_bench(script, limits=limits or Limits(), sources=sources) as bench:
        agent: Any = AiqAgent(AiqSettings.model_validate(settings))
        sample = Sample(id="s1", question=Question(text="Write a report on Orlune"))
        row: SampleRow = await run_attempt(agent, sample, bench.session, rows.append)
    assert rows == [row]
    return row


def writes_the_file_and_goes_on(request: ChatRequest) -> ChatReply:
    turn = sum(message.role == "assistant" for message in request.messages)
    if turn == 0:
        return ChatReply(tool_calls=(call("write_file", file_path="/report.md", content=REPORT),))
    return ChatReply(tool_calls=(call("think", thought="hm"),))


async def test_a_limit_after_the_file_was_written(on_bench: Any) -> None:
    row = await attempt(on_bench, writes_the_file_and_goes_on, Limits(sample_model_calls=3), entry="deep")
    assert (row.status, row.report, row.raw_report) == ("limit", None, REPORT)
    assert row.error is not None
    assert row.error.message == "limit limits.sample_model_calls=3 reached"


async def test_a_failing_endpoint_after_the_file_was_written(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply | int:
        return 400 if len(request.messages) > 2 else writes_the_file_and_goes_on(request)

    row = await attempt(on_bench, script, entry="deep")
    assert (row.status, row.report, row.raw_report) == ("failed", None, REPORT)


async def test_a_file_that_could_not_be_written_is_no_draft(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        return ChatReply(tool_calls=(call("write_file", file_path="/report.md", text=REPORT),))

    row = await attempt(on_bench, script, Limits(sample_model_calls=2), entry="deep")
    assert (row.status, row.raw_report) == ("limit", None)


@pytest.mark.parametrize("entry", ["shallow", "deep"])
async def test_a_failing_verification(on_bench: Any, entry: str) -> None:
    row = await attempt(on_bench, lambda request: ChatReply(text=REPORT), broken=True, entry=entry)
    assert (row.status, row.report, row.raw_report) == ("failed", None, REPORT.strip() if entry == "deep" else REPORT)
    assert row.error is not None
    assert "the registry is broken" in row.error.message


async def test_the_shallow_answer_of_an_escalation_that_fails(on_bench: Any) -> None:
    answer = "I was unable to find the mayor of Orlune."

    def script(request: ChatRequest) -> ChatReply | int:
        if request.role == "aiq.intent_classifier":
            return ChatReply(
                text='{"intent": "research", "meta_response": null, "research_depth": "shallow", "depth_reasoning": ""}'
            )
        return ChatReply(text=answer) if request.role == "aiq.shallow_researcher" else 400

    row = await attempt(on_bench, script, enable_clarifier=False)
    assert (row.status, row.raw_report) == ("failed", answer)


async def test_nothing_written_is_no_report(on_bench: Any) -> None:
    row = await attempt(on_bench, lambda request: ChatReply(text=""), entry="deep")
    assert (row.status, row.raw_report) == ("failed", None)
    assert row.error is not None
    assert row.error.type == "AgentError"
