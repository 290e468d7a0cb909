"""Extractor: extracts findings from documents already fetched; the scanner extracts in the same way."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from aiq.agents.planner.accumulate import added_findings
from aiq.agents.planner.responses import merge_documents
from aiq.agents.planner.state import (
    Arguments,
    DataDocument,
    Grade,
    PlannerState,
    ResearchFinding,
    SubQuestion,
)
from aiq.agents.planner.subagents.base import AnySubAgent, Changes, Research, SubAgent
from aiq.agents.toolkit.structured import LenientRecord

FOCUS = "key claims and findings"
_GRADES: Mapping[str, Grade] = {"high": "high", "medium": "medium", "low": "low"}


class FindingItem(LenientRecord):
    """One finding as a model writes it."""

    claim: str = Field(description="one sentence, complete by itself: who or what, where, when, how much")
    evidence: tuple[str, ...] = Field((), description="the words of the documents that state it")
    sources: tuple[int, ...] = Field((), description="the numbers of the documents that state it")
    confidence: str = Field("medium", description="one of: high, medium, low")
    themes: tuple[str, ...] = Field((), description="what it is about, in one or two words each")
    relevant_questions: tuple[str, ...] = Field((), description="ids of the research questions that it helps to answer")


class ExtractorReply(LenientRecord):
    findings: tuple[FindingItem, ...]
    themes_discovered: tuple[str, ...] = Field((), description="themes of the documents that are not known yet")


class ExtractorInput(BaseModel):
    documents: tuple[DataDocument, ...] = ()
    extraction_focus: str = Field(FOCUS, description="what to look for")
    schema_hints: dict[str, str] = Field({}, description="what fields of the documents mean, by name")
    sub_questions: tuple[str, ...] = Field((), description="research questions to answer")
    max_findings_per_doc: int = Field(3, ge=1, description="findings of one document at most")


class ExtractorOutput(BaseModel):
    """`sources`: the documents, now marked as read."""

    findings: tuple[ResearchFinding, ...] = ()
    docs_processed: int = 0
    new_themes_discovered: tuple[str, ...] = ()
    sources: tuple[DataDocument, ...] = ()


class Extractor(SubAgent[ExtractorInput, ExtractorOutput]):
    name = "extractor"
    description = "Looks for findings in documents that were fetched already, such as those that a tool call gave."
    input_model = ExtractorInput
    output_model = ExtractorOutput
    speed = "medium"
    cost = "medium"
    brings_data = True

    def defaults(self, state: PlannerState) -> Arguments:
        return {
            "documents": [document for document in state.documents if not document.read],
            "sub_questions": question_lines(state.sub_questions),
            "max_findings_per_doc": self.settings.scanner.findings_per_doc,
        }

    async def execute(self, given: ExtractorInput, research: Research) -> ExtractorOutput:
        """Without a reply there are no findings; the documents still count as processed."""
        documents = tuple(document.model_copy(update={"read": True}) for document in given.documents)
        findings = await extract(self, given, research)
        known = {theme for finding in research.state.findings for theme in finding.themes}
        themes = dict.fromkeys(theme for finding in findings for theme in finding.themes if theme not in known)
        return ExtractorOutput(
            findings=findings, docs_processed=len(documents), new_themes_discovered=tuple(themes), sources=documents
        )

    def accumulate(self, state: PlannerState, out: ExtractorOutput, arguments: Arguments) -> Changes:
        return {
            "findings": added_findings(state, out.findings),
            "documents": merge_documents(state.documents, out.sources),
        }


def question_lines(questions: Sequence[SubQuestion]) -> list[str]:
    """Sub-questions in the form in which extraction prompts list them."""
    return [f"{question.id}: {question.question}" for question in questions]


async def extract(agent: AnySubAgent, given: ExtractorInput, research: Research) -> tuple[ResearchFinding, ...]:
    """The findings in some documents, extracted by the sub-agent's model; none without a readable reply."""
    documents, max_chars = given.documents, agent.settings.scanner.document_chars
    if not documents:
        return ()
    reply = await agent.ask(
        ExtractorReply,
        "no_findings",
        "extraction",
        query=research.state.query,
        conversation=research.state.conversation,
        focus=given.extraction_focus or FOCUS,
        hints=given.schema_hints,
        questions=given.sub_questions,
        documents=[document.model_copy(update={"text": document.text[:max_chars]}) for document in documents],
        most=given.max_findings_per_doc * len(documents),
    )
    ids = question_ids(given.sub_questions)
    items = reply.findings[: given.max_findings_per_doc * len(documents)] if reply else ()
    return tuple(_finding(number, item, documents, ids) for number, item in enumerate(items, 1) if item.claim.strip())


def question_ids(questions: Sequence[str]) -> dict[str, str]:
    """The id of each question by what a model may call it: its id, its text, or both, ignoring case."""
    parts = [(line.partition(": ")[0], line.partition(": ")[2], line) for line in questions]
    return {alias.casefold(): name for name, *rest in parts for alias in (name, *rest)}


def _finding(
    number: int, item: FindingItem, documents: Sequence[DataDocument], ids: Mapping[str, str]
) -> ResearchFinding:
    matched_ids = (ids.get(alias.casefold().strip()) for alias in item.relevant_questions)
    return ResearchFinding(
        id=f"f_{number}",
        claim=item.claim.strip(),
        evidence=item.evidence,
        doc_ids=tuple(dict.fromkeys(documents[n - 1].key for n in item.sources if 0 < n <= len(documents))),
        confidence=_GRADES.get(item.confidence.strip().lower(), "medium"),
        relevant_questions=tuple(dict.fromkeys(filter(None, matched_ids))),
        themes=item.themes,
    )
