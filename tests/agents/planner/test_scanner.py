"""Every rule of a scan, over the shipped events and over tools with scripted pages."""

from typing import Any

import pytest

from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import PlannerState
from aiq.agents.planner.subagents.base import Research
from aiq.agents.planner.subagents.scanner import Scanner, ScannerInput, ScannerOutput
from aiq.agents.planner.tools import DataTools
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import Decision, Recovery
from aiq.core.tools import Tool, Toolbox
from tests.agents.conftest import Bench, on_bench
from tests.agents.planner.conftest import INDIA, EventsTool, Pages, questions, roles, state
from tests.settings import configured


async def scan(
    *tools: Tool, given: PlannerState | None = None, said: Any = None, retries: int = 0, **arguments: Any
) -> tuple[ScannerOutput, Bench]:
    """A scan with these tools; `arguments`: those of the plan; `said`: what the model says about a batch."""
    configuration = configured(PlannerSettings, calls={"first_seconds": 0, "retries": retries})
    scanner = Scanner(configuration, configuration.prompts())
    script = roles([{}], **({} if said is None else {"scanner": said}))
    async with on_bench(script, tools=Toolbox(tools)) as bench:
        research = Research(DataTools(configuration, tools, None), given or state())
        out = await scanner.run(scanner.completed(arguments, research.state), research)
    return out, bench


def page(*ids: Any, total: int | None = None, more: bool = True) -> dict[str, Any]:
    """A page of documents; those called None have no id."""
    rows = [{"title": f"Document {key}"} | ({} if key is None else {"id": key}) for key in ids]
    context = {} if total is None else {"data_context": {"unique_ids_matched": total}}
    return {"documents": rows, **context, "pagination": {"has_more": more, "search_after": [str(ids[-1:])]}}


async def test_pages_are_read_until_there_are_no_more() -> None:
    tool = EventsTool()
    out, bench = await scan(tool, tool_args={"filters": INDIA})
    assert [call["page_size"] for call in tool.calls] == [75, 75, 75]
    assert ["search_after" in call for call in tool.calls] == [False, True, True]
    assert (out.docs_scanned, out.batches_processed, out.coverage_percentage, out.truncated) == (165, 3, 100.0, False)
    assert len({document.key for document in out.sources}) == 165
    batches = bench.endpoint.of("planner.scanner")
    assert [batch.last_user.count("<document>") for batch in batches] == [75, 75, 15]


async def test_the_ceiling_is_300_documents_and_not_320() -> None:
    tool = EventsTool()
    out, bench = await scan(tool, batch_size=80)
    assert [call["page_size"] for call in tool.calls] == [80, 80, 80, 60]
    assert (out.docs_scanned, out.total, out.coverage_percentage, out.truncated) == (300, 600, 50.0, True)
    assert [event.value for event in bench.logged(Decision) if event.name == "scan"] == [300]


async def test_documents_beyond_the_ceiling_are_left_out_if_a_tool_returns_too_many() -> None:
    tool = Pages([page(*range(250), total=900), page(*range(250, 500), total=900)])
    out, _ = await scan(tool)
    assert (out.docs_scanned, out.coverage_percentage, out.truncated) == (300, 33.3, True)


async def test_a_batch_of_150_loses_no_page() -> None:
    """Servers silently cut pages at 100: relying on 150 would request too few pages."""
    tool = EventsTool()
    out, _ = await scan(tool, batch_size=150, tool_args={"filters": INDIA})
    assert [call["page_size"] for call in tool.calls] == [100, 100]
    assert out.docs_scanned == 165
    assert ScannerInput(batch_size=150).batch_size == 100


async def test_the_next_page_is_that_of_the_tool() -> None:
    a, b = (
        Pages([page("1", total=2), page("2", total=2, more=False)]),
        Pages([page("1", total=1, more=False)], name="b"),
    )
    out, _ = await scan(a, b, use_all_enabled=True)
    assert [call.search_after for call in a.calls] == ["", "[\"('1',)\"]"]
    assert len(b.calls) == 1
    assert (out.docs_scanned, out.total, out.duplicates) == (3, 3, 0)


async def test_documents_are_scanned_once() -> None:
    tool = Pages([page("a", "b", total=4), page("b", "c", total=4), page("c", total=4, more=False)])
    out, _ = await scan(tool, batch_size=1)
    assert ([d.key for d in out.sources], out.duplicates) == (["pages:a", "pages:b", "pages:c"], 2)


async def test_documents_without_an_id_are_all_kept() -> None:
    tool = Pages([page(None, None, total=4), page(None, None, total=4, more=False)])
    out, _ = await scan(tool, batch_size=2)
    assert (out.docs_scanned, out.duplicates) == (4, 0)


async def test_a_scan_ends_when_nothing_new_is_found() -> None:
    tool = Pages([page("a", total=90), page("a", total=90)])
    out, _ = await scan(tool, batch_size=1)
    assert (len(tool.calls), out.batches_processed, out.docs_scanned) == (2, 2, 1)


