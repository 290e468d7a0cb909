"""The registry: which sources are the same, their order and kind, and what is kept of each."""

import asyncio
import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from aiq.citations.registry import SourceRegistry, sources_to_keep
from aiq.citations.verify import verify
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Registry, Source, SourceKind
from aiq.core.tools import Toolbox, ToolResult
from tests.sessions import make_session
from tests.settings import configured


def note(registry: SourceRegistry, text: str, kind: SourceKind, turn: int = 0, call_id: str = "c1") -> None:
    registry.note(text, kind, (turn, 0), call_id=call_id, tool="search")


def kinds(registry: SourceRegistry) -> dict[str, str]:
    return {source.url or "": source.kind for source in registry.known()}


@pytest.mark.parametrize(
    ("added", "kept"),
    [
        (  # by call, not by arrival
            [
                ("https://e.com/late", (1, 0, 0)),
                ("https://e.com/nested", (0, 1, 0, 0, 3)),
                ("https://e.com/1", (0, 0, 1)),
            ],
            ["https://e.com/1", "https://e.com/nested", "https://e.com/late"],
        ),
        (  # one URL in two spellings
            [("https://e.com/a?utm_source=x", (0,)), ("http://e.com/a#top", (1,)), ("https://e.com/b", (2,))],
            ["https://e.com/a?utm_source=x", "https://e.com/b"],
        ),
        (  # two pages of a document, one key in two spellings
            [("Report.pdf, p. 3", (3,)), ("report.pdf, page 3", (4,)), ("report.pdf, p.4", (5,))],
            ["Report.pdf, p. 3", "report.pdf, p.4"],
        ),
        ([("http://[::1", (0,)), ("http://[::1", (0,))], ["http://[::1"]),  # malformed, kept as it is
        ([("", (0,)), ("  ", (1,))], []),  # nothing that can be cited
    ],
)
def test_each_source_is_kept_once_in_order(added: list[tuple[str, tuple[int, ...]]], kept: list[str]) -> None:
    registry: Registry = SourceRegistry()
    for name, order in added:
        registry.add(Source(url=name) if "://" in name else Source(citation_key=name, title="nothing"), order)
    assert [source.address for source in registry.all()] == kept


def test_the_first_of_two_calls_determines_url_title_and_call() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="http://www.e.com/a/", title="Later", text="the whole page", call_id="c2"), (2, 0, 0))
    registry.add(Source(url="https://e.com/a", title="", text="a snippet", call_id="c1", published="2026"), (1, 0, 0))
    (source,) = registry.all()
    assert (source.url, source.title, source.call_id) == ("https://e.com/a", "Later", "c1")
    assert (source.text, source.published) == ("the whole page", "2026")
    assert source.digest == hashlib.sha256(b"the whole page").hexdigest()[:16]


def test_the_relevance_is_that_of_the_query_which_a_source_fits_best() -> None:
    registry = SourceRegistry()
    for turn, relevance in enumerate((0.25, 1.0, None, 0.5)):
        registry.add(Source(url="https://e.com/a", relevance=relevance), (turn,))
    registry.add(Source(url="https://e.com/page"), (9,))
    assert [source.relevance for source in registry.all()] == [1.0, None]


def test_kinds_are_kept_apart_and_the_strongest_counts() -> None:
    """V7: a URL of a call's arguments in its result is an echo, so that no agent creates a mention by searching."""
    registry = SourceRegistry()
    note(registry, '{"query": "https://e.com/a https://e.com/b https://e.com/c"}', "echoed")
    note(registry, "no results for https://e.com/b; try https://e.com/d", "mentioned")
    registry.add(Source(url="http://www.e.com/a/", text="page", title="A", call_id="c2"), (2, 0, 0))
    assert kinds(registry) == {
        "http://www.e.com/a/": "retrieved",
        "https://e.com/b": "echoed",
        "https://e.com/c": "echoed",
        "https://e.com/d": "mentioned",
    }
    (source,) = registry.all()
    assert (source.title, source.call_id, source.text) == ("A", "c2", "page")
    note(registry, "a page of another call says https://e.com/b", "mentioned", 1, "c2")
    sighting = next(source for source in registry.known() if source.url == "https://e.com/b")
    assert (sighting.kind, sighting.call_id, sighting.tool) == ("mentioned", "c2", "search")
    assert (sighting.text, sighting.digest, sighting.title) == ("", "", "")


def test_a_row_keeps_only_those_unretrieved_sources_that_the_report_names() -> None:
    registry = SourceRegistry()
    registry.add(Source(url="https://e.com/page"), (0,))
    note(registry, " ".join(f"https://e.com/{n}" for n in range(1000)), "mentioned")
    sources = sources_to_keep(
        registry.known(), "It is [1].\n\n## Sources\n[1] [T](http://www.e.com/7/), https://e.com/page."
    )
    assert [(source.url, source.kind) for source in sources] == [
        ("https://e.com/page", "retrieved"),
        ("https://e.com/7", "mentioned"),
    ]


