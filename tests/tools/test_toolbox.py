import re
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind, UserError
from aiq.core.run_settings import SearchSettings
from aiq.core.tools import Toolbox
from aiq.llm.http import AsyncClient
from aiq.tools.corpus import Corpus
from aiq.tools.live import LiveWeb
from aiq.tools.search import Found, SearchHit, SearchProvider
from aiq.tools.toolbox import Think, build_toolbox, build_web, make_provider
from aiq.tools.web import CorpusWeb, OfflineWeb
from tests.cases import table
from tests.settings import against_offline, configured

each = table(__file__)


class OwnSearch:
    """A provider from outside of aiq, with settings of its own."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self.word = settings.options["word"]

    async def search(self, query: str, max_results: int) -> Found:
        return Found(hits=(SearchHit(url="https://a.example/", title="T", text=f"{self.word} {query}"),))


async def test_the_tools_of_a_run(tmp_path: Path, run_client: AsyncClient) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"url": "https://a.example/orlune", "title": "Orlune", "text": "Orlune lies on the Orl."}')
    settings = against_offline(search={"provider": "corpus", "corpus": str(path)}, web={"kind": "corpus"})
    toolbox = build_toolbox(settings, build_web(settings, run_client), run_client)
    all_names = ["web_search_tool", "fetch_page", "think"]
    for sources, names in ((None, all_names), (("web",), all_names), (("papers",), ["think"]), ((), ["think"])):
        assert [tool.name for tool in toolbox.select(sources)] == names
    for name, argument in zip(all_names, ("query", "url", "thought"), strict=True):
        schema = toolbox.get(name).parameters.model_json_schema()
        assert list(schema["properties"]) == schema["required"] == [argument]
        assert schema["properties"][argument]["description"]
    result = await toolbox.get("web_search_tool").run(toolbox.get("web_search_tool").parameters(query="Orl"))
    assert result.sources[0].url == "https://a.example/orlune"
    thought = await toolbox.get("think").run(toolbox.get("think").parameters(thought="Two gaps remain."))
    assert ("Two gaps remain." in thought.content, thought.sources) == (True, ())


def test_every_tool_has_a_name_of_its_own() -> None:
    with pytest.raises(ToolError, match="there is no tool 'browse'; there are: think") as caught:
        Toolbox([Think()]).get("browse")
    assert caught.value.kind is ToolErrorKind.UNKNOWN_TOOL
    with pytest.raises(ConfigError, match="two tools are called 'think'"):
        Toolbox([Think(), Think()])


def test_each_web_by_its_kind(run_client: AsyncClient) -> None:
    corpus = {"corpus": "benchmarks/world"}
    for kind, expected in {"offline": OfflineWeb, "corpus": CorpusWeb, "live": LiveWeb}.items():
        assert isinstance(build_web(against_offline(web={"kind": kind}, search=corpus), run_client), expected)
    with pytest.raises(ConfigError, match=r"search\.corpus must be set: a JSONL of url, title, text"):
        build_web(against_offline(web={"kind": "corpus"}), run_client)


async def test_a_provider_of_ones_own_by_its_target(run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = configured(SearchSettings, provider="test_toolbox:OwnSearch", options={"word": "hello"})
    results = await make_provider(SearchProvider, settings, "search", run_client).search("world", 1)
    assert results.hits[0].text == "hello world"


@each("section")
def test_wrong_provider_settings_are_one_line(
    section: str, settings: dict[str, Any], said: str, run_client: AsyncClient
) -> None:
    run = against_offline(**{section: settings})
    with pytest.raises(UserError, match=re.escape(f"{section}.{said}")) as caught:
        build_toolbox(run, CorpusWeb(Corpus([])), run_client)
    assert "\n" not in str(caught.value)
