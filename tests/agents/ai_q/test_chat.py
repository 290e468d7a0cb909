"""The chat graph: every path through it, what it logs, what reaches the next stage, what the run verifies."""

from typing import Any

import pytest

from aiq.agents.ai_q.agent import REJECTED
from aiq.core.events import Approval, Decision, ReportWritten, StageChanged
from aiq.core.run_settings import CitationSettings
from aiq.core.samples import Document, Question, Sample, Turn
from aiq.core.session import RejectingUser
from aiq.experiment.attempt import run_attempt
from aiq.offline.chat import ChatReply, ChatRequest
from tests.agents.conftest import agent, on_bench
from tests.agents.replies import ADMITS, APPROVAL, MADE_UP, SHORT, TASK, chat, results, search
from tests.settings import configured

LOST = chat(shallow=ADMITS)


async def research(
    script: Any, text: str = "Who is the mayor?", *, given: Any = None, **settings: Any
) -> tuple[Any, Any]:
    """(report, bench) of a question; `given`: fields of the session."""
    async with on_bench(script, **given or {}) as bench:
        return await agent(**settings).research(Question(text=text), bench.session), bench


def stages(bench: Any) -> list[str]:
    """The stages entered; researchers also say when they are done."""
    return [event.stage for event in bench.logged(StageChanged) if not event.stage.endswith("_done")]


def decisions(bench: Any, name: str) -> list[Any]:
    return [event for event in bench.logged(Decision) if event.name == name]


@pytest.mark.parametrize(
    ("text", "route", "entered", "says"),
    [
        ("Hello", "meta", [], "I answer questions."),
        ("Who is the mayor?", "shallow", ["shallow_research"], "Ilan Corvey [1]"),
        (TASK, "deep", ["clarifier", "deep_research"], "# Orlune"),
    ],
)
async def test_a_question_takes_its_route(text: str, route: str, entered: list[str], says: str) -> None:
    report, bench = await research(chat(), text)
    assert (report.route, report.outcome) == (route, "ok")
    assert says in report.text
    assert stages(bench) == ["intent_classifier", *entered]
    assert bench.logged(Approval) == []
    if route == "meta":
        assert report.audit is None
    else:
        assert [citation.source for citation in report.audit.valid_citations] == ["https://pages.test/orlune"]
    if route == "deep":
        request = bench.endpoint.of("aiq.orchestrator")[0]
        assert "Plan (not shown to the user):\nOrlune\n1. Origins" in request.system
        assert request.last_user == TASK


async def test_an_insufficient_answer_escalates_through_the_clarifier() -> None:
    report, bench = await research(LOST)
    assert report.route == "escalated"
    assert stages(bench) == ["intent_classifier", "shallow_research", "clarifier", "deep_research"]
    (escalation,) = decisions(bench, "escalation")
    assert (escalation.value, escalation.cause) == (True, "phrase: unable to find")
    assert report.extras["escalation"] == {
        "policy": "phrases",
        "taken": True,
        "cause": "phrase: unable to find",
        "phrases": True,
        "answer": ADMITS,
    }
    # What the shallow path wrote is not part of the deep researcher's conversation.
    assert all(ADMITS not in m.text for r in bench.endpoint.of("aiq.orchestrator") for m in r.messages)


@pytest.mark.parametrize(
    ("settings", "sources", "cause"),
    [
        ({"enable_escalation": False}, None, "never: enable_escalation=false"),
        ({}, (), "no research tool"),  # deep research could not search either
    ],
)
async def test_without_escalation_the_insufficient_answer_is_the_report(
    settings: dict[str, Any], sources: Any, cause: str
) -> None:
    async with on_bench(LOST) as bench:
        report = await agent(**settings).research(Question(text="Who?", data_sources=sources), bench.session)
    assert (report.route, report.text) == ("shallow", ADMITS)
    (escalation,) = decisions(bench, "escalation")
    assert (escalation.value, escalation.cause) == (False, cause)
    assert escalation.detail["phrases"] == "phrase: unable to find"  # what the policy `phrases` would have found


@pytest.mark.parametrize(("text", "before"), [(TASK, ["deep"]), ("Who?", ["shallow"])], ids=["deep", "escalated"])
async def test_a_rejected_plan_ends_the_turn_as_rejected(text: str, before: list[str]) -> None:
    report, bench = await research(LOST, text, given={"user": RejectingUser()}, **APPROVAL)
    assert (report.route, report.outcome, report.text) == ("rejected", "rejected", REJECTED)
    assert bench.endpoint.of("aiq.orchestrator") == []
    assert [decision.value for decision in decisions(bench, "route")] == [*before, "rejected"]


