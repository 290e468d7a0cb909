"""Concurrent subagents: bounded, with results and sources in order and with start and finish events."""

import asyncio

from aiq.agents.toolkit.subagents import as_agent, gather_ordered
from aiq.core.events import AgentFinished, AgentStarted
from tests.agents.conftest import on_bench
from tests.agents.replies import in_turn


async def test_results_and_sources_are_in_order_whichever_ends_first() -> None:
    running: list[int] = []

    async with on_bench(in_turn()) as bench:

        async def search(number: int) -> str:
            running.append(number)
            assert len(running) <= 2
            await asyncio.sleep(0.01 * (3 - number))
            found = await bench.session.call_tool("web_search_tool", {"query": f"q{number}"})
            running.remove(number)
            return str(found.content.splitlines()[0])

        works = [lambda n=n: as_agent(f"agent {n}", f"task {n}", search(n)) for n in range(3)]
        found = await gather_ordered(works, at_once=2, turn=1)
    urls = [f"https://pages.test/q{n}" for n in range(3)]
    assert found == [f'<Document href="{url}">' for url in urls]
    assert [source.url for source in bench.session.sources.all()] == urls
    assert sorted(event.task for event in bench.logged(AgentStarted)) == [f"task {n}" for n in range(3)]
    assert sorted(event.output for event in bench.logged(AgentFinished)) == found
