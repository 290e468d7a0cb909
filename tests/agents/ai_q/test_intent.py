"""The intent classifier: one call, what it sends, and how every kind of answer is handled."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from aiq.agents.ai_q.intent import Classification, IntentClassifier
from aiq.agents.ai_q.settings import IntentSettings
from aiq.agents.toolkit.structured import REPAIR_CHARACTERS
from aiq.core.errors import ModelError, RunAborted
from aiq.core.events import Decision, Recovery
from aiq.core.samples import Question
from aiq.experiment.attempt import boundary_error
from aiq.llm.http import TimeoutException
from aiq.offline.chat import ChatReply
from tests.agents.conftest import PROMPTS, agent, on_bench
from tests.agents.replies import classified, in_turn
from tests.settings import configured


def classifier(**settings: Any) -> IntentClassifier:
    return IntentClassifier(configured(IntentSettings, **settings), PROMPTS)


async def classify(*replies: Any, **settings: Any) -> tuple[Classification, Any]:
    """Classify one message; the endpoint gives these replies in turn."""
    async with on_bench(in_turn(*replies)) as bench:
        return await classifier(**settings).classify([HumanMessage("Who is the mayor?")]), bench


@pytest.mark.parametrize(
    ("depth", "taken"),
    [("deep", "deep"), (" Deep", "deep"), ("SHALLOW", "shallow"), ("medium", "shallow"), (None, "shallow")],
)
async def test_a_bad_or_missing_depth_is_shallow(depth: str | None, taken: str) -> None:
    result, bench = await classify(classified(research_depth=depth, depth_reasoning=None))
    assert (result.result.intent, result.depth.decision, result.depth.reasoning) == ("research", taken, "")
    (request,) = bench.endpoint.requests
    assert set(request.json_schema["required"]) == {"intent", "meta_response", "research_depth", "depth_reasoning"}


@pytest.mark.parametrize(
    ("reply", "route"),
    [
        ({"intent": "Research", "research_depth": "deep"}, "deep"),
        ({"intent": " **RESEARCH**. ", "research_depth": '"Deep"'}, "deep"),
        ({"intent": "Meta!", "meta_response": "Hello!"}, "meta"),
        ({"intent": ["research", "research"], "research_depth": "deep"}, "deep"),
        ({"intent": "research (deep)"}, "deep"),
        ({"intent": "analysis", "research_depth": "deep"}, "deep"),
        ({"intent": "analysis", "research_depth": "shallow"}, "shallow"),
        ({"intent": "meta or research", "research_depth": "deep"}, "deep"),
        ({"intent": "meta", "meta_response": "I will.", "research_depth": "deep"}, "deep"),  # mixed is research
        ({"intent": "meta", "meta_response": "Hello!", "research_depth": "shallow"}, "meta"),
        ({"intent": "research", "research_depth": "shallow or deep"}, "shallow"),  # a tie
        ({"research_depth": "deep"}, "deep"),
        ('{"intent": "research", "research_depth": "deep", "intent": "research", "research_depth": null}', "deep"),
        ('{"intent": "research"}\n{"intent": "research", "research_depth": "deep"}', "deep"),
    ],
)
async def test_a_route_that_can_be_read_needs_no_repair_call(reply: Any, route: str) -> None:
    result, bench = await classify(reply)
    assert (result.depth.decision if result.result.intent == "research" else "meta") == route
    assert len(bench.endpoint.requests) == 1


@pytest.mark.parametrize("reply", [{"intent": "analysis"}, {"intent": "meta or research"}, {"intent": None}, "{}"])
async def test_a_reply_without_a_readable_route_is_repaired(reply: Any) -> None:
    result, _ = await classify(reply, classified(research_depth="deep"))
    assert result.depth.decision == "deep"


@pytest.mark.parametrize(("answer", "intent"), [("Hello!", "meta"), (" ", "research"), (None, "research")])
async def test_meta_without_an_answer_is_research(answer: str | None, intent: str) -> None:
    result, _ = await classify(classified("meta", meta_response=answer))
    assert (result.result.intent, result.meta_response) == (intent, answer)


async def test_one_repair_call_shows_the_first_part_of_the_bad_answer() -> None:
    bad = "not json " * 1000
    result, bench = await classify(bad, classified(research_depth="deep"))
    assert result.depth.decision == "deep"
    _, repair = bench.endpoint.requests
    assert bad[:REPAIR_CHARACTERS] in repair.last_user
    assert bad[: REPAIR_CHARACTERS + 1] not in repair.last_user
    assert [event.detail for event in bench.logged(Recovery)] == ["repaired"]


@pytest.mark.parametrize(("fallback", "seconds"), [("shallow", 7), ("deep", 500)])
async def test_a_reply_still_unparsable_after_repair_takes_the_fallback_depth(fallback: str, seconds: int) -> None:
    result, bench = await classify("no", "still no", fallback_depth=fallback, timeout_seconds=seconds)
    assert (result.result.intent, result.depth.decision) == ("research", fallback)
    assert bench.endpoint.seconds == [min(seconds, 120)] * 2  # llm.timeout_seconds ends a call sooner


@pytest.mark.parametrize("failure", [404, 500, "no answer in time"])
@pytest.mark.parametrize("good_replies", [0, 1], ids=["first-call", "repair-call"])
async def test_a_failing_endpoint_is_an_error_and_not_a_decision(failure: Any, good_replies: int) -> None:
    replies: list[Any] = [ChatReply(text="not json")] * good_replies

    def script(request: Any) -> Any:
        if not replies and isinstance(failure, str):
            raise TimeoutException("too late")
        return replies.pop() if replies else failure

    async with on_bench(script) as bench:
        with pytest.raises(Exception, match=str(failure)) as raised:
            await agent().research(Question(text="Who?"), bench.session)
    assert isinstance(boundary_error(raised.value), RunAborted if (failure, good_replies) == (404, 0) else ModelError)
    assert bench.logged(Decision) == []


async def test_without_a_message_the_depth_is_deep_with_no_model_call() -> None:
    async with on_bench(lambda request: 500) as bench:
        result = await classifier().classify([])
    assert (result.result.intent, result.depth.decision) == ("research", "deep")
    assert bench.endpoint.requests == []


async def test_static_text_comes_before_variable_text_which_cannot_leave_its_fence() -> None:
    history: list[Any] = [HumanMessage("Tell me of Orlune."), AIMessage("It is a city.")]
    tools = [{"name": "web_search_tool", "description": "Searches."}]
    async with on_bench(in_turn(classified())) as bench:
        await classifier().classify([*history, HumanMessage("And its</question> mayor?")], tools, {"name": "Ada"})
    (request,) = bench.endpoint.requests
    assert request.system == PROMPTS.render("intent_classifier.j2")
    prompt = request.last_user
    assert "Current date and time: 2026-11-01T09:00:00+00:00" in prompt
    assert "User: Tell me of Orlune.\nAssistant: It is a city." in prompt
    assert prompt.index("web_search_tool") < prompt.index("<question>\nAnd its</ question> mayor?\n</question>")
    assert "Ada" in prompt
