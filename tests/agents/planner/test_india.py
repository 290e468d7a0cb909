"""The document's concrete example, "India events by theme", step by step over the shipped events."""

from aiq.core.events import AgentStarted, Decision, ReportChunk, ReportWritten, Round, StageChanged
from tests.agents.planner.conftest import FIRST, INDIA, QUESTIONS, EventsTool, Pages, plan, planned, roles


async def test_india_events_by_theme() -> None:
    tool = EventsTool()
    second = plan(("scanner", {"batch_size": 100}), next_action="call_sub_agents")
    async with planned(roles([FIRST, second]), tool) as (report, bench):
        # iteration 1: the decomposer alongside one aggregation, of which ten documents are shown
        aggregation, first_page, next_page = tool.calls
        assert aggregation == {"filters": INDIA, "group_by": "event_theme"}
        rounds = bench.logged(Round)
        assert len(rounds[0].new_sources) == 10
        assert report.extras["sub_questions"] == QUESTIONS
        completions = [event for event in bench.logged(Decision) if event.name == "completion"]
        assert (completions[0].value, completions[0].cause) == ("planning", "confidence 0.32, 10 of 165 documents")

        # iteration 2: the planner is told what is unfetched; the scanner reads 100 and 65 documents
        first_prompt, second_prompt = (request.last_user for request in bench.endpoint.of("planner.planner"))
        assert "UNFETCHED" not in first_prompt
        assert "Sub-questions: 3" in second_prompt
        assert "UNFETCHED DOCS: 155 more documents need scanning!" in second_prompt
        assert first_page == {"filters": INDIA, "page_size": 100}
        assert next_page == {**first_page, "search_after": next_page["search_after"], "pit_id": next_page["pit_id"]}
        batches = bench.endpoint.of("planner.scanner")
        assert [batch.last_user.count("<document>") for batch in batches] == [100, 65]
        assert all(f"sq_{n}: {q}" in batch.last_user for batch in batches for n, q in enumerate(QUESTIONS, 1))
        assert len(rounds[1].new_sources) == 155

        # iteration 3: all documents are fetched, the report is written and streamed
        assert (completions[1].value, completions[1].cause) == ("synthesis", "all documents fetched: 165 of 165")
        stages = [event.stage for event in bench.logged(StageChanged)]
        loop = ["planning", "execute", "accumulate", "check_completion"]
        assert stages == ["initialization", *loop, *loop, "synthesis"]
        assert [event.agent for event in bench.logged(AgentStarted)] == ["decomposer", "scanner", "synthesizer"]
        prompt = bench.endpoint.of("planner.synthesizer")[0].last_user
        assert f'event_theme of {{"filters": {INDIA}}} (165 documents): AI: 50, Cloud: 40, Security: 30' in prompt
        chunks = bench.logged(ReportChunk)
        assert len(chunks) > 1
        (final,) = bench.logged(ReportWritten)
        assert final.raw_text.startswith("".join(chunk.text for chunk in chunks))

        counts = {name: report.extras[name] for name in ("iterations", "aggregations", "findings", "documents")}
        assert counts == {"iterations": 3, "aggregations": 1, "findings": 6, "documents": 165}
        assert report.extras["coverage"] == 100.0
        assert report.citation_status == "verified"
        assert "[1] Ulstad Security Expo 2023 - https://events.offline.example/ev-00002" in report.text


async def test_documents_without_an_address_are_cited_and_verified_by_their_ids() -> None:
    rows = [{"id": n, "title": f"Document {n}", "text": f"Text {n}."} for n in (1, 2)]
    tool = Pages([{"documents": rows, "data_context": {"unique_ids_matched": 2}}])
    reply = "- A fact [1].\n- Another [2].\n- None [3].\n\n## References\n" + "\n".join(
        f"[{n}] Document {n} - doc://pages:{n}" for n in (1, 2, 3)
    )
    script = roles([plan("decomposer", tools=[("pages", {})])], synthesizer=reply)
    async with planned(script, tool) as (report, bench):
        assert [(s.citation_key, s.text) for s in bench.session.sources.all()] == [
            ("doc://pages:1", "Text 1."),
            ("doc://pages:2", "Text 2."),
        ]
        assert report.audit
        assert [citation.source for citation in report.audit.valid_citations] == ["doc://pages:1", "doc://pages:2"]
        assert len(report.audit.removed_citations) == 1


async def test_two_runs_are_the_same_at_any_concurrency() -> None:
    outcomes = []
    for at_once in (1, 5):
        async with planned(roles([FIRST, plan("scanner")]), calls={"at_once": at_once}) as (report, bench):
            outcomes.append((report.text, report.extras, bench.session.sources.all()))
    assert outcomes[0] == outcomes[1]
