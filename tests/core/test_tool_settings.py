"""MCP servers in the settings of a run, and the errors for wrong settings."""

from pathlib import Path

import pytest

import aiq
from aiq.core.errors import ConfigError
from tests.cases import table

each = table(__file__)


def test_servers_can_be_set_on_the_command_line_and_inherit_common_settings() -> None:
    tools = aiq.settings(
        "tools.mcp.files.command=[npx,-y,@scope/server-files,--port,8000]",
        "tools.mcp.files.timeout_seconds=5",
        "tools.mcp.web.url=http://127.0.0.1:9/mcp",
        "tools.mcp.web.headers_env.Authorization=MY_TOKEN",
        "tools.max_chars=500",
    ).tools
    files, web = tools.of("files"), tools.of("web")
    assert files.command == ("npx", "-y", "@scope/server-files", "--port", "8000")
    assert (files.timeout_seconds, web.timeout_seconds) == (5, tools.timeout_seconds)
    assert (files.max_chars, files.connect_seconds) == (500, tools.connect_seconds)
    assert web.headers_env == {"Authorization": "MY_TOKEN"}


def test_a_tool_option_can_name_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    option = tmp_path / "conf/tool/notes.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("# @package tools.mcp.notes\n# Our notes\ncommand: [python, notes.py]\nprefix: notes_\n")
    settings = aiq.settings("tool=[notes]", "tools.mcp.notes.max_chars=9")
    assert settings.tool == {}
    assert settings.tools.mcp["notes"].command == ("python", "notes.py")
    assert (settings.tools.of("notes").prefix, settings.tools.of("notes").max_chars) == ("notes_", 9)


@each("given")
def test_a_wrong_setting_is_reported_in_one_line(given: list[str], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as raised:
        aiq.settings(*given)
    assert "\n" not in str(raised.value)
