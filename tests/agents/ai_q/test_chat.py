"""The chat graph: every way through it, what it logs, what reaches the next stage, what the run verifies.

Its threads are tested in `test_threads`.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.chat import REJECTED, route_after_orchestration
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.states import ChatResearcherState, DepthDecision, IntentResult
from aiq.core.errors import AgentError
from aiq.core.events import Approval, Decision, ReportWritten, StageChanged
from aiq.core.samples import Question, Turn
from aiq.core.session import RejectingUser, User
from aiq.core.settings import CitationSettings
from aiq.offline.chat import ChatReply, ChatRequest, call

REPORT = (
    "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30 + "\n\n## References\n\n[1] orlune - https://pages.test/orlune"
)
SHORT = "The mayor is Ilan Corvey [1].\n\n## References\n[1] orlune - https://pages.test/orlune"
PLAN = {"title": "Orlune", "sections": ["Origins", "Today", "Outlook"]}
Script = Callable[[ChatRequest], ChatReply | int]


def answers(depth: str, *, shallow: str = SHORT, intent: str = "research") -> Script:
    """An endpoint on which every role answers in the plainest way."""

    def script(request: ChatRequest) -> ChatReply | int:
        searched = any(message.role == "tool" for message in request.messages)
        search = ChatReply(tool_calls=(call("web_search_tool", query="orlune"),))
        match request.role:
            case "aiq.intent_classifier":
                meta = "Hello!" if intent == "meta" else None
                fields = {"intent": intent, "meta_response": meta, "research_depth": depth, "depth_reasoning": "why"}
                return ChatReply(text=json.dumps(fields))
            case "aiq.clarifier":
                return ChatReply(text='{"needs_clarification": false, "clarification_question": null}')
            case "aiq.clarifier_planner":
                return ChatReply(text=json.dumps(PLAN))
            case "aiq.shallow_researcher":
                return ChatReply(text=shallow) if searched else search
            case "aiq.orchestrator":
                task = call("task", subagent_type="researcher-agent", description="Queries:\n- orlune")
                return ChatReply(text=REPORT) if searched else ChatReply(tool_calls=(task,))
        return ChatReply(text="Orlune lies on a river [1].") if searched else search

    return script


async def research(
    on_bench: Any, script: Script, question: str = "Who is the mayor?", *, user: User | None = None, **settings: Any
) -> tuple[Any, Any]:
    async with on_bench(script, user=user) as bench:
        report = await AiqAgent(AiqSettings.model_validate(settings)).research(Question(text=question), bench.session)
    return report, bench


def stages(bench: Any) -> list[str]:
    """The stages entered; researchers also say when they are done."""
    return [event.stage for event in bench.logged(StageChanged) if not event.stage.endswith("_done")]


def decisions(bench: Any, name: str) -> list[Any]:
    return [event for event in bench.logged(Decision) if event.name == name]


@pytest.mark.parametrize(
    ("intent", "depth", "goes"),
    [
        ("meta", None, "__end__"),
        ("meta", "deep", "__end__"),
        ("research", "shallow", "shallow_research"),
        ("research", "deep", "clarifier"),
        ("research", None, "shallow_research"),
        (None, None, "shallow_research"),
    ],
)
def test_routing_table(intent: Any, depth: Any, goes: str) -> None:
    state = ChatResearcherState(
        messages=[],
        user_intent=IntentResult(intent=intent) if intent else None,
        depth_decision=DepthDecision(decision=depth) if depth else None,
    )
    assert route_after_orchestration(state) == goes


def test_the_graph_has_four_nodes_and_the_specified_edges() -> None:
    agent = AiqAgent(AiqSettings())
    drawn = agent._chat.build().compile().get_graph()
    assert set(drawn.nodes) == {
        "__start__",
        "intent_classifier",
        "clarifier",
        "shallow_research",
        "deep_research",
        "__end__",
    }
    assert {(edge.source, edge.target) for edge in drawn.edges} == {
        ("__start__", "intent_classifier"),
        ("intent_classifier", "clarifier"),
        ("intent_classifier", "shallow_research"),
        ("intent_classifier", "__end__"),
        ("shallow_research", "clarifier"),
        ("shallow_research", "__end__"),
        ("clarifier", "deep_research"),
        ("clarifier", "__end__"),
        ("deep_research", "__end__"),
    }


async def test_meta_is_answered_at_once(on_bench: Any) -> None:
    report, bench = await research(on_bench, answers("", intent="meta"), "Hello")
    assert (report.route, report.text, report.outcome) == ("meta", "Hello!", "ok")
    assert [request.role for request in bench.endpoint.requests] == ["aiq.intent_classifier"]
    assert report.audit is None


async def test_shallow(on_bench: Any) -> None:
    report, bench = await research(on_bench, answers("shallow"))
    assert report.route == "shallow"
    assert "Ilan Corvey [1]" in report.text
    assert stages(bench) == ["intent_classifier", "shallow_research"]
    assert decisions(bench, "escalation")[0].value is False
    assert [citation.source for citation in report.audit.valid_citations] == ["https://pages.test/orlune"]


async def test_deep_goes_through_the_clarifier_and_its_plan_reaches_the_orchestrator(on_bench: Any) -> None:
    report, bench = await research(on_bench, answers("deep"), "Write a report on Orlune")
    assert report.route == "deep"
    assert stages(bench) == ["intent_classifier", "clarifier", "deep_research"]
    first = bench.endpoint.of("aiq.orchestrator")[0]
    assert "Plan (not shown to the user):\nOrlune\n1. Origins" in first.system
    assert first.last_user == "Write a report on Orlune"
    assert bench.logged(Approval) == []
    assert report.raw_text == REPORT


async def test_an_insufficient_answer_escalates_through_the_clarifier(on_bench: Any) -> None:
    report, bench = await research(on_bench, answers("shallow", shallow="I was unable to find it."))
    assert report.route == "escalated"
    assert stages(bench) == ["intent_classifier", "shallow_research", "clarifier", "deep_research"]
    (escalation,) = decisions(bench, "escalation")
    assert (escalation.value, escalation.cause) == (True, "phrase: unable to find")
    assert report.extras["escalation"] == {
        "policy": "phrases",
        "taken": True,
        "cause": "phrase: unable to find",
        "phrases": True,
    }
    # What the shallow path wrote is not part of the deep researcher's conversation.
    assert all("unable to find" not in m.text for r in bench.endpoint.of("aiq.orchestrator") for m in r.messages)


async def test_without_escalation_the_insufficient_answer_stands(on_bench: Any) -> None:
    script = answers("shallow", shallow="I was unable to find it.")
    report, bench = await research(on_bench, script, enable_escalation=False)
    assert (report.route, report.text) == ("shallow", "I was unable to find it.")
    (escalation,) = decisions(bench, "escalation")
    assert (escalation.value, escalation.cause) == (False, "never: enable_escalation=false")
    assert escalation.detail["phrases"] == "phrase: unable to find"  # what that policy would have gone by


async def test_where_deep_research_could_not_search_the_answer_stands(on_bench: Any) -> None:
    async with on_bench(answers("shallow", shallow="I was unable\nto find it.")) as bench:
        report = await AiqAgent(AiqSettings()).research(Question(text="Who?", data_sources=()), bench.session)
    assert (report.route, report.text) == ("shallow", "I was unable\nto find it.")
    (escalation,) = decisions(bench, "escalation")
    assert (escalation.value, escalation.cause) == (False, "no research tool")
    assert escalation.detail["phrases"] == "phrase: unable to find"


async def test_an_empty_answer_without_escalation_is_an_error(on_bench: Any) -> None:
    with pytest.raises(AgentError, match="empty"):
        await research(on_bench, answers("shallow", shallow=""), enable_escalation=False)


async def test_rejection_ends_the_run_as_such(on_bench: Any) -> None:
    settings: dict[str, Any] = {"user": RejectingUser(), "clarifier": {"enable_plan_approval": True}}
    report, bench = await research(on_bench, answers("deep"), **settings)
    assert (report.route, report.outcome, report.text) == ("rejected", "rejected", REJECTED)
    assert bench.endpoint.of("aiq.orchestrator") == []
    assert [decision.value for decision in decisions(bench, "route")] == ["deep", "rejected"]


async def test_rejection_after_escalation_is_a_rejection_too(on_bench: Any) -> None:
    settings: dict[str, Any] = {"user": RejectingUser(), "clarifier": {"enable_plan_approval": True}}
    report, _ = await research(on_bench, answers("shallow", shallow="Unable to find it."), **settings)
    assert report.route == "rejected"


async def test_without_the_clarifier_nobody_is_asked(on_bench: Any) -> None:
    report, bench = await research(on_bench, answers("deep"), enable_clarifier=False)
    assert report.route == "deep"
    assert bench.endpoint.of("aiq.clarifier") == bench.endpoint.of("aiq.clarifier_planner") == []
    assert "The plan, and what the user said" not in bench.endpoint.of("aiq.orchestrator")[0].system


async def test_a_failure_of_the_shallow_path_ends_the_attempt_and_its_cause_is_recorded(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply | int:
        return 500 if request.role == "aiq.shallow_researcher" else answers("shallow")(request)

    async with on_bench(script) as bench:
        with pytest.raises(Exception, match="500"):
            await AiqAgent(AiqSettings()).research(Question(text="Who?"), bench.session)
    (escalation,) = decisions(bench, "escalation")
    assert escalation.value is False
    assert "shallow research failed" in escalation.cause
    assert "500" in escalation.cause
    assert bench.endpoint.of("aiq.orchestrator") == []


@pytest.mark.parametrize(("entry", "role"), [("shallow", "aiq.shallow_researcher"), ("deep", "aiq.orchestrator")])
async def test_an_entry_runs_one_researcher_alone(on_bench: Any, entry: str, role: str) -> None:
    report, bench = await research(on_bench, answers("deep"), entry=entry)
    assert report.route == entry
    assert bench.endpoint.requests[0].role == role
    assert bench.endpoint.of("aiq.intent_classifier") == bench.endpoint.of("aiq.clarifier") == []
    assert len(bench.logged(ReportWritten)) == 1


async def test_history_gives_a_follow_up_its_context_and_is_trimmed(on_bench: Any) -> None:
    history = tuple(Turn(speaker=s, text=f"{s} {n}") for n in range(6) for s in ("user", "assistant"))
    question = Question(text="And its mayor?", history=history)
    async with on_bench(answers("shallow")) as bench:
        await AiqAgent(AiqSettings(max_history=4)).research(question, bench.session)
    asked = bench.endpoint.of("aiq.intent_classifier")[0].last_user
    assert "User: user 5\nAssistant: assistant 5" in asked
    assert "assistant 4" not in asked  # would be first, and the first is always the user's
    texts = [message.text for message in bench.endpoint.of("aiq.shallow_researcher")[0].messages[1:]]
    assert texts == ["user 5", "assistant 5", "And its mayor?"]


async def test_sources_of_an_escalated_route_stand_in_the_order_of_its_stages(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply | int:
        if request.role == "aiq.shallow_researcher":
            searched = any(message.role == "tool" for message in request.messages)
            query = call("web_search_tool", query="zebra")
            return ChatReply(text="Unable to find it.") if searched else ChatReply(tool_calls=(query,))
        return answers("shallow")(request)

    _, bench = await research(on_bench, script)
    urls = [source.url for source in bench.session.sources.all()]
    assert urls == ["https://pages.test/zebra", "https://pages.test/orlune"]


async def test_what_the_run_does_not_verify_stays_as_written(on_bench: Any) -> None:
    made_up = "Orlune is old [1].\n\n## References\n[1] A page - https://nowhere.test/x"
    async with on_bench(answers("shallow", shallow=made_up)) as bench:
        verified = await AiqAgent(AiqSettings()).research(Question(text="Who?"), bench.session)
        session = replace(bench.session, citations=CitationSettings(verify=False))
        plain = await AiqAgent(AiqSettings()).research(Question(text="Who?"), session)
    assert "nowhere.test" not in verified.text
    assert plain.text == made_up
    assert plain.audit is None
