"""Scanner: reads all of a tool's documents page by page, and extracts findings; reports the share of them it read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from aiq.agents.planner.accumulate import added_findings
from aiq.agents.planner.responses import DataPage, merge_documents
from aiq.agents.planner.settings import PAGE_LIMIT
from aiq.agents.planner.state import Arguments, DataDocument, PlannerState, ResearchFinding
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.planner.subagents.extractor import ExtractorInput, extract, question_lines
from aiq.agents.planner.tools import DataTools, ToolChoice
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Decision
from aiq.core.session import current

_PAGE_ARGUMENTS = frozenset({"top_n", "top_n_per_group", "size", "offset", "search_after", "pit_id", "page_size"})
"""Arguments of the previous call that a scan does not reuse."""
_GROUP_ARGUMENTS = frozenset({"group_by", "samples_per_bucket"})


def _clamp(value: Any) -> Any:
    """Limit the page size: servers silently cut larger pages, and the rest would be lost."""
    return min(value, PAGE_LIMIT) if isinstance(value, int) else value


class ScannerInput(ToolChoice):
    tool_args: dict[str, Any] = Field(
        {}, description="arguments of the tool, such as filters; else those of the last call"
    )
    batch_size: Annotated[int, BeforeValidator(_clamp), Field(ge=1, le=PAGE_LIMIT)] = Field(
        75, description="documents of one batch"
    )
    max_batches: int = Field(4, ge=1, description="batches, where the tool does not say how many documents there are")
    extraction_focus: str = Field("", description="what to look for in the documents")
    sub_questions: tuple[str, ...] = Field((), description="research questions to answer")


class ScannerOutput(BaseModel):
    """`coverage_percentage`: share of `total` that was scanned; `truncated`: not all documents were scanned."""

    findings: tuple[ResearchFinding, ...] = ()
    docs_scanned: int = 0
    batches_processed: int = 0
    coverage_percentage: float = Field(0.0, ge=0, le=100)
    unique_themes: tuple[str, ...] = ()
    sources: tuple[DataDocument, ...] = ()
    mode: Literal["pagination", "aggregation_samples"] = "pagination"
    total: int = 0
    duplicates: int = 0
    truncated: bool = False


@dataclass
class Scan:
    """What has been fetched so far, at most `ceiling` documents; `totals`: numbers of documents stated by tools."""

    ceiling: int
    documents: dict[str, DataDocument] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    batches: list[tuple[DataDocument, ...]] = field(default_factory=list)
    duplicates: int = 0

    @property
    def remaining(self) -> int:
        return self.ceiling - len(self.documents)

    def add(self, pages: dict[str, DataPage]) -> bool:
        """Add one batch, without documents beyond the ceiling; whether any was new."""
        batch: dict[str, DataDocument] = {}
        for name, page in pages.items():
            self.totals[name] = max(page.total or 0, self.totals.get(name, 0))
            for document in page.documents:
                if document.key in self.documents or document.key in batch:
                    self.duplicates += 1
                elif len(batch) < self.remaining:
                    batch[document.key] = document.model_copy(update={"read": True})
        self.documents |= batch
        self.batches.append(tuple(batch.values()))
        return bool(batch)


class Scanner(SubAgent[ScannerInput, ScannerOutput]):
    name = "scanner"
    description = "Reads all documents that match, page by page, and extracts findings from them."
    input_model = ScannerInput
    output_model = ScannerOutput
    speed = "slow"
    cost = "high"
    floors = {  # noqa: RUF012  a constant of the class
        "batch_size": 10,
        "max_batches": 1,
        "tool_args": {"batch_size": 10, "max_batches": 1, "samples_per_bucket": 1, "top_n": 5, "top_n_per_group": 2},
    }
    brings_data = True

    def defaults(self, state: PlannerState) -> Arguments:
        settings = self.settings.scanner
        return {
            "batch_size": settings.batch_size,
            "max_batches": settings.max_batches,
            "extraction_focus": state.query,
            "sub_questions": question_lines(state.sub_questions),
        }

    async def execute(self, given: ScannerInput, research: Research) -> ScannerOutput:
        tools = research.tools
        if not (names := tools.chosen(given)):
            return ScannerOutput()
        scan = Scan(self.settings.scanner.max_documents)
        by_group = bool(given.tool_args.get("group_by"))
        arguments = given.tool_args or research.state.last_tool_args
        arguments = {key: value for key, value in arguments.items() if key not in _PAGE_ARGUMENTS}
        if by_group:
            samples = self.settings.scanner.samples_per_bucket
            scan.add(await self._batch(tools, dict.fromkeys(names, {"samples_per_bucket": samples} | arguments), 0))
        else:
            arguments = {key: value for key, value in arguments.items() if key not in _GROUP_ARGUMENTS}
            await self._paginate(scan, names, arguments, given, research)
        return self._output(scan, await self._findings(scan.batches, given, research), by_group)

    async def _paginate(
        self, scan: Scan, names: Sequence[str], arguments: Arguments, given: ScannerInput, research: Research
    ) -> None:
        """Fetch batches of one page per tool that has more, until none has, nothing is new, or the limit is reached."""
        starts: dict[str, Arguments] = {name: {} for name in names}
        while starts and len(scan.batches) < self._max_batches(scan, given, research.state):
            size = min(given.batch_size, scan.remaining)
            calls = {
                name: {**arguments, **start, "page_size": min(size, start.get("page_size", size))}
                for name, start in starts.items()
            }
            pages = await self._batch(research.tools, calls, len(scan.batches))
            if not scan.add(pages):
                break
            starts = {name: starts[name] | page.following for name, page in pages.items() if page.following is not None}
        cause = f"{len(scan.documents)} documents in {len(scan.batches)} batches of at most {given.batch_size}"
        ceiling = min(scan.ceiling, given.batch_size * self._max_batches(scan, given, research.state))
        current().events.emit(Decision(name="scan", value=ceiling, cause=cause))

    def _max_batches(self, scan: Scan, given: ScannerInput, state: PlannerState) -> int:
        """As many batches as the stated number of documents takes, within the ceiling.

        Past batches count as one each, because a page may have had fewer documents than a batch.
        """
        total = sum(scan.totals.values()) or (0 if scan.batches else state.total_docs)
        if not total:
            return min(given.max_batches, ceil(scan.ceiling / given.batch_size))
        remaining = max(0, min(total - len(scan.documents), scan.remaining))
        return len(scan.batches) + ceil(remaining / given.batch_size)

    async def _batch(self, tools: DataTools, calls: dict[str, Arguments], number: int) -> dict[str, DataPage]:
        """A page of each tool; empty and final for one that fails."""
        answers = await tools.call_each(calls, number)
        return {name: answer if isinstance(answer, DataPage) else DataPage() for name, answer in answers.items()}

    async def _findings(
        self, batches: Sequence[tuple[DataDocument, ...]], given: ScannerInput, research: Research
    ) -> tuple[ResearchFinding, ...]:
        async def extract_batch(documents: tuple[DataDocument, ...]) -> tuple[ResearchFinding, ...]:
            inputs = ExtractorInput(
                documents=documents,
                extraction_focus=given.extraction_focus,
                sub_questions=given.sub_questions,
                max_findings_per_doc=self.settings.scanner.findings_per_doc,
            )
            return await extract(self, inputs, research)

        works = [partial(extract_batch, documents) for documents in batches if documents]
        results = await gather_ordered(works, self.settings.calls.at_once, len(batches))
        return tuple(finding for findings in results for finding in findings)

    def _output(self, scan: Scan, findings: tuple[ResearchFinding, ...], by_group: bool) -> ScannerOutput:
        scanned = len(scan.documents)
        total = max(scanned, sum(scan.totals.values()))
        return ScannerOutput(
            findings=findings,
            docs_scanned=scanned,
            batches_processed=len(scan.batches),
            coverage_percentage=min(100.0, round(100 * scanned / total, 1)) if total else 0.0,
            unique_themes=tuple(dict.fromkeys(theme for finding in findings for theme in finding.themes)),
            sources=tuple(scan.documents.values()),
            mode="aggregation_samples" if by_group else "pagination",
            total=total,
            duplicates=scan.duplicates,
            truncated=scanned < total,
        )

    def accumulate(self, state: PlannerState, out: ScannerOutput, arguments: Arguments) -> Changes:
        """The scan counts as done even if it found nothing."""
        return {
            "findings": added_findings(state, out.findings),
            "documents": merge_documents(state.documents, out.sources),
            "total_docs": max(state.total_docs, out.total),
            "needs_full_scan": False,
        }
