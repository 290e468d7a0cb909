"""The order of the stages, its conditional edges, and what each stage does when its model fails."""

from typing import Any

import pytest

from aiq.agents.shannon.agent import ShannonAgent
from aiq.agents.shannon.settings import ShannonSettings
from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted
from aiq.core.events import Decision
from aiq.core.usage import Limits
from aiq.offline.chat import ChatReply
from tests.agents.replies import results
from tests.agents.shannon.runs import AREAS, QUICK, Said, in_order, plan, report, research, researches, subtask
from tests.settings import configured

BEFORE = ["memory", "compress", "refine", "decompose", "execute", "entity_filter", "cite", "synthesize", "find_gaps"]
GAP = report(AREAS[0])
PASS = ["fill_gaps", "find_gaps"]


@pytest.mark.parametrize(
    ("settings", "parts", "after"),
    [
        ({}, {}, ["reflect", "verify"]),
        ({"enable_verification": False}, {}, ["reflect"]),
        ({"research_strategy": "quick"}, {"synthesizer": GAP}, ["reflect"]),
        ({}, {"synthesizer": GAP}, [*PASS, *PASS, "reflect", "verify"]),
        ({"citations": {"placement": "after"}}, {"citer": {"marks": []}}, ["reflect", "place_citations", "verify"]),
        ({"synthesis_style": "concise"}, {"synthesizer": "Orlune is a town [1]."}, ["reflect", "verify"]),
    ],
)
async def test_the_order_of_the_stages(settings: dict[str, Any], parts: dict[str, Said], after: list[str]) -> None:
    ran = await research({"citer": {"marks": []}, **parts}, {"reflection": {"evaluator": "constant"}, **settings})
    assert ran.stages == [*BEFORE, *after]
    assert ran.report.extras["gap_iterations"] == after.count("fill_gaps")


def test_the_graph_is_drawn_as_it_runs() -> None:
    (drawing,) = ShannonAgent(configured(ShannonSettings)).graphs(models=None)  # type: ignore[arg-type]
    edges = {(edge.source, edge.target): edge.conditional for edge in drawing.graph.get_graph().edges}
    straight = [*zip(["__start__", *BEFORE], BEFORE, strict=False), ("reflect", "verify"), ("verify", "__end__")]
    gaps = [(a, b) for a, b in [("find_gaps", "fill_gaps"), ("fill_gaps", "find_gaps")]]
    assert edges == dict.fromkeys(straight, False) | dict.fromkeys(
        [*gaps, ("find_gaps", "reflect"), ("fill_gaps", "reflect")], True
    )


BY_MODEL = {"gaps": {"evaluator": "model"}, "reflection": {"evaluator": "model"}}
LONG = {"compression": {"messages": 1, "window_share": 0}}
HISTORY = [{"speaker": "user", "text": "Hello"}, {"speaker": "assistant", "text": "Good day"}]
ALONE = {"decomposer": plan(complexity=0.1)}


@pytest.mark.parametrize(
    ("part", "settings", "recovered"),
    [
        ("compressor", LONG, ["compression_skipped"]),
        ("refiner", {}, ["refine_skipped"]),
        ("researcher", {}, ["agent_cut_short", "agent_cut_short"]),
        ("synthesizer", QUICK, ["no_synthesis"]),
        ("coverage", BY_MODEL, ["coverage_unknown"]),
        ("evaluator", {**QUICK, **BY_MODEL}, ["reflection_skipped"]),
        ("claims", {}, ["verification_skipped"]),
        ("verifier", {}, ["claim_not_checked", "claim_not_checked"]),
        ("reasoner", {"execution": {"pattern": "react"}}, ["react_reasoner"]),
        ("summarizer", {"execution": {"pattern": "react"}}, ["react_summarizer"]),
        ("citer", {"citations": {"placement": "after"}}, ["citations_not_placed"]),
    ],
)
async def test_a_stage_goes_on_without_its_model_if_that_fails(
    part: str, settings: dict[str, Any], recovered: list[str]
) -> None:
    parts: dict[str, Any] = {
        "coverage": {"coverage": 1, "confidence": 1},
        "evaluator": {"score": 1},
        "citer_inline": "x",
        part: 500,
    }
    ran = await research(parts, settings, {"history": HISTORY})
    assert ran.recovered[: len(recovered)] == recovered
    assert ran.report.text.strip()
    assert [decision.value for decision in ran.decided("tokens_add_up")] == [True]