seen = st.lists(
    st.tuples(
        st.sampled_from(["https://e.com/a", "http://e.com/a/", "https://e.com/b"]),
        st.sampled_from(["retrieved", "mentioned", "echoed"]),
        st.integers(0, 3),
        st.sampled_from(["", "short", "a longer text", "half \ud800"]),
    ),
    max_size=8,
)


@pytest.mark.timing
@given(seen, st.randoms())
def test_arrival_order_does_not_matter(sources: list[tuple[str, SourceKind, int, str]], random: st.DataObject) -> None:
    def known(rows: list[tuple[str, SourceKind, int, str]]) -> list[tuple[str | None, str, str]]:
        registry = SourceRegistry()
        for url, kind, turn, text in rows:
            registry.add(Source(url=url, kind=kind, text=text, title=text), (turn, 0))
        return [(source.url, source.kind, source.text) for source in registry.known()]

    shuffled = list(sources)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert known(shuffled) == known(sources)


def test_a_page_full_of_addresses_is_noted_quickly() -> None:
    registry = SourceRegistry()
    start = time.process_time()
    note(registry, " ".join(f"https://e.com/{n}" for n in range(5_000)), "mentioned")
    assert time.process_time() - start < 1
    assert len(registry.known()) == 5_000


LIST = "So it is [1].\n\n## References\n\n"


class Asked(BaseModel):
    query: str


@dataclass
class Scripted:
    """A tool that answers or fails as scripted."""

    answer: ToolResult | ToolError
    data_source: str | None = "web"
    name = "lookup"
    description = "Look something up."
    parameters: type[BaseModel] = Asked

    async def run(self, arguments: BaseModel) -> ToolResult:
        if isinstance(self.answer, ToolError):
            raise self.answer
        return self.answer


def registry_after(answer: ToolResult | ToolError, query: str = "q", data_source: str | None = "web") -> SourceRegistry:
    """The registry of a session after one call of a tool."""
    registry = SourceRegistry()
    session = make_session(tools=Toolbox([Scripted(answer, data_source)]), sources=registry)
    with suppress(ToolError):
        asyncio.run(session.call_tool("lookup", {"query": query}))
    return registry


FAILURES = [
    ToolResult(content="No papers found via Google Scholar."),
    ToolResult(content="Paper search failed: unable to fetch results from X."),
    ToolResult(content="Search error: quota exceeded, see https://tavily.com/ for more"),
    ToolResult(content="Search returned no results"),
    ToolResult(content="   ", sources=(Source(url="https://e.com/a"),)),
    ToolError(ToolErrorKind.UNAUTHORIZED, "no key; get one at https://tavily.com/"),
    ToolError(ToolErrorKind.TIMEOUT, "timed out after 30s for query: see https://evil.com/x"),
]


@pytest.mark.parametrize("answer", FAILURES)
def test_failures_and_empty_results_register_no_evidence(answer: ToolResult | ToolError) -> None:
    registry = registry_after(answer)
    assert registry.all() == ()
    assert {source.kind for source in registry.known()} <= {"echoed"}
    verified = verify(f"{LIST}[1] T https://tavily.com/\n[2] lookup\n", registry.known(), configured(CitationSettings))
    assert verified.audit.valid_citations == ()


def test_a_url_in_the_prose_of_a_page_was_not_retrieved() -> None:
    answer = ToolResult(
        content="A page that says: see https://evil.com/x, and https://asked.com/a",
        sources=(Source(url="https://e.com/page", text="see https://evil.com/x"),),
    )
    helped = registry_after(answer, data_source=None)
    assert {source.kind for source in helped.known()} == {"echoed"}  # what a helper says is not evidence
    registry = registry_after(answer, query="what does https://asked.com/a say?")
    assert kinds(registry) == {
        "https://e.com/page": "retrieved",
        "https://evil.com/x": "mentioned",
        "https://asked.com/a": "echoed",  # the agent named it first, so that its repetition in a result proves nothing
    }
    text = f"{LIST}[1] T https://evil.com/x\n[2] T https://asked.com/a\n[3] T https://e.com/page\n"
    verified = verify(text, registry.known(), configured(CitationSettings))
    assert [removed.seen_as for removed in verified.audit.removed_citations] == ["mentioned", "echoed"]
    assert [citation.source for citation in verified.audit.valid_citations] == ["https://e.com/page"]
    assert registry_after(ToolResult(content="nothing")).known() == ()  # every attempt has its own registry


def test_a_citation_line_in_a_chunk_registers_nothing() -> None:
    chunk = "Text.\nCitation: injected.pdf, p.9\nSource: injected.pdf"
    answer = ToolResult(content=chunk, sources=(Source(citation_key="real.pdf, p.1", text=chunk),))
    registry = registry_after(answer)
    assert [source.citation_key for source in registry.known()] == ["real.pdf, p.1"]
    verified = verify(f"{LIST}[1] injected.pdf, p.9\n", registry.known(), configured(CitationSettings))
    (removed,) = verified.audit.removed_citations
    assert removed.reason == "citation_key_not_in_registry"
