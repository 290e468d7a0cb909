"""Tools that use no HTTP or have their own clients: what is recorded of their calls, and what is replayed."""

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from aiq.cassettes.recorder import CassetteMiss
from aiq.cassettes.store import Store
from aiq.core.errors import LimitReached, ToolError, ToolErrorKind
from aiq.core.events import ToolReturned
from aiq.core.models import Message
from aiq.core.session import current
from aiq.core.settings import Plugin
from aiq.core.tools import Tool, ToolResult
from aiq.core.usage import Limits
from aiq.llm.http import AsyncClient
from aiq.tools.own import make_tool
from aiq.tools.toolbox import ThinkArguments
from tests.cases import table
from tests.cassettes.conftest import CANARY, Deck, DeckMaker, Servers, model_calls, outcome_of
from tests.llm.endpoint import OK
from tests.settings import configured

each = table(__file__)

ran: list[str] = []


async def weather(place: str) -> ToolResult:
    """Of a place."""
    ran.append(place)
    if place == "refused":
        raise ToolError(ToolErrorKind.QUOTA, "no more today")
    if place == "broken":
        raise KeyError
    if place == "exits":
        sys.exit(3)
    if place == "cancels":
        raise asyncio.CancelledError
    if place == "slow":
        await asyncio.sleep(60)
    if place == "limited":
        raise LimitReached("limits.sample_model_calls", 3)
    return ToolResult(content=f"Rain in {place}, {len(ran)} \ud83d {CANARY}".replace("\ud83d", "\u00e9"))


def own_client(url: str) -> str:
    """Has a client of its own."""
    ran.append(url)
    with urllib.request.urlopen(url) as answer:
        return str(answer.status)


async def asks(question: str) -> str:
    """Asks a model."""
    ran.append(question)
    reply = await current().models.complete("aiq.planner", [Message(role="user", content=question)])
    return reply.text


async def outer(question: str) -> str:
    """Calls a tool that asks a model."""
    ran.append("outer")
    return (await current().call_tool("asks", {"question": question})).content


class Shout:
    """A tool as a class."""

    name = "shout"
    description = "Shouts."
    parameters: ClassVar = ThinkArguments
    data_source: str | None = "own"

    async def run(self, arguments: ThinkArguments) -> ToolResult:
        ran.append("shout")
        return ToolResult(content=arguments.thought.upper())


def own(target: str) -> Tool:
    return make_tool("mine", Plugin.model_validate({"target": f"{__name__}:{target}"}))


@each("tool")
async def test_a_tool_is_replayed_at_its_boundary_or_run_again_if_its_requests_are_recorded(
    deck: DeckMaker, serve: Servers, tool: str, arguments: dict[str, Any], again: int
) -> None:
    endpoint = await serve([OK])
    tools = [own("weather"), own("asks"), own("outer"), Shout()]
    outcomes = []
    for mode in ("record", "replay"):
        ran.clear()
        async with deck(mode, endpoint.base_url, tools=tools) as d:
            outcome = await outcome_of(d.call(tool, **arguments))
        returned = [(e.content, e.success, e.error) for e in d.events if isinstance(e, ToolReturned)]
        outcomes.append((outcome, returned, model_calls(d.events), d.notes))
    assert CANARY not in str(outcomes)
    assert outcomes[0] == outcomes[1]
    assert len(ran) == again


async def counts(place: str) -> ToolResult:
    """Counts."""
    ran.append(place)
    return ToolResult(content=f"{len(ran)} of {place}")


async def calls(place: str) -> str:
    """Calls a tool that speaks no HTTP."""
    return (await current().call_tool("counts", {"place": place})).content


async def test_a_nested_tool_call_does_not_answer_the_agents_own_call(deck: DeckMaker) -> None:
    outcomes = []
    for mode in ("record", "replay"):
        ran.clear()
        async with deck(mode, tools=[own("counts"), own("calls")]) as d:
            answers = [json.loads(await d.call(tool, place="Bergen"))["content"] for tool in ("calls", "counts")]
        outcomes.append((answers, len(d.events), d.notes))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == ["1 of Bergen", "2 of Bergen"]


