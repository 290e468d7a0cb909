"""Tools of the user's own: the one in docs/tools.md runs as printed; mistakes in config are one line."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest

from aiq.__main__ import main
from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import Plugin, Settings
from aiq.core.tools import Toolbox, ToolResult
from aiq.tools.own import make_tool
from aiq.tools.toolbox import ThinkArguments
from tests.cases import table
from tests.sessions import make_session

each = table(__file__)

PAGE = Path(__file__).resolve().parents[2] / "docs/tools.md"


def made(target: str, **given: Any) -> Any:
    return make_tool("mine", Plugin.model_validate({"target": f"{__name__}:{target}", **given}))


async def repeat(text: str, times: int = 2) -> str:
    """Say it again."""
    return text * times


def fail() -> str:
    """Never works."""
    raise KeyError("gone")


def silent(text: str) -> str:
    return text


def many(*texts: str) -> str:
    """Takes any number."""
    return "".join(texts)


def strange(text: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Has an unknown type."""


class Shouting:
    """A tool as a class, with a setting."""

    class Settings(Settings):
        mark: str

    name = "shout"
    description = "Shouts."
    parameters: ClassVar = ThinkArguments
    data_source: str | None = None

    def __init__(self, settings: Any) -> None:
        self._mark = settings.mark

    async def run(self, arguments: ThinkArguments) -> ToolResult:
        return ToolResult(content=arguments.thought.upper() + self._mark)


async def test_a_functions_parameters_are_arguments_except_those_set_by_config() -> None:
    tool = made("repeat", times="3")
    assert (tool.name, tool.description, tool.data_source) == ("repeat", "Say it again.", "mine")
    assert list(tool.parameters.model_json_schema()["properties"]) == ["text"]
    assert (await tool.run(tool.parameters(text="ab"))).content == "ababab"


async def test_an_exception_is_a_failed_call() -> None:
    session = make_session(tools=Toolbox([made("fail")]))
    with pytest.raises(ToolError, match="fail: KeyError: 'gone'") as error:
        await session.call_tool("fail", {})
    assert error.value.kind is ToolErrorKind.FAILED


async def test_a_class_has_settings_of_its_own() -> None:
    assert (await made("Shouting", mark="!").run(ThinkArguments(thought="oh"))).content == "OH!"


@each("target")
def test_a_mistake_in_config_is_one_line(target: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        made(target, **given)


def test_the_tool_of_the_documentation_is_called_and_its_source_is_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for block, name in (
        ("python\n# glossary.py\n", "glossary.py"),
        ("yaml\n# @package tool", "conf/tool/glossary.yaml"),
    ):
        text = page[page.index(f"```{block}") + 3 :].partition("\n")[2].partition("```")[0]
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "glossary.csv").write_text(
        "term,meaning,url\nQuorvane,Quorvane was founded by Ilda Merrow in 1911.,https://glossary.example.org/quorvane\n"
    )
    (tmp_path / "questions.csv").write_text(
        "question,answers,data_sources\nWho founded Quorvane?,Ilda Merrow,glossary\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    questions = ["dataset=questions", "dataset.name=q", "dataset.path=questions.csv"]
    assert main(["run", "experiment=shallow_freshqa", *questions, "tool=[glossary]", "runner.progress=false"]) == 0
    (row,) = (json.loads(line) for line in next(tmp_path.glob("results/*/*/samples.jsonl")).open())
    assert "Ilda Merrow" in row["report"]
    assert [source["url"] for source in row["sources"]] == ["https://glossary.example.org/quorvane"]
    assert "https://glossary.example.org/quorvane" in row["report"]