async def test_without_pagination_there_is_one_page() -> None:
    tool = Pages([{"documents": [{"id": "a"}]}])
    out, _ = await scan(tool)
    assert (len(tool.calls), out.docs_scanned, out.coverage_percentage) == (1, 1, 100.0)


async def test_without_a_total_there_are_as_many_batches_as_asked_for() -> None:
    def endless() -> Pages:
        return Pages([page(n) for n in range(99)])

    tool = endless()
    await scan(tool, batch_size=1)
    assert len(tool.calls) == 4
    tool = endless()
    await scan(tool, batch_size=1, max_batches=7)
    assert len(tool.calls) == 7


async def test_a_failing_tool_is_not_asked_again_and_the_rest_is_kept() -> None:
    failure = ToolError(ToolErrorKind.FAILED, "it broke")
    a, b = Pages([page("a", total=3), failure]), Pages([page("b", total=2), page("c", total=2, more=False)], name="b")
    out, bench = await scan(a, b, tool_names=["pages", "b"], batch_size=1)
    assert sorted(d.key for d in out.sources) == ["b:b", "b:c", "pages:a"]
    assert [event.what for event in bench.logged(Recovery)] == ["tool_failed"]
    assert out.coverage_percentage == 60.0


async def test_a_page_that_was_too_large_is_retried_smaller_without_losing_documents() -> None:
    """The following pages are as small; the last one has the rest."""
    cut = '{"documents": [\n[cut: the first 9 of 99 characters]'
    pages = [page(*range(n, n + 50), total=300) for n in range(0, 150, 50)]
    small_pages = [page(*range(n, n + 25), total=300) for n in range(150, 300, 25)]
    tool = Pages([cut, *pages, cut, *small_pages])
    out, _ = await scan(tool, retries=2, batch_size=100)
    assert [call.page_size for call in tool.calls] == [100, 50, 50, 50, 50, *[25] * 6]
    assert (out.docs_scanned, out.coverage_percentage) == (300, 100.0)


@pytest.mark.parametrize(
    ("own", "last", "called"),
    [
        ({"filters": "{}"}, {"filters": INDIA}, {"filters": "{}"}),
        ({}, {"filters": INDIA}, {"filters": INDIA}),
        ({}, {"filters": INDIA, "group_by": "city", "samples_per_bucket": 2, "top_n": 3}, {"filters": INDIA}),
        ({}, {"top_n_per_group": 3, "search_after": "[1]", "page_size": 5, "pit_id": "600"}, {}),
    ],
)
async def test_arguments_are_those_of_the_call_or_of_the_last_one_never_mixed(own: Any, last: Any, called: Any) -> None:
    tool = EventsTool()
    await scan(tool, given=state(last_tool_args=last), tool_args=own, batch_size=100)
    assert tool.calls[0] == {**called, "page_size": 100}


async def test_an_explicit_group_by_reads_samples_in_one_batch() -> None:
    tool = EventsTool()
    grouped = {"filters": INDIA, "group_by": "event_theme"}
    out, bench = await scan(tool, tool_args={**grouped, "page_size": 5, "search_after": "[1]"})
    assert tool.calls == [{**grouped, "samples_per_bucket": 20}]
    assert (out.mode, out.batches_processed) == ("aggregation_samples", 1)
    assert len(bench.endpoint.of("planner.scanner")) == 1
    tool = EventsTool()
    await scan(tool, tool_args={**grouped, "samples_per_bucket": 3})
    assert tool.calls == [{**grouped, "samples_per_bucket": 3}]


async def test_without_a_tool_the_output_is_empty() -> None:
    out, _ = await scan()
    assert (out.docs_scanned, out.coverage_percentage, out.findings) == (0, 0.0, ())


async def test_sub_questions_are_in_the_prompt_and_findings_name_them_by_id() -> None:
    reply = {
        "findings": [
            {
                "claim": "AI leads.",
                "sources": [1, 2, 2, 9],
                "confidence": "certain",
                "themes": ["AI"],
                "relevant_questions": ["SQ_1", "Question 2?", "Question 9?"],
            }
        ]
    }
    tool = Pages([page("a", "b", total=2, more=False)])
    out, bench = await scan(
        tool, given=state(sub_questions=questions(1, 1)), said=f"```json\n{reply}\n```".replace("'", '"')
    )
    (request,) = bench.endpoint.of("planner.scanner")
    assert "RESEARCH QUESTIONS TO ANSWER:\n- sq_1: Question 1?\n- sq_2: Question 2?" in request.last_user
    (finding,) = out.findings
    assert (finding.doc_ids, finding.evidence_count) == (("pages:a", "pages:b"), 2)
    assert (finding.confidence, finding.relevant_questions) == ("medium", ("sq_1", "sq_2"))
    assert out.unique_themes == ("AI",)


async def test_without_a_readable_reply_documents_count_but_nothing_is_found() -> None:
    out, bench = await scan(Pages([page("a", total=1, more=False)]), said="I found much.")
    assert (out.docs_scanned, out.findings) == (1, ())
    assert "no_findings" in [event.what for event in bench.logged(Recovery)]
