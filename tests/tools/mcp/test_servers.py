"""From settings to the tools of a run: names, arguments, what agents get of them, and what is recorded."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.toolkit.langchain import as_langchain
from aiq.cassettes.recorder import CassetteMiss, Recorder
from aiq.cassettes.redact import Redactor
from aiq.core.errors import ConfigError, ToolError, ToolErrorKind, UserError
from aiq.core.run_settings import CassetteSettings
from aiq.core.samples import SampleKey
from aiq.core.session import Session
from aiq.core.tools import Toolbox
from aiq.llm.http import AsyncClient
from aiq.tools.mcp.servers import arguments_of, open_servers
from aiq.tools.toolbox import build_web, open_toolbox
from tests.cases import table
from tests.settings import against_offline
from tests.tools.conftest import serving
from tests.tools.mcp.server import calls, make_server

each = table(__file__)

CANARY = "Canary-5ecret-4711"
TOOLS = ["look_up", "records", "long", "fail", "count", "odd/name.v2"]

Sessions = Callable[..., Session]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = make_server(TOOLS, 2).streamable_http_app()
    with serving(app, lifespan="on") as port:
        yield f"http://127.0.0.1:{port}/mcp"


def recorder(mode: str = "off", folder: Path = Path("cassettes")) -> Recorder:
    return Recorder(CassetteSettings(mode=mode, dir=None, ignored=()), folder, Redactor([CANARY]))


@asynccontextmanager
async def toolbox(client: AsyncClient, held: Recorder | None = None, **servers: Any) -> AsyncIterator[Toolbox]:
    settings = against_offline(tools={"mcp": servers}, web={"deny": ["denied.example"]})
    async with open_toolbox(settings, build_web(settings, client), client, held or recorder()) as tools:
        yield tools


async def test_tools_of_servers_are_tools_of_the_run(url: str, run_client: AsyncClient, a_session: Sessions) -> None:
    notes: dict[str, Any] = {"url": url}
    few: dict[str, Any] = {"url": url, "tools": ["count", "odd/name.v2"], "prefix": "b_", "data_source": "numbers"}
    async with toolbox(run_client, notes=notes, few=few) as tools:
        mine = [tool for tool in tools.select(None) if tools.origin(tool.name).startswith("tools.mcp")]
        assert [(tool.name, tool.data_source, tools.origin(tool.name)) for tool in mine] == [
            *((name.replace("/", "_").replace(".", "_"), "notes", "tools.mcp.notes") for name in TOOLS),
            *((f"b_{name}", "numbers", "tools.mcp.few") for name in ("count", "odd_name_v2")),
        ]
        assert [tool.name for tool in tools.select(("numbers",))] == ["b_count", "b_odd_name_v2", "think"]
        (definition,) = (d for d in tools.definitions(("notes",)) if d["function"]["name"] == "look_up")
        assert definition["function"]["description"] == "Look up a query in our notes."
        parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        assert definition["function"]["parameters"] == parameters
        assert tools.get("odd_name_v2").parameters.model_json_schema()["properties"] == {}
        session = a_session(*mine)
        result = await session.call_tool("look_up", {"text": "March"})
        assert [source.call_id for source in session.sources.all()] == ["call-0"] * 4
        assert result.sources[0].citation_key == "notes://2026/march"
        first, second = [(await session.call_tool(name, {})).content for name in ("odd_name_v2", "b_odd_name_v2")]
        assert first != second
        with pytest.raises(ToolError, match=r"denied\.example/a may not be read") as raised:
            await session.call_tool("look_up", {"text": "https://denied.example/a"})
        assert raised.value.kind == ToolErrorKind.DENIED
        assert session.outages == {}
        with pytest.raises(ToolError, match="fail: the index is locked"):
            await session.call_tool("fail", {})
        assert session.outages == {"fail": "fail: the index is locked"}


async def test_langchain_calls_them_through_the_session(url: str, run_client: AsyncClient, a_session: Sessions) -> None:
    async with toolbox(run_client, notes={"url": url}) as tools:
        with a_session(*tools.select(None)).bind() as session:
            tool = as_langchain(tools.get("long"))
            assert tool.args == {"n": {"type": "integer"}}
            calls = [{"type": "tool_call", "name": "long", "id": "c", "args": {"n": n}} for n in (3, "three")]
            answer, refusal = [(await tool.ainvoke(call)).text for call in calls]
            assert answer == "xxx"
            assert refusal.startswith("Error: long: n: 'three' is not of type 'integer'")
            assert session.tool_outcomes["long"] == {"ok": 1, "invalid_arguments": 1}


@each("servers")
async def test_clashing_or_missing_names_end_the_run_before_it_begins(
    url: str, run_client: AsyncClient, servers: dict[str, Any], why: str
) -> None:
    settings: Any = {name: {"url": url, **options} for name, options in servers.items()}
    with pytest.raises(ConfigError, match=why):
        async with toolbox(run_client, **settings):
            pass


@each("schema")
def test_arguments_are_checked_by_the_schema_that_the_model_was_shown(
    schema: dict[str, Any], given: dict[str, Any], why: str | None
) -> None:
    arguments = arguments_of(schema)
    assert arguments.model_json_schema() == schema
    if why is None:
        assert arguments.model_validate(given).model_dump(mode="json") == given
    else:
        with pytest.raises(ValueError, match=why):
            arguments.model_validate(given)


async def test_a_replay_has_the_tools_that_were_recorded_and_reaches_no_server(
    url: str, run_client: AsyncClient, a_session: Sessions, tmp_path: Path
) -> None:
    outcomes, folder = [], tmp_path / "cassettes"
    for mode, address in (("record", url), ("replay", "http://127.0.0.1:9/mcp"), ("auto", "http://127.0.0.1:9/mcp")):
        tape = recorder(mode, folder)
        async with toolbox(run_client, tape, notes={"url": address}) as tools:
            with tape.for_sample("agent", SampleKey("s1", 1)):
                outcomes.append((tools.definitions(), await work(a_session(*tools.select(None)))))
            tape.finish()
        assert tape.close() == []
    assert CANARY not in json.dumps(outcomes[0][1])
    assert outcomes[0] == outcomes[1] == outcomes[2]


async def work(session: Session) -> list[Any]:
    """What calls come to: results, failures of the tool, of the arguments."""
    outcomes: list[Any] = []
    query: dict[str, Any] = {"text": f"March {CANARY}"}
    for name, arguments in [("count", {}), ("look_up", query), ("fail", {}), ("long", {"n": "x"}), ("count", {})]:
        try:
            outcomes.append((await session.call_tool(name, arguments)).model_dump())
        except ToolError as error:
            outcomes.append((error.kind, str(error)))
    return [*outcomes, [source.address for source in session.sources.all()], session.tool_outcomes, session.outages]


async def test_an_unrecorded_call_is_made_in_auto_and_missing_in_a_replay(
    url: str, run_client: AsyncClient, a_session: Sessions, tmp_path: Path
) -> None:
    folder = tmp_path / "cassettes"
    for mode in ("record", "auto"):
        count = calls[0]
        tape = recorder(mode, folder)
        async with toolbox(run_client, tape, notes={"url": url}) as tools:
            with tape.for_sample("agent", SampleKey(mode, 1)):
                await a_session(*tools.select(None)).call_tool("count", {})
        tape.close()
        assert calls[0] == count + 1
    tape = recorder("replay", folder)
    async with toolbox(run_client, tape, notes={"url": url}) as tools:
        missed = pytest.raises(CassetteMiss, match="not recorded: TOOL tool:///records")
        with missed, tape.for_sample("agent", SampleKey("record", 1)):
            await a_session(*tools.select(None)).call_tool("records", {})
    with pytest.raises(UserError, match=r"tools\.mcp\.other: the recording has no such server"):
        async with toolbox(run_client, tape, other={"url": url}):
            pass
    tape.close()


async def test_a_server_that_fails_ends_the_others_that_were_started(url: str) -> None:
    settings = against_offline(tools={"mcp": {"good": {"url": url}, "bad": {"command": ["no-such-program"]}}})
    with pytest.raises(ConfigError, match=r"tools\.mcp\.bad"):
        async with open_servers(settings, recorder()):
            pass


@pytest.mark.slow
def test_without_servers_the_sdk_is_not_loaded() -> None:
    code = "import aiq.experiment.resources, aiq.tools.toolbox, aiq.commands.tools, sys; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