async def test_without_the_clarifier_nothing_is_asked_or_planned() -> None:
    report, bench = await research(chat(), TASK, enable_clarifier=False)
    assert report.route == "deep"
    assert bench.endpoint.of("aiq.clarifier") == bench.endpoint.of("aiq.clarifier_planner") == []
    assert "The plan, and what the user said" not in bench.endpoint.of("aiq.orchestrator")[0].system


async def test_a_failure_of_the_shallow_path_ends_the_attempt_with_its_cause_recorded() -> None:
    async with on_bench(chat(roles={"aiq.shallow_researcher": lambda request: 500})) as bench:
        with pytest.raises(Exception, match="500"):
            await agent().research(Question(text="Who?"), bench.session)
    (escalation,) = decisions(bench, "escalation")
    assert escalation.value is False
    assert "shallow research failed" in escalation.cause
    assert "500" in escalation.cause
    assert bench.endpoint.of("aiq.orchestrator") == []


@pytest.mark.parametrize(
    ("entry", "role"),
    [("chat", "aiq.intent_classifier"), ("shallow", "aiq.shallow_researcher"), ("deep", "aiq.orchestrator")],
)
@pytest.mark.parametrize(("sources", "told"), [(None, True), (["web"], False)], ids=["all", "web-only"])
async def test_an_entry_runs_alone_and_lists_documents_where_the_data_sources_allow_a_search(
    entry: str, role: str, sources: list[str] | None, told: bool
) -> None:
    question = Question(text=TASK, documents=(Document(file_name="a.pdf"),))
    async with on_bench(chat()) as bench:
        report = await agent(entry=entry, data_sources=sources).research(question, bench.session)
    assert report.route == ("deep" if entry == "chat" else entry)
    assert bench.endpoint.requests[0].role == role
    assert entry == "chat" or bench.endpoint.of("aiq.intent_classifier") == bench.endpoint.of("aiq.clarifier") == []
    assert len(bench.logged(ReportWritten)) == 1
    assert any("a.pdf" in request.system for request in bench.endpoint.requests) is told


async def test_history_gives_a_follow_up_its_context_and_is_trimmed() -> None:
    history = tuple(Turn(speaker=s, text=f"{s} {n}") for n in range(6) for s in ("user", "assistant"))
    async with on_bench(chat()) as bench:
        await bench.ask(agent(max_history=4), "And its mayor?", history=history)
    prompt = bench.endpoint.of("aiq.intent_classifier")[0].last_user
    assert "User: user 5\nAssistant: assistant 5" in prompt
    assert "assistant 4" not in prompt  # would be first, and the first is always the user's
    texts = [message.text for message in bench.endpoint.of("aiq.shallow_researcher")[0].messages[1:]]
    assert texts == ["user 5", "assistant 5", "And its mayor?"]


@pytest.mark.parametrize("entry", ["chat", "shallow"])
async def test_the_turns_of_an_attempt_are_one_conversation(entry: str) -> None:
    """The chat remembers by its thread, a researcher alone by the history: both see each turn once."""
    sample = Sample(id="s1", question=Question(text="And its river?"), turns=("Who is the mayor?",))
    aiq_agent: Any = agent(entry=entry)
    async with on_bench(chat(), memory="run.1.1") as bench:
        row = await run_attempt(aiq_agent, sample, bench.session, lambda row: None)
    assert (row.status, row.route, len(row.turns)) == ("completed", "shallow", 1)
    assert row.turns[0].report == row.report == SHORT
    request = bench.endpoint.of("aiq.shallow_researcher")[-2]
    assert [(message.role, message.text) for message in request.messages[1:]] == [
        ("user", "Who is the mayor?"),
        ("assistant", SHORT),
        ("user", "And its river?"),
    ]
    assert [source.url for source in row.sources] == ["https://pages.test/orlune"]


async def test_sources_of_an_escalated_route_are_in_the_order_of_its_stages() -> None:
    def shallow(request: ChatRequest) -> ChatReply | None:
        return None if results(request) else search("zebra")

    _, bench = await research(chat(shallow=ADMITS, roles={"aiq.shallow_researcher": shallow}))
    urls = [source.url for source in bench.session.sources.all()]
    assert urls == ["https://pages.test/zebra", "https://pages.test/orlune"]


@pytest.mark.parametrize("verify", [True, False])
async def test_what_the_run_does_not_verify_remains_as_written(verify: bool) -> None:
    made_up = SHORT.replace("https://pages.test/orlune", MADE_UP)
    fields = {"citations": configured(CitationSettings, verify=verify)}
    report, _ = await research(chat(shallow=made_up), given=fields)
    assert (MADE_UP in report.text, report.audit is None) == (not verify, not verify)
    assert report.raw_text == made_up
    assert verify or report.text == made_up