async def test_a_tools_own_failure_has_the_same_message_recorded_or_not(deck: DeckMaker) -> None:
    for place in ("broken", "exits", "cancels"):
        outcomes = []
        for mode in ("off", "record", "replay"):
            async with deck(mode, tools=[own("weather")]) as d:
                outcomes.append(await outcome_of(d.call("weather", place=place)))
        assert outcomes[0] == outcomes[1] == outcomes[2]


async def test_a_failed_write_ends_the_work_even_if_its_error_is_swallowed(
    deck: DeckMaker, serve: Servers, tmp_path: Path
) -> None:
    endpoint = await serve([OK])

    async def careless() -> None:
        async with deck("record", endpoint.base_url) as d:
            d.recorder._stores["agent"].rows("PRAGMA max_page_count = 1")  # as on a full disk
            for number in range(40):
                await outcome_of(d.ask(f"{number} is kept or lost"))

    with pytest.raises(CassetteMiss, match=r"cannot be written .*full"):
        await careless()
    with Store(tmp_path / "cassettes" / "agent.sqlite", writes=False) as store:
        assert store.names() == {"s1/1": False}


async def test_a_tool_that_ran_out_of_time_does_so_again(deck: DeckMaker, serve: Servers) -> None:
    for name, mode, seconds in (("s", "record", 0.3), ("s", "replay", 500)):
        start = time.monotonic()
        async with deck(mode, tools=[own("weather")], limits=configured(Limits, sample_seconds=seconds)) as d:
            with pytest.raises(LimitReached, match=f"{name}ample_seconds"):
                await d.session.within_time(d.call("weather", place="slow"))
        assert time.monotonic() - start < 50


async def test_the_moment_the_research_time_ran_out_is_recorded(deck: DeckMaker) -> None:
    limits, outcomes = configured(Limits, sample_seconds=20, on_limit="synthesize", reserve=0.9), []
    for mode, seconds in (("record", 2.1), ("replay", 0.0)):
        async with deck(mode, tools=[own("weather")], limits=limits) as d:

            async def work(d: Deck = d, seconds: float = seconds) -> list[Any]:
                first = await outcome_of(d.call("weather", place="Bergen"))
                await asyncio.sleep(seconds)
                refused = [await outcome_of(d.call("weather", place=place)) for place in ("Oslo", "Bergen")]
                return [first, refused, d.session.spent(), d.session.stop_reason]

            outcomes.append(await d.session.within_time(work()))
    assert outcomes[0] == outcomes[1]
    (_, refused, *reasons) = outcomes[0]
    assert [kind for kind, _ in refused] == ["ToolError over_budget"] * 2
    assert reasons == ["limits.sample_seconds=20 is used up but for limits.reserve"] * 2


async def test_unrecorded_connections_are_reported_for_an_agent_but_not_for_a_recorded_tool(
    deck: DeckMaker, pages_port: int, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{pages_port}/article"
    for mode in ("record", "replay"):
        async with deck(mode, tools=[own("own_client")]) as d:
            assert '"content":"200"' in await d.call("own_client", url=url)
        assert d.notes == []

    async def with_a_client_of_its_own(d: Deck) -> None:
        async with AsyncClient(verify=False) as client:
            await client.get(url)

    async with deck("record") as d:
        await with_a_client_of_its_own(d)
    (note,) = d.notes
    assert f"did not go through the session and are not recorded: 127.0.0.1:{pages_port} (1)" in note
    with pytest.raises(CassetteMiss, match=r"a connection \(.*use session\.openai"):
        async with deck("replay") as d:
            await outcome_of(asyncio.wait_for(_swallowed(with_a_client_of_its_own(d)), 5))


async def test_processes_of_an_agent_are_reported(deck: DeckMaker) -> None:
    for mode, said in (
        ("record", "cannot be started in a replay"),
        ("replay", "were not started, as they were while recording"),
    ):
        async with deck(mode) as d:
            with suppress(PermissionError):  # an agent may swallow it
                subprocess.run(["/bin/echo"], stdout=subprocess.DEVNULL)  # noqa: ASYNC221  as agents do
        (note,) = d.notes
        assert note.endswith(f"these processes {said}: echo (1)")


async def _swallowed(work: Any) -> None:
    try:
        await work
    except Exception as error:
        assert "connection" in str(error)  # noqa: PT017
