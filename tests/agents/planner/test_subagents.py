"""The eight sub-agents: schemas, prompts and the rules inside them; and a ninth, which is one file."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import (
    AggregationResult,
    PlannerState,
    ResearchFinding,
    ResearchGap,
    SubQuestion,
)
from aiq.agents.planner.subagents.aggregator import AggregatorInput, fallback_insights, tool_arguments
from aiq.agents.planner.subagents.base import Registry, Research
from aiq.agents.planner.subagents.decomposer import DecomposerOutput, repair_questions
from aiq.agents.planner.subagents.gap_analyzer import confidence_in, recommendation
from aiq.agents.planner.subagents.synthesizer import key_findings
from aiq.agents.planner.subagents.validator import ValidatorOutput
from aiq.agents.planner.tools import DataTools
from aiq.core.errors import AgentError, ConfigError, ModelError, RunAborted, ToolError, ToolErrorKind
from aiq.core.events import ReportChunk
from aiq.core.tools import Tool, Toolbox
from tests.agents.conftest import Bench, on_bench
from tests.agents.planner.conftest import (
    DECOMPOSED,
    INDIA,
    QUESTIONS,
    REPORT,
    EventsTool,
    Pages,
    document,
    finding,
    plan,
    planned,
    questions,
    roles,
    state,
)
from tests.cases import table
from tests.settings import configured

each = table(__file__)

NAMES = ["aggregator", "decomposer", "extractor", "gap_analyzer", "perspective", "scanner", "synthesizer", "validator"]
SETTINGS = configured(PlannerSettings, calls={"first_seconds": 0, "retries": 0})
REGISTRY = Registry(SETTINGS, SETTINGS.prompts())


def counts(**buckets: int) -> AggregationResult:
    rows = tuple({"key": key, "count": count} for key, count in buckets.items())
    return AggregationResult(aggregation_type="terms", field="theme", buckets=rows, total_docs=sum(buckets.values()))


async def run(name: str, *tools: Tool, given: PlannerState | None = None, said: Any = None, **arguments: Any) -> Any:
    """The output of a sub-agent, and the bench; `said`: what its model says."""
    agent, script = REGISTRY.get(name), roles([{}], **({} if said is None else {name: said}))
    async with on_bench(script, tools=Toolbox(tools)) as bench:
        research = Research(DataTools(SETTINGS, tools, None), given or state())
        return await agent.run(agent.completed(arguments, research.state), research), bench


def asked(bench: Bench, name: str) -> str:
    return bench.endpoint.of(f"planner.{name}")[-1].last_user


# the registry


def test_all_eight_are_found_by_looking_through_the_package() -> None:
    assert sorted(REGISTRY.names) == NAMES
    listed = {row["name"]: row for row in REGISTRY.listing()}
    assert listed["scanner"]["description"] == f"{REGISTRY.get('scanner').description} (slow, cost high)"


NINTH = """
from pydantic import BaseModel
from aiq.agents.planner.subagents.base import SubAgent


class Words(BaseModel):
    words: int = 0


class Counter(SubAgent[Words, Words]):
    name = "counter"
    description = "Counts the words of the question."
    input_model = output_model = Words

    def defaults(self, state):
        return {"words": len(state.query.split())}

    async def execute(self, given, research):
        return given

    def accumulate(self, state, out, arguments):
        return {"insights": (f"{out.words} words",)}
