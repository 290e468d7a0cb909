"""The paper search tool, over whichever provider the run is configured with."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field, model_validator

from aiq.core.base import Record
from aiq.core.run_settings import PapersSettings
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.llm.http import AsyncClient
from aiq.tools.api import Service
from aiq.tools.blocks import Words, as_source, escape_tags, one_line, safe_url
from aiq.tools.deny import DenyList
from aiq.tools.search import shortened

NOTHING = "No papers found via Google Scholar."

Years = tuple[int | None, int | None]
"""First and last year; None: no bound."""


class Paper(Record):
    """One paper as a provider describes it; what it does not know is None or empty."""

    title: str
    link: str = ""
    year: int | None = None
    publication: str = ""
    citations: int | None = None
    snippet: str = ""


class PaperProvider(Protocol):
    """Answers paper searches; created once per run. The constructor raises ConfigError if a setting is missing."""

    def __init__(self, settings: PapersSettings, client: AsyncClient) -> None: ...

    async def search(self, query: str, years: Years, max_results: int) -> list[Paper]:
        """At most `max_results` papers of these years, [] if there are none. Raises ToolError, typed."""


class PaperArguments(BaseModel):
    """Arguments of `paper_search`."""

    query: Words = Field(description="Topic, title or authors of the papers, in a few words.")
    year: str | None = Field(
        default=None,
        pattern=r"^\s*(?:\d{4}|\d{4}\s*-\s*(?:\d{4})?|-\s*\d{4})\s*$",
        description="Only papers of this year, or of a range: 2021, 2019-2023, 2020-, -1999.",
    )

    @property
    def years(self) -> Years:
        first, dash, last = (self.year or "").replace(" ", "").partition("-")
        bounds = int(first) if first else None, int(last) if last else None
        return bounds if dash else (bounds[0], bounds[0])

    @model_validator(mode="after")
    def _in_order(self) -> "PaperArguments":
        first, last = self.years
        if first is not None and last is not None and first > last:
            raise ValueError(f"the range of years {self.year} ends before it begins")
        return self


class PaperSearch:
    """`paper_search`: a numbered list; every paper with a link is a source."""

    name = "paper_search"
    description = (
        "Search scholarly papers. Returns title, year, publication, number of citations, a snippet and the link of "
        "each. Narrow the years where the question does."
    )
    parameters: type[BaseModel] = PaperArguments
    data_source: str | None = "papers"

    def __init__(self, provider: PaperProvider, settings: PapersSettings, deny: Sequence[str] = ()) -> None:
        self._provider = provider
        self._service = Service("papers")
        self._deny = DenyList(deny)
        self._max_results = settings.max_results

    async def run(self, arguments: PaperArguments) -> ToolResult:
        search = self._provider.search(shortened(arguments.query), arguments.years, self._max_results)
        results = await self._service.ask(search)
        papers = [paper for paper in results[: self._max_results] if not self._deny.has(paper.link)]
        entries = [_entry(number, paper) for number, paper in enumerate(papers, start=1)]
        sources = tuple(_source(paper) for paper in papers if paper.link.strip())
        denied = len(results[: self._max_results]) - len(papers)
        return ToolResult(content="\n\n".join(entries) or NOTHING, sources=sources, denied=denied)


def _source(paper: Paper) -> Source:
    text = "\n".join(filter(None, (one_line(paper.publication), paper.snippet.strip())))
    published = None if paper.year is None else str(paper.year)
    return as_source(PaperSearch.name, paper.link, paper.title, text, published)


def _entry(number: int, paper: Paper) -> str:
    """One entry of the list; lines for what the provider does not know are left out."""
    details = {
        "Publication": escape_tags(one_line(paper.publication)),
        "Citations": "" if paper.citations is None else str(paper.citations),
        "Snippet": escape_tags(one_line(paper.snippet)),
        "Link": safe_url(paper.link),
    }
    year = "" if paper.year is None else f" ({paper.year})"
    lines = [f"   - **{name}**: {value}" for name, value in details.items() if value]
    return "\n".join([f"{number}. **{escape_tags(one_line(paper.title))}**{year}", *lines])
