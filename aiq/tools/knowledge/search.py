"""The tool `knowledge_search`: the pages of a collection's documents that answer a query, each a source of its own."""

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import KnowledgeSettings
from aiq.core.session import current
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.tools.blocks import Words, escape_tags
from aiq.tools.knowledge.store import Collection, Collections
from aiq.tools.ranking import PassageIndex

_FORGED = re.compile(
    r"^(?=\s*(?:-+\s*Result\s+\d+\b|(?:Source|Page|Citation|Content Type|Relevance Score)\s*:))",
    re.IGNORECASE | re.MULTILINE,
)


class DocumentHit(Record):
    """A page of a document that answers a query; `score` relative to the best page, which has 1."""

    file_name: str
    title: str
    page: int | None
    text: str
    score: float

    @property
    def citation_key(self) -> str:
        """`report.pdf, p.15`; the name alone if the format has no pages."""
        return self.file_name if self.page is None else f"{self.file_name}, p.{self.page}"


class Searchable:
    """A collection's pages ranked by BM25, as the web corpus is."""

    def __init__(self, collection: Collection) -> None:
        """Read and index all pages. Raises UserError if a file of the collection is damaged."""
        self._pages = [
            DocumentHit(file_name=document.file_name, title=document.title, page=page.number, text=page.text, score=0)
            for document in collection.documents
            for page in collection.text(document.digest).pages
        ]
        self._index = PassageIndex([(page.title, page.text) for page in self._pages])

    def search(self, query: str, k: int, max_chars: int) -> list[DocumentHit]:
        """The `k` best pages with their best passages, best first, equal ones ordered by name and page."""
        matches = self._index.search(query, k, max_chars)
        return [
            self._pages[number].model_copy(update={"text": text, "score": score / matches[0][1]})
            for number, score, text in matches
        ]


class KnowledgeArguments(BaseModel):
    """Arguments of `knowledge_search`."""

    query: Words = Field(description="What to look for in the uploaded documents, in a few words or a short question.")


class KnowledgeSearch:
    """`knowledge_search` over the question's collection, or the one that `knowledge.collection` names."""

    name = "knowledge_search"
    description = (
        "Search the user's uploaded documents, which no web search can see. Returns the best matching pages, each with "
        "its file name, page and citation key; cite the key exactly as it is given, such as `report.pdf, p.15`."
    )
    parameters: type[BaseModel] = KnowledgeArguments
    data_source: str | None = "documents"

    def __init__(self, settings: KnowledgeSettings, collections: Sequence[str]) -> None:
        """Raises UserError if one of the `collections` does not exist or is damaged."""
        library = Collections(settings.dir)
        self._settings = settings
        self._collections = {name: Searchable(library.existing(name)) for name in collections}

    async def run(self, arguments: KnowledgeArguments) -> ToolResult:
        name = current().collection_name or self._settings.collection
        pages = self._collections.get(name or "")
        if pages is None:
            no_documents = "no documents were uploaded for this question"
            raise ToolError(
                ToolErrorKind.NOT_AVAILABLE, f"there is no document collection '{name}'" if name else no_documents
            )
        hits = pages.search(arguments.query, self._settings.max_results, self._settings.max_content_length)
        blocks = [f"Found {len(hits)} relevant document(s):", *(_block(n, hit) for n, hit in enumerate(hits, start=1))]
        sources = tuple(
            Source(
                citation_key=hit.citation_key,
                title=hit.title,
                text=hit.text,
                relevance=round(hit.score, 6),
                tool=self.name,
            )
            for hit in hits
        )
        return ToolResult(content="\n\n".join(blocks), sources=sources)


def _block(number: int, hit: DocumentHit) -> str:
    """One result. Lines of the text that look like a result's own are quoted."""
    page = [] if hit.page is None else [f"Page: {hit.page}"]
    head = [f"--- Result {number} ---", f"Source: {hit.file_name}", *page, f"Citation: {hit.citation_key}"]
    tail = ["Content Type: text", f"Relevance Score: {hit.score:.2f}"]
    return "\n".join([*head, *tail, "", _FORGED.sub("| ", escape_tags(hit.text))])