"""


async def test_a_ninth_is_one_file_and_one_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ninth_subagent.py").write_text(NINTH)
    monkeypatch.syspath_prepend(tmp_path)
    plans = [plan("counter", tools=[("analyze_events", {})]), plan("scanner")]
    async with planned(roles(plans), subagents=["ninth_subagent:Counter"]) as (_, bench):
        assert "Counts the words of the question." in asked(bench, "planner")
        assert "4 words" in asked(bench, "synthesizer")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("aiq.agents.planner.state:PlannerState", "must subclass"),
        ("aiq.agents.planner.subagents.scanner:Scanner", "two sub-agents are called 'scanner'"),
        (
            "aiq.agents.planner.subagents.base:SubAgent",
            "SubAgent must set name, description, input_model, output_model",
        ),
    ],
)
def test_a_users_sub_agent_must_be_a_complete_subclass_with_a_new_name(target: str, says: str) -> None:
    settings = configured(PlannerSettings, subagents=[target])
    with pytest.raises(ConfigError, match=says):
        Registry(settings, settings.prompts())


def test_an_unknown_sub_agent_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(AgentError, match="Unknown sub-agent: nobody; there are: aggregator"):
        REGISTRY.get("nobody")


async def test_records_come_from_the_state_whatever_a_plan_says() -> None:
    agent, initial = REGISTRY.get("synthesizer"), state(findings=(finding(),))
    completed = agent.completed({"findings": [], "format": "bullet_points", "max_findings": None}, initial)
    assert (completed["findings"], completed["format"], completed["max_findings"]) == (
        initial.findings,
        "bullet_points",
        50,
    )


# decomposer and perspective


async def test_a_question_becomes_three_to_seven_sub_questions() -> None:
    out, bench = await run("decomposer")
    assert [question.question for question in out.sub_questions] == QUESTIONS
    assert "At most 7 sub-questions." in asked(bench, "decomposer")
    with pytest.raises(ValidationError):
        await run("decomposer", said={"sub_questions": DECOMPOSED["sub_questions"][:2]})


def subquestion(name: str, *needs: str) -> SubQuestion:
    return SubQuestion(id=name, question=f"{name}?", depends_on=needs)


@pytest.mark.parametrize(
    "wrong",
    [
        [subquestion("a"), subquestion("b")],
        [subquestion(name) for name in "abcdefgh"],
        [subquestion("a"), subquestion("a"), subquestion("b")],
        [subquestion("a", "x"), subquestion("b"), subquestion("c")],
        [subquestion("a", "c"), subquestion("b", "a"), subquestion("c", "b")],
    ],
)
def test_sub_questions_are_consistent(wrong: list[SubQuestion]) -> None:
    with pytest.raises(ValidationError):
        DecomposerOutput(sub_questions=tuple(wrong))


def test_inconsistent_sub_questions_are_repaired() -> None:
    subquestions = [
        subquestion("a", "c"),
        subquestion("b", "a", "x"),
        subquestion("c", "b", "c"),
        subquestion("a"),
        subquestion("d"),
    ]
    repaired = repair_questions(subquestions, 4)
    assert [(question.id, question.depends_on) for question in repaired] == [("a", ()), ("b", ("a",)), ("c", ("b",))]
    assert len(DecomposerOutput(sub_questions=repaired).sub_questions) == 3


def test_a_blank_id_is_made_of_the_question() -> None:
    first, second = SubQuestion(id=" ", question="A?"), SubQuestion.model_validate({"question": "A?"})
    assert first.id == second.id
    assert first.id.startswith("sq_")
    assert len(first.id) == 11


async def test_there_are_as_many_perspectives_as_asked_for() -> None:
    views = [{"name": f"Expert {n}", "focus": "x", "questions": None, "extra": 1} for n in range(5)]
    out, bench = await run("perspective", said={"perspectives": views}, num_perspectives=2, domain="events")
    assert [view.name for view in out.perspectives] == ["Expert 0", "Expert 1"]
    assert "Exactly 2 perspectives.\nDomain: events" in asked(bench, "perspective")


# aggregator


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"filters": {"country": "India"}}, {"filters": INDIA}),
        ({"filters": INDIA, "range_filters": "no json"}, {"filters": INDIA}),
        ({"date_histogram": "month"}, {"date_histogram": '{"field": "event_date", "interval": "month"}'}),
        ({"date_histogram": '{"field": "x"}'}, {"date_histogram": '{"field": "x"}'}),
        ({"date_histogram": "fortnight"}, {}),
        ({"group_by": "country,year", "fallback_search": "AI"}, {"group_by": "country,year", "query": "AI"}),
        (
            {"top_n": 7, "top_n_per_group": 2, "samples_per_bucket": 1},
            {"top_n": 7, "top_n_per_group": 2, "samples_per_bucket": 1},
        ),
        ({"group_by": "a", "custom_args": {"group_by": "b", "z": 1}}, {"group_by": "b", "z": 1}),
    ],
)
def test_arguments_of_an_aggregation_fit_the_tool(given: dict[str, Any], sent: dict[str, Any]) -> None:
    bare = {"top_n": 0, "top_n_per_group": 0, **given}
    assert tool_arguments(AggregatorInput(**bare), "event_date") == sent


async def test_an_aggregation_counts_without_reading() -> None:
    tool = EventsTool()
    out, bench = await run("aggregator", tool, group_by="event_theme", filters={"country": "India"})
    assert tool.calls == [{"filters": INDIA, "group_by": "event_theme"}]
    assert (out.total_dataset_size, len(out.results[0].buckets), len(out.sources)) == (165, 6, 10)
    assert out.insights == ("AI leads.",)
    assert "AI: 50\nCloud: 40" in asked(bench, "aggregator")


async def test_several_tools_are_asked_at_once_and_one_may_fail() -> None:
    a, b = Pages([{"data_context": {"unique_ids_matched": 3}}]), Pages([{"documents": [{"id": "1"}]}], name="b")
    failing = Pages([ToolError(ToolErrorKind.FAILED, "it broke")], name="c")
    out, _ = await run("aggregator", a, b, failing, use_all_enabled=True)
    assert (out.total_dataset_size, [d.key for d in out.sources]) == (4, ["b:1"])
    with pytest.raises(ToolError):
        await run("aggregator", failing)


async def test_without_a_tool_nothing_is_aggregated() -> None:
    out, _ = await run("aggregator")
    assert (out.insights, out.total_dataset_size) == (("No tools available for aggregation",), 0)


@pytest.mark.parametrize("said", ["no json", {"insights": []}])
async def test_without_a_models_insights_they_follow_from_the_numbers(said: Any) -> None:
    tool = EventsTool()
    out, _ = await run("aggregator", tool, group_by="event_theme", filters=INDIA, said=said)
    assert out.insights == (
        "AI leads with 50 documents",
        "Top 3: AI, Cloud, Security",
        "Top 5 account for 93.9% of documents",
    )


def test_insights_of_few_buckets_and_of_none() -> None:
    assert fallback_insights([counts(a=1, b=3)], 4) == ("b leads with 3 documents",)
    assert fallback_insights([], 1234) == ("Dataset contains 1,234 documents matching the query",)


async def test_without_buckets_no_model_is_asked() -> None:
    out, bench = await run("aggregator", EventsTool())
    assert out.insights == ("Dataset contains 600 documents matching the query",)
    assert not bench.endpoint.requests


@each("asked")
async def test_which_tools_are_asked(arguments: dict[str, Any], called: list[str]) -> None:
    tools = [Pages([{"documents": []}], name=name) for name in ("a", "b")]
    await run("aggregator", *tools, **arguments)
    assert [tool.name for tool in tools if tool.calls] == called


# extractor


async def test_an_extractor_reads_fetched_documents_that_are_unread() -> None:
    initial = state(
        documents=(document("t:a", text="A" * 3000, date="2024-01-02"), document("t:b", read=True)),
        findings=(finding(themes=("AI",)),),
    )
    reply = {"findings": [{"claim": "New.", "sources": ["1"], "themes": ["AI", "Cloud"], "confidence": "HIGH"}]}
    out, bench = await run("extractor", given=initial, said=reply)
    assert (out.docs_processed, [d.key for d in out.sources if d.read]) == (1, ["t:a"])
    assert (out.findings[0].doc_ids, out.findings[0].confidence) == (("t:a",), "high")
    assert out.new_themes_discovered == ("Cloud",)
    prompt = asked(bench, "extractor")
    assert "[1] t:a\nhttps://docs.test/t:a\nDate: 2024-01-02\n" + "A" * 2000 + "\n" in prompt
    assert "at most 3 findings" in prompt


async def test_an_extractor_that_fails_has_processed_its_documents() -> None:
    out, _ = await run("extractor", given=state(documents=(document("t:a"),)), said="no json")
    assert (out.findings, out.docs_processed) == ((), 1)


@pytest.mark.parametrize("said", [(400, "prompt is too long: 99 tokens"), 404])
async def test_a_too_long_prompt_and_an_endpoint_that_never_answered_are_raised(said: Any) -> None:
    with pytest.raises((ModelError, RunAborted)):
        await run("extractor", given=state(documents=(document("t:a"),)), said=said)


# validator


async def validated(said: Any, **more: Any) -> ValidatorOutput:
    out: ValidatorOutput
    out, _ = await run("validator", given=state(findings=(finding(),), sub_questions=questions(1), **more), said=said)
    return out


def issue(severity: str) -> dict[str, Any]:
    return {"issue_type": "weak_evidence", "description": "d", "severity": severity, "suggested_action": None}


@pytest.mark.parametrize(
    ("said", "status", "confidence"),
    [
        ({"validation_passed": True, "overall_confidence": 0.85}, "passed", 0.85),
        ({"validation_passed": False, "overall_confidence": 0.2}, "failed", 0.2),
        ({"issues": [issue("high")], "overall_confidence": 0.8}, "needs_revision", 0.8),
        ({"issues": [issue("medium"), issue("low")], "overall_confidence": 0.8}, "passed", 0.8),
        ({"validation_passed": True, "overall_confidence": None}, "passed", 0.0),
        ("no json", "needs_revision", 0.5),
        (500, "needs_revision", 0.5),
    ],
)
async def test_the_status_of_a_validation(said: Any, status: str, confidence: float) -> None:
    validation = await validated(said)
    assert (validation.status, validation.overall_confidence) == (status, confidence)


async def test_without_findings_nothing_is_valid_and_no_model_is_asked() -> None:
    out, bench = await run("validator")
    assert (out.status, out.overall_confidence) == ("failed", 0.0)
    assert [(issue.issue_type, issue.severity) for issue in out.issues] == [("coverage_gap", "high")]
    assert not bench.endpoint.requests


async def test_confidence_is_0_to_1_and_only_of_existing_questions() -> None:
    scores = {"sq_1": 1.7, "sq_9": 0.5}
    validation = await validated({"overall_confidence": 0.5, "confidence_scores": scores})
    assert validation.confidence_scores == {"sq_1": 1.0}


async def test_a_validator_sees_thirty_findings() -> None:
    many = tuple(finding(f"Claim {n}.") for n in range(40))
    _, bench = await run("validator", given=state(findings=many))
    assert asked(bench, "validator").count("<finding>") == 30


# gap analyzer


def on_question(name: str, documents: int) -> ResearchFinding:
    keys = [f"t:{n}" for n in range(documents)]
    return finding(f"On {name}.", *keys, relevant_questions=(name,))


def test_confidence_in_a_question_grows_with_its_documents() -> None:
    (question,) = questions(1)
    assert confidence_in(question, [on_question("sq_1", 4), on_question("sq_1", 3), on_question("sq_2", 9)]) == 0.7
    assert confidence_in(question, [on_question("sq_1", 12)]) == 1.0
    assert confidence_in(question, []) == 0.0


@each("recommended")
def test_what_is_recommended(known: dict[str, float], quiet: bool, told: str) -> None:
    assert recommendation(questions(5, 1), known, 0.7, quiet) == told


async def test_gaps_are_the_models_and_coverage_is_counted() -> None:
    initial = state(
        sub_questions=questions(1, 1),
        findings=(on_question("sq_1", 5),),
        documents=(document("t:a"),),
        total_docs=4,
        aggregations=(counts(AI=3),),
    )
    gap = {
        "gap_description": "No data on AI",
        "importance": "high",
        "suggested_agent": "scanner",
        "suggested_params": {},
    }
    out, bench = await run("gap_analyzer", given=initial, said={"gaps": [gap], "reasoning": "r"})
    assert out.gaps == (ResearchGap.model_validate(gap),)
    assert (out.coverage_by_question, out.recommendation) == ({"sq_1": 50.0, "sq_2": 0.0}, "CONTINUE_RESEARCH")
    prompt = asked(bench, "gap_analyzer")
    assert "Documents fetched: 1 of 4 (25.0%)" in prompt
    assert "theme: AI: 3" in prompt


async def test_without_a_reply_research_goes_on() -> None:
    out, _ = await run("gap_analyzer", given=state(sub_questions=questions(1)), said="no json")
    assert (out.recommendation, [gap.importance for gap in out.gaps]) == ("CONTINUE_RESEARCH", ["medium"])


# synthesizer


def written_from(**more: Any) -> PlannerState:
    documents = tuple(document(f"t:{n}", read=True, text=f"Text {n}.") for n in range(1, 6))
    findings = (finding("AI leads.", "t:2", "t:1"), finding("Cloud follows.", "t:2", "t:9"))
    fields = {"documents": documents, "findings": findings, "aggregations": (counts(AI=3, Cloud=2),), "total_docs": 5}
    return state(**{**fields, "confidence": 0.8, **more})


async def test_findings_are_numbered_by_their_sources() -> None:
    out, bench = await run("synthesizer", given=written_from())
    prompt = asked(bench, "synthesizer")
    assert "AI leads. [1][2]\nCloud follows. [1]\n" in prompt
    assert "[1] t:2 - https://docs.test/t:2\n[2] t:1 - https://docs.test/t:1\n[3] t:3" in prompt
    assert "Text 3. [3]" in prompt
    assert "Text 1." not in prompt
    assert "Distribution by theme (5 documents): AI: 3, Cloud: 2" in prompt
    assert out.report.endswith("## References\n[1] t:2 - https://docs.test/t:2")


@each("form")
async def test_the_form_of_a_report_is_what_is_asked_for(arguments: dict[str, Any], says: str) -> None:
    _, bench = await run("synthesizer", given=written_from(), **arguments)
    assert says in asked(bench, "synthesizer")


async def test_findings_and_buckets_are_limited() -> None:
    many = tuple(finding(f"Claim {n}.", "t:1") for n in range(60))
    buckets = counts(**{f"b{n}": 1 for n in range(15)})
    _, bench = await run("synthesizer", given=written_from(findings=many, aggregations=(buckets,)))
    text = asked(bench, "synthesizer")
    assert ("Claim 49." in text, "Claim 50." in text, "b9: 1" in text, "b10: 1" in text) == (True, False, True, False)
    _, bench = await run("synthesizer", given=written_from(findings=many), max_findings=10)
    assert asked(bench, "synthesizer").count("Claim ") == 10


async def test_an_empty_reply_is_replaced_by_a_report_of_the_findings() -> None:
    out, _ = await run("synthesizer", given=written_from(), said="<think>nothing</think>")
    assert out.confidence == 0.0
    assert out.report.startswith(
        "# India events by theme\n\n- AI leads. [1][2]\n- Cloud follows. [1]\n- theme: AI: 3, Cloud: 2"
    )
    with pytest.raises(AgentError, match="nothing was found"):
        await run("synthesizer", said=" ")


async def test_what_was_not_read_is_a_limitation() -> None:
    gaps = (ResearchGap(gap_description="Fintech"),)
    out, bench = await run("synthesizer", given=written_from(total_docs=20, gaps=gaps))
    assert out.limitations == ("5 of 20 documents were read (25.0%)",)
    assert out.suggestions_for_further_research == ("Fintech",)
    assert "5 of 20 documents were read." in asked(bench, "synthesizer")


def test_key_findings_are_the_first_bullet_points_of_moderate_length() -> None:
    lines = [
        "- short",
        "- AI leads with 50 events.",
        "text",
        f"- {'x' * 200}",
        *[f"- point number {n}" for n in range(6)],
    ]
    assert key_findings("\n".join(lines)) == ("AI leads with 50 events.", *(f"point number {n}" for n in range(4)))
    assert key_findings("No points.") == ("See report for details",)


async def test_a_report_is_streamed_by_paragraph() -> None:
    out, bench = await run("synthesizer", given=written_from(), said=REPORT)
    chunks = [(chunk.start, chunk.text) for chunk in bench.logged(ReportChunk)]
    assert chunks == [(0, "# India events by theme\n\n"), (25, REPORT[25:])]
    assert out.report.startswith(REPORT)
