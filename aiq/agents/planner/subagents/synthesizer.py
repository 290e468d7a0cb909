"""Synthesizer: writes the report from findings, statistics and sub-questions, each statement with its sources."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from aiq.agents.planner.state import (
    AggregationResult,
    Arguments,
    DataDocument,
    PlannerState,
    ResearchFinding,
    SubQuestion,
)
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.planner.subagents.gap_analyzer import coverage
from aiq.citations.parse import parse_report
from aiq.core.errors import AgentError
from aiq.core.events import Recovery, ReportChunk
from aiq.core.models import Message
from aiq.core.replies import without_thoughts
from aiq.core.session import current

NO_KEY_FINDINGS = ("See report for details",)
_MAX_MARKS = 5
"""Maximum number of a finding's sources that the prompt names, besides the number of documents that state it."""
_PARAGRAPH = "\n\n"


class SynthesizerInput(BaseModel):
    original_query: str = ""
    findings: tuple[ResearchFinding, ...] = ()
    aggregation_results: tuple[AggregationResult, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    format: Literal["comprehensive_report", "executive_summary", "bullet_points"] = Field(
        "comprehensive_report", description="of the report"
    )
    max_length: int = Field(3000, ge=1, description="words")
    include_methodology: bool = Field(True, description="a section on how much was read")
    user_preferences: str | None = Field(None, description="what the user wants of the report")
    max_findings: int = Field(50, ge=1, description="findings that it is written from")


class SynthesizerOutput(BaseModel):
    report: str
    key_findings: tuple[str, ...] = ()
    confidence: float = Field(ge=0, le=1)
    limitations: tuple[str, ...] = ()
    suggestions_for_further_research: tuple[str, ...] = ()


class Synthesizer(SubAgent[SynthesizerInput, SynthesizerOutput]):
    name = "synthesizer"
    description = "Writes the report. It is the last step."
    input_model = SynthesizerInput
    output_model = SynthesizerOutput
    speed = "medium"
    cost = "medium"
    floors = {"max_findings": 10}  # noqa: RUF012  a constant of the class

    def defaults(self, state: PlannerState) -> Arguments:
        settings = self.settings.synthesizer
        return {
            "original_query": state.query,
            "findings": state.findings,
            "aggregation_results": state.aggregations,
            "sub_questions": state.sub_questions,
            "format": settings.format,
            "max_length": settings.max_length,
            "include_methodology": settings.include_methodology,
            "user_preferences": state.user_preferences or None,
            "max_findings": settings.max_findings,
        }

    async def execute(self, given: SynthesizerInput, research: Research) -> SynthesizerOutput:
        """If the model's reply is empty, the report consists of the findings. Raises AgentError if there are none."""
        state = research.state
        given = given.model_copy(update={"findings": given.findings[: given.max_findings]})
        sources = Sources(given.findings, state.documents, self.settings.synthesizer.max_documents)
        text = without_thoughts(await self._write(given, sources, state)).strip()
        confidence = state.confidence
        if not text:
            current().events.emit(Recovery(what="synthesis_fallback", detail="the synthesizer's reply is empty"))
            text, confidence = fallback_report(given, sources), 0.0
        text = with_references(text, sources)
        return SynthesizerOutput(
            report=text,
            key_findings=key_findings(text),
            confidence=confidence,
            limitations=limitations(state),
            suggestions_for_further_research=tuple(gap.gap_description for gap in state.gaps),
        )

    async def _write(self, given: SynthesizerInput, sources: "Sources", state: PlannerState) -> str:
        settings = self.settings.synthesizer
        request = self.prompts.render(
            "synthesizer_request.j2",
            current_datetime=current().now.isoformat(),
            query=given.original_query,
            conversation=state.conversation,
            format=given.format,
            max_length=given.max_length,
            include_methodology=given.include_methodology,
            user_preferences=given.user_preferences,
            sub_questions=given.sub_questions,
            aggregations=[(r, r.lines(settings.top_buckets)) for r in given.aggregation_results],
            calls=state.calls,
            insights=state.insights,
            findings=[(finding, sources.marks(finding)) for finding in given.findings],
            documents=[(sources.number(document), document) for document in sources.uncited],
            sources=sources.lines(),
            fetched=state.docs_fetched,
            total=max(state.total_docs, state.docs_fetched),
            limitations=limitations(state),
        )
        messages = [
            Message(role="system", content=self.prompts.render("synthesizer.j2")),
            Message(role="user", content=request),
        ]
        role = f"planner.{self.name}"
        if settings.stream:
            return await streamed(role, messages, self.settings.calls.timeout_seconds)
        return (await current().models.complete(role, messages, seconds=self.settings.calls.timeout_seconds)).text

    def accumulate(self, state: PlannerState, out: SynthesizerOutput, arguments: Arguments) -> Changes:
        return {
            "report": out.report,
            "key_findings": out.key_findings,
            "limitations": out.limitations,
            "confidence": out.confidence,
        }


class Sources:
    """The documents of a report, numbered from 1: those of its findings, in order, then other fetched ones."""

    def __init__(self, findings: Sequence[ResearchFinding], documents: Sequence[DataDocument], limit: int) -> None:
        by_key = {document.key: document for document in documents}
        cited = dict.fromkeys(key for finding in findings for key in finding.doc_ids[:_MAX_MARKS] if key in by_key)
        uncited = [key for key in by_key if key not in cited][:limit]
        self._numbers = {key: number for number, key in enumerate([*cited, *uncited], 1)}
        self._documents = [by_key[key] for key in self._numbers]
        self.uncited = [by_key[key] for key in uncited]

    def number(self, document: DataDocument) -> int:
        return self._numbers[document.key]

    def marks(self, finding: ResearchFinding) -> str:
        return "".join(f"[{self._numbers[key]}]" for key in finding.doc_ids[:_MAX_MARKS] if key in self._numbers)

    def lines(self, numbers: Sequence[int] | None = None) -> list[str]:
        """The documents with these numbers (None: all) as a list of references."""
        numbered = enumerate(self._documents, 1)
        selected = [(n, document) for n, document in numbered if numbers is None or n in numbers]
        return [f"[{n}] {document.title or document.key} - {document.address}" for n, document in selected]


async def streamed(role: str, messages: Sequence[Message], seconds: float) -> str:
    """The reply; each paragraph is emitted as an event as soon as it is complete. Raises ModelError, LimitReached."""
    session = current()
    client = session.openai(role)
    wire: Any = [{"role": message.role, "content": message.content} for message in messages]
    model = session.models.name(role)
    stream = await client.chat.completions.create(model=model, messages=wire, stream=True, timeout=seconds)
    text, start = "", 0
    async for chunk in stream:
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        while (end := text.find(_PARAGRAPH, start)) >= 0:
            session.events.emit(ReportChunk(text=text[start : end + len(_PARAGRAPH)], start=start))
            start = end + len(_PARAGRAPH)
    if text[start:]:
        session.events.emit(ReportChunk(text=text[start:], start=start))
    return text


def with_references(text: str, sources: Sources) -> str:
    """The report, with a list of what it cites if the model has not written one."""
    parsed = parse_report(text)
    numbers = {number for mark in parsed.marks for number in mark.numbers}
    lines = sources.lines(sorted(numbers))
    return text if parsed.lists or not lines else f"{text}\n\n## References\n" + "\n".join(lines)


def fallback_report(given: SynthesizerInput, sources: Sources) -> str:
    """A report that lists the findings and statistics. Raises AgentError if there are none."""
    lines = [f"- {finding.claim} {sources.marks(finding)}".rstrip() for finding in given.findings]
    lines += [f"- {result.field}: {', '.join(result.lines(10))}" for result in given.aggregation_results]
    if not lines:
        raise AgentError("synthesizer failed: its reply is empty, and nothing was found that a report could be made of")
    return "\n".join([f"# {given.original_query}", "", *lines])


def key_findings(report: str) -> tuple[str, ...]:
    """The first five bullet points of moderate length in the report (specification 4.5)."""
    points = [line.strip()[2:] for line in report.splitlines() if line.strip().startswith("- ")]
    return tuple(point for point in points if 10 < len(point) + 2 < 200)[:5] or NO_KEY_FINDINGS


def limitations(state: PlannerState) -> tuple[str, ...]:
    """Limitations of the report: documents that were not fetched, and issues that a validator found."""
    share = coverage(state.docs_fetched, state.total_docs)
    unread = [f"{state.docs_fetched} of {state.total_docs} documents were read ({share}%)"] if state.unfetched else []
    return (*unread, *(issue.description for issue in state.validation_issues))
