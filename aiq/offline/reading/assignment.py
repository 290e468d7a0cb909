"""What a researcher's request amounts to: the question, what was searched, what came back, what may still be done."""

from aiq.core.base import Record
from aiq.core.seeds import derive
from aiq.offline.chat import ChatRequest, ToolCall, call
from aiq.offline.reading import documents, instructions, questions, uploads
from aiq.offline.reading.documents import Document
from aiq.offline.reading.instructions import Instructions
from aiq.offline.reading.questions import ParsedQuestion
from aiq.offline.reading.text import contains_name


class Assignment(Record):
    """Read from one request and nothing else. `seed` varies choices from epoch to epoch.

    `listed`: what the prompt says of each uploaded document.
    """

    question: ParsedQuestion
    instructions: Instructions
    documents: tuple[Document, ...]
    queries: tuple[str, ...]
    document_queries: tuple[str, ...]
    fetched: tuple[str, ...]
    search_tool: str | None
    document_tool: str | None
    listed: tuple[str, ...]
    fetch_tool: str | None
    parallel: bool
    seed: int

    def search(self, subject: str, query: str) -> ToolCall:
        """A search for this: in the documents where their list names the subject and they were not asked yet."""
        assert self.search_tool is not None
        named = any(contains_name(text, subject) for text in self.listed) if subject else bool(self.listed)
        asked = any(subject.casefold() in done.casefold() for done in self.document_queries)
        tool = self.document_tool if self.document_tool and named and not asked else self.search_tool
        return call(tool, query=query)

    def searched(self, query: str) -> bool:
        """Whether this very query was sent before."""
        return query.casefold() in (done.casefold() for done in self.queries)

    def queries_about(self, name: str) -> int:
        """How many earlier queries named this."""
        return sum(name.casefold() in query.casefold() for query in self.queries)


def read(request: ChatRequest, role: str) -> Assignment:
    """The task of a request that was sent for `role`."""
    calls = [call.function for message in request.messages for call in message.tool_calls]
    arguments = [call.parsed for call in calls]
    return Assignment(
        question=questions.parse(question_of(request)),
        instructions=instructions.read(request),
        documents=tuple(documents.read(request)),
        queries=tuple(str(a["query"]) for a in arguments if a.get("query")),
        document_queries=tuple(str(c.parsed.get("query", "")) for c in calls if "knowledge" in c.name),
        fetched=tuple(str(a["url"]) for a in arguments if a.get("url")),
        search_tool=_tool(request, ("web_search_tool", "web_search", "search")),
        document_tool=uploads.tool(request),
        listed=uploads.listed(request),
        fetch_tool=_tool(request, ("fetch_page", "fetch")),
        parallel=request.parallel_tool_calls,
        seed=derive(request.seed, role),
    )


def question_of(request: ChatRequest) -> str:
    """The last thing the user asked; the synthesis anchor is an order, not a question."""
    asked = [m.text for m in request.messages if m.role == "user" and "exhausted your research budget" not in m.text]
    return asked[-1].strip() if asked else ""


def _tool(request: ChatRequest, wanted: tuple[str, ...]) -> str | None:
    """The first offered tool whose name contains one of these words, in their order."""
    for word in wanted:
        for name in request.tool_names:
            if word in name:
                return name
    return None