async def test_without_a_plan_there_is_no_research() -> None:
    with pytest.raises(ModelError, match=r"shannon\.small\.decomposer.*failed after 2 attempts"):
        await research({"decomposer": 500})
    with pytest.raises(AgentError, match="the query could not be decomposed"):
        await research({"decomposer": "I cannot do that"})


async def test_a_limit_ends_the_research_wherever_it_is_reached() -> None:
    everything = {**LONG, **BY_MODEL, "citations": {"placement": "after"}}
    parts: dict[str, Said] = {
        "coverage": {"coverage": 0.1, "queries": ["Orlune's trade"]},
        "evaluator": {"score": 0.1, "feedback": "more"},
        "citer": {"marks": [{"sentence": 1, "citation": 1}]},
    }
    unlimited = await research(parts, everything, {"history": HISTORY})
    calls = len(unlimited.bench.endpoint.requests)
    assert calls > 15
    for limit in range(1, calls, 4):
        with pytest.raises(LimitReached, match=f"limits.sample_model_calls={limit} reached"):
            await research(parts, everything, {"history": HISTORY}, limits=configured(Limits, sample_model_calls=limit))


@pytest.mark.parametrize(
    ("tier", "part", "settings", "status", "error"),
    [
        ("small", "refiner", {}, 400, ModelError),
        ("large", "researcher", {}, 400, ModelError),
        ("large", "reasoner", {"execution": {"pattern": "react"}}, 400, ModelError),
        ("small", "verifier", {}, 400, ModelError),
        ("medium", "synthesizer", {}, 401, RunAborted),
    ],
)
async def test_an_endpoint_that_has_never_answered_ends_the_run(
    tier: str, part: str, settings: dict[str, Any], status: int, error: type[Exception]
) -> None:
    """A separate model that answers only with refusals."""
    roles = {f"shannon.{tier}.{part}": {"model": "wrong"}}
    with pytest.raises(error, match=r"has not answered once|refuses the key"):
        await research({part: status}, settings, llm={"roles": roles})


async def test_the_same_research_at_any_concurrency_and_order_of_answers() -> None:
    subtasks = [subtask("a"), subtask("b"), subtask("c", "a"), subtask("d", "b", "a"), subtask("e")]
    outcomes = []
    for order, at_once in ((0, 1), (7, 20)):
        parts: dict[str, Said] = {
            "decomposer": plan(*subtasks, complexity=0.9),
            "synthesizer": in_order(GAP, GAP, report(*AREAS)),
            "verifier": lambda request: {"supporting": [1], "confidence": len(request.messages[-1].text) % 7 / 7},
        }
        settings = {"max_concurrent_agents": at_once, "research_strategy": "deep", "gaps": {"at_once": at_once}}
        ran = await research(parts, settings, order=order)
        sources = [source.address for source in ran.bench.session.sources.all()]
        prompts = sorted(message.text for r in ran.bench.endpoint.requests for message in r.messages)
        decisions = sorted((d.name, str(d.value), str(d.detail)) for d in ran.bench.logged(Decision))
        outcomes.append((ran.report.model_dump(), sources, prompts, decisions))
    assert all(outcome == outcomes[0] for outcome in outcomes[1:])


async def test_a_blank_report_is_an_error_and_never_a_traceback() -> None:
    def silent(request: Any) -> ChatReply:
        return ChatReply(text="") if results(request) else researches(request)

    with pytest.raises(AgentError, match="no agent has found anything"):
        await research({"synthesizer": 500, "researcher": 500}, {**QUICK, "execution": {"force_search": False}})
    ran = await research({"synthesizer": "", "researcher": silent}, QUICK)  # what tools brought is left
    assert ran.report.text.count("is well described") == 2
