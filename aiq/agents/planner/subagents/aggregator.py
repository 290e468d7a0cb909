"""Aggregator: counts, distributions and trends over all documents, from tools that group, and insights from them."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from aiq.agents.planner.accumulate import with_total
from aiq.agents.planner.responses import DataPage, merge_documents
from aiq.agents.planner.state import AggregationResult, Arguments, DataDocument, PlannerState
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.planner.tools import ToolChoice
from aiq.agents.toolkit.structured import LenientRecord
from aiq.core.errors import ToolError
from aiq.core.text import json_value

NO_TOOLS = "No tools available for aggregation"
_INTERVALS = ("year", "quarter", "month", "week", "day")


class AggregatorInput(ToolChoice):
    group_by: str | None = Field(None, description="the field to count by; two with a comma between")
    filters: dict[str, Any] | str | None = Field(None, description="values of fields, such as {'country': 'India'}")
    range_filters: dict[str, Any] | str | None = Field(None, description="bounds of fields")
    date_histogram: str | None = Field(None, description="year, quarter, month, week or day, for a trend")
    fallback_search: str | None = Field(None, description="words to search for, where the tool takes a query")
    top_n: int = Field(20, ge=0, description="buckets at most")
    top_n_per_group: int = Field(5, ge=0, description="buckets within a bucket at most")
    samples_per_bucket: int = Field(0, ge=0, description="documents of each bucket")
    custom_args: dict[str, Any] = Field({}, description="other arguments of the tool")


class AggregatorOutput(BaseModel):
    results: tuple[AggregationResult, ...] = ()
    insights: tuple[str, ...] = ()
    total_dataset_size: int = 0
    sources: tuple[DataDocument, ...] = ()


class AggregatorReply(LenientRecord):
    insights: tuple[str, ...] = Field(
        (), description="3 to 5 sentences on what the numbers show, each with its numbers"
    )


class Aggregator(SubAgent[AggregatorInput, AggregatorOutput]):
    name = "aggregator"
    description = "Counts documents by the values of a field, or over time, without reading them."
    input_model = AggregatorInput
    output_model = AggregatorOutput
    floors = {"top_n": 5, "samples_per_bucket": 1}  # noqa: RUF012  a constant of the class
    brings_data = True

    def defaults(self, state: PlannerState) -> Arguments:
        settings = self.settings.aggregator
        return {"top_n": settings.top_n, "top_n_per_group": settings.top_n_per_group}

    async def execute(self, given: AggregatorInput, research: Research) -> AggregatorOutput:
        """Ask the chosen tools concurrently, and add up their totals. Raises the first ToolError if all fail."""
        if not (names := research.tools.chosen(given)):
            return AggregatorOutput(insights=(NO_TOOLS,))
        arguments = tool_arguments(given, self.settings.fields.date[0])
        answers = (await research.tools.call_each(dict.fromkeys(names, arguments))).values()
        pages = [answer for answer in answers if isinstance(answer, DataPage)]
        if not pages:
            raise next(answer for answer in answers if isinstance(answer, ToolError))
        results = tuple(result for page in pages for result in page.aggregations)
        total = sum(page.size for page in pages)
        return AggregatorOutput(
            results=results,
            insights=await self._insights(results, total, research.state.query),
            total_dataset_size=total,
            sources=merge_documents((), [document for page in pages for document in page.documents]),
        )

    async def _insights(self, results: Sequence[AggregationResult], total: int, query: str) -> tuple[str, ...]:
        """A model's insights on the buckets, or else those that follow from the numbers."""
        limit = self.settings.aggregator.max_insights
        computed = fallback_insights(results, total)[:limit]
        if not any(result.buckets for result in results):
            return computed
        counts = [(result.field, result.lines(20)) for result in results]
        reply = await self.ask(AggregatorReply, "insights_computed", query=query, total=total, aggregations=counts)
        insights = tuple(insight for insight in reply.insights if insight.strip()) if reply else ()
        return insights[:limit] or computed

    def accumulate(self, state: PlannerState, out: AggregatorOutput, arguments: Arguments) -> Changes:
        """Documents in samples count as fetched. The total is updated here too (the original forgets that)."""
        documents = merge_documents(state.documents, out.sources)
        call = {"tool": self.name, "arguments": arguments, "documents": out.total_dataset_size}
        changes = {
            "calls": (*state.calls, call),
            "aggregations": (*state.aggregations, *out.results),
            "insights": (*state.insights, *out.insights),
        }
        return {**changes, **with_total(state, documents, out.total_dataset_size)}


def tool_arguments(given: AggregatorInput, date_field: str) -> Arguments:
    """The arguments for the tool (specification 4.5): filters as JSON text, without invalid JSON and zeros."""
    arguments: Arguments = {
        "group_by": given.group_by,
        "filters": json_text(given.filters),
        "range_filters": json_text(given.range_filters),
        "date_histogram": histogram(given.date_histogram, date_field),
        "query": given.fallback_search,
        "top_n": given.top_n or None,
        "top_n_per_group": given.top_n_per_group or None,
        "samples_per_bucket": given.samples_per_bucket or None,
    }
    return {**{name: value for name, value in arguments.items() if value is not None}, **given.custom_args}


def json_text(value: dict[str, Any] | str | None) -> str | None:
    """An object as JSON; a text that is JSON unchanged; None for any other text."""
    if not value or isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    try:
        json_value(value)
    except ValueError:
        return None
    return value


def histogram(value: str | None, date_field: str) -> str | None:
    """JSON unchanged; a bare interval as JSON for the first date field; None for any other text."""
    if value and value.strip().lower() in _INTERVALS:
        return json.dumps({"field": date_field, "interval": value.strip().lower()})
    return json_text(value)


def fallback_insights(results: Sequence[AggregationResult], total: int) -> tuple[str, ...]:
    """Insights that follow from the counts (specification 4.5)."""
    insights: list[str] = []
    for result in results:
        buckets = sorted(result.buckets, key=lambda bucket: -bucket["count"])
        if buckets:
            insights.append(f"{buckets[0]['key']} leads with {buckets[0]['count']:,} documents")
        if len(buckets) >= 3:
            insights.append(f"Top 3: {', '.join(bucket['key'] for bucket in buckets[:3])}")
        if len(buckets) >= 5 and total > 0:
            share = 100 * sum(bucket["count"] for bucket in buckets[:5]) / total
            insights.append(f"Top 5 account for {share:.1f}% of documents")
    return tuple(insights) or (f"Dataset contains {total:,} documents matching the query",)
