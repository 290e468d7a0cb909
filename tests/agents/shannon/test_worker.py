"""An agent's conversation with its tools, and how their results are used."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel, Field

from aiq.agents.shannon.worker import found_in
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import ToolReturned
from aiq.core.sources import Source
from aiq.core.tools import FETCH, Toolbox, ToolResult
from aiq.offline.chat import ChatRequest, call
from tests.agents.conftest import WebSearch
from tests.agents.replies import calls, results, search, turn_of
from tests.agents.shannon.runs import CALL, QUICK, Ran, Said, plan, research, subtask

ONE = {"decomposer": plan(subtask("a"), complexity=0.6)}
PARALLEL = {**QUICK, "execution": {"pattern": "parallel", "force_search": False}}


class UrlArguments(BaseModel):
    url: str = Field(description="the page")


@dataclass
class FetchPage:
    """Opens a page; one with `gone` in its URL does not exist."""

    name: str = FETCH
    description: str = "Opens a page."
    parameters: type[BaseModel] = UrlArguments
    data_source: str | None = "web"
    opened: list[str] = field(default_factory=list)

    async def run(self, arguments: Any) -> ToolResult:
        if "gone" in arguments.url:
            raise ToolError(ToolErrorKind.NOT_FOUND, f"{arguments.url}: there is no such page")
        self.opened.append(arguments.url)
        page = Source(url=arguments.url, title="Orlune", text="The whole page. " * 30, published="2026-10-30")
        return ToolResult(content=page.text, sources=(page,))


async def works(researcher: Said, **settings: Any) -> Ran:
    """A research of one agent that searches and opens pages."""
    tools = Toolbox([WebSearch(), FetchPage()])
    return await research({**ONE, "researcher": researcher}, {**PARALLEL, **settings}, tools=tools)


def by_turn(*said: Any) -> Said:
    """One reply per turn; the last one repeats."""
    return lambda request: said[min(turn_of(request), len(said) - 1)]


@pytest.mark.parametrize("rounds", [1, 4])
async def test_after_its_rounds_an_agent_must_answer(rounds: int) -> None:
    def searches(request: ChatRequest) -> Any:
        return search(f"query {turn_of(request)}") if request.tools else "It is so."

    ran = await works(searches, execution={"pattern": "parallel", "tool_rounds": rounds})
    requests = ran.asked("researcher")
    assert [bool(request.tools) for request in requests] == [True] * rounds + [False]
    assert len(results(requests[-1])) == rounds
    assert "It is so." in ran.prompt("synthesizer")


async def test_several_calls_of_a_reply_are_answered_in_their_order() -> None:
    reply = calls(
        call("web_search_tool", query="first"),
        call(FETCH, url="https://a.test/x"),
        call("web_search_tool", query="second"),
    )
    ran, words = await works(by_turn(reply, "So.")), ["first", "The", "second"]
    assert [text.split("<title>")[-1].split()[0] for text in results(ran.asked("researcher")[1])] == words
    addresses = [source.address for source in ran.bench.session.sources.all()]
    assert addresses == ["https://pages.test/first", "https://a.test/x", "https://pages.test/second"]


async def test_a_failing_tool_tells_the_model_and_gives_no_citation() -> None:
    ran = await works(by_turn(calls(call(FETCH, url="https://a.test/gone")), "So."))
    assert results(ran.asked("researcher")[1]) == ["Error: https://a.test/gone: there is no such page"]
    assert ran.extras["citations"]["total"] == 0
    bad = await works(by_turn(calls(call("web_search_tool", words="x")), "So."))
    assert results(bad.asked("researcher")[1])[0].startswith("Error: web_search_tool: ")


@pytest.mark.parametrize(("name", "sources"), [("calculator", None), ("web_search_tool", [])])
async def test_a_tool_that_was_not_offered_is_not_called(name: str, sources: list[str] | None) -> None:
    """Nor is one that the question's data sources exclude."""
    parts: dict[str, Said] = {**ONE, "researcher": by_turn(calls(call(name, query="x")), "So.")}
    ran = await research(parts, PARALLEL, {"data_sources": sources})
    requests = ran.asked("researcher")
    if sources is None:
        assert results(requests[1]) == ["Error: there is no tool 'calculator'; there are: web_search_tool"]
    assert ran.recovered[:1] == ["unknown_tool"]
    assert not ran.bench.search.queries
    assert not ran.bench.logged(ToolReturned)


@pytest.mark.parametrize("fails", [500, " ", CALL])
async def test_the_result_of_a_silent_agent_is_what_its_tools_returned(fails: Any) -> None:
    ran = await works(by_turn(search("orlune"), fails))
    assert "orlune is well described" in ran.prompt("synthesizer")
    assert CALL not in ran.prompt("synthesizer")
    assert ran.extras["citations"]["total"] == 1
    assert ran.recovered == (["agent_cut_short"] if fails == 500 else [])


async def test_a_page_that_was_opened_is_cited_with_its_date_and_the_start_of_its_text() -> None:
    ran = await works(by_turn(calls(call(FETCH, url="https://a.test/x")), "So."))
    assert "[1] Orlune (https://a.test/x) - a.test, 2026-10-30" in ran.prompt("synthesizer")
    sources = ran.bench.session.sources.all()
    assert [source.address for source in sources] == ["https://a.test/x"]


PAGE = Source(url="https://a.test/x", title="T", text="Body", published="2026-10-30", relevance=0.9)


@pytest.mark.parametrize(
    ("name", "sources", "found"),
    [
        ("web_search_tool", (), []),
        (
            "web_search_tool",
            (PAGE, Source(title="no address"), Source(citation_key="Q3.pdf, p.2", published="2026-10-30T08:00:00Z")),
            [
                {
                    "url": "https://a.test/x",
                    "title": "T",
                    "text": "Body",
                    "published_date": "2026-10-30T00:00:00Z",
                    "score": 0.9,
                },
                {
                    "url": "Q3.pdf, p.2",
                    "title": "",
                    "text": "",
                    "published_date": "2026-10-30T08:00:00Z",
                    "document": "q3.pdf",
                },
            ],
        ),
        (FETCH, (), None),
        (
            FETCH,
            (Source(url="https://a.test/final"), PAGE),  # it was redirected
            {"url": "https://a.test/x", "title": "T", "content": "Body", "published_date": "2026-10-30T00:00:00Z"},
        ),
    ],
)
def test_results_have_the_shape_that_the_rules_read(name: str, sources: tuple[Source, ...], found: Any) -> None:
    assert found_in(name, ToolResult(content="x", sources=sources)) == found
