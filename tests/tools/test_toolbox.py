import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind, UserError
from aiq.core.settings import PapersSettings, SearchSettings, WebSettings
from aiq.llm.http import AsyncClient
from aiq.tools.live import LiveWeb
from aiq.tools.papers import PaperProvider
from aiq.tools.search import Found, SearchHit, SearchProvider
from aiq.tools.toolbox import FixedToolbox, Think, build_toolbox, build_web, make_provider
from aiq.tools.web import CorpusWeb, OfflineWeb
from tests.settings import configured


class OwnSearch:
    """A provider from outside of aiq, with settings of its own."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self.word = settings.options["word"]

    async def search(self, query: str, max_results: int) -> Found:
        return Found(hits=(SearchHit(url="https://a.example/", title="T", text=f"{self.word} {query}"),))


@pytest.fixture
def search(tmp_path: Path) -> SearchSettings:
    path = tmp_path / "pages.jsonl"
    path.write_text(
        json.dumps({"url": "https://a.example/orlune", "title": "Orlune", "text": "Orlune lies on the Orl."})
    )
    return configured(SearchSettings, provider="corpus", corpus=str(path))


async def test_the_tools_of_a_run(search: SearchSettings, run_client: AsyncClient) -> None:
    web = build_web(configured(WebSettings, kind="corpus"), search, client=run_client)
    toolbox = build_toolbox(search, web, run_client)
    every = ["web_search_tool", "fetch_page", "think"]
    for sources, names in ((None, every), (("web",), every), (("papers",), ["think"]), ((), ["think"])):
        assert [tool.name for tool in toolbox.select(sources)] == names
    for name, argument in zip(every, ("query", "url", "thought"), strict=True):
        schema = toolbox.get(name).parameters.model_json_schema()
        assert list(schema["properties"]) == schema["required"] == [argument]
        assert schema["properties"][argument]["description"]
    found = await toolbox.get("web_search_tool").run(toolbox.get("web_search_tool").parameters(query="Orl"))
    assert found.sources[0].url == "https://a.example/orlune"
    thought = await toolbox.get("think").run(toolbox.get("think").parameters(thought="Two gaps remain."))
    assert ("Two gaps remain." in thought.content, thought.sources) == (True, ())


def test_every_tool_has_a_name_of_its_own() -> None:
    with pytest.raises(ToolError, match="there is no tool 'browse'; there are: think") as caught:
        FixedToolbox([Think()]).get("browse")
    assert caught.value.kind is ToolErrorKind.UNKNOWN_TOOL
    with pytest.raises(ConfigError, match="two tools are called 'think'"):
        FixedToolbox([Think(), Think()])


def test_each_web_by_its_kind(search: SearchSettings, run_client: AsyncClient) -> None:
    kinds: dict[Any, type] = {"offline": OfflineWeb, "corpus": CorpusWeb, "live": LiveWeb}
    for kind, expected in kinds.items():
        assert isinstance(build_web(configured(WebSettings, kind=kind), search, client=run_client), expected)
    without = search.model_copy(update={"corpus": None})
    with pytest.raises(ConfigError, match=r"search\.corpus must be set for web=corpus"):
        build_web(configured(WebSettings, kind="corpus"), without, client=run_client)


async def test_a_provider_of_ones_own_by_its_target(run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = configured(SearchSettings, provider="test_toolbox:OwnSearch", options={"word": "hello"})
    found = await make_provider(SearchProvider, settings, "search", run_client).search("world", 1)
    assert found.hits[0].text == "hello world"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "serper"}, r"search\.provider=serper: there is no such provider; there are: corpus, tavily,"),
        ({"provider": "no.such.module:Mine"}, r"search\.provider: there is no module"),
        ({"provider": "aiq.tools.search:Nothing"}, "has no 'Nothing'"),
        ({"provider": "corpus"}, r"search\.corpus must be set"),
        ({"provider": "corpus", "corpus": "absent.jsonl"}, r"absent\.jsonl cannot be read .*; check search\.corpus"),
        ({"provider": "tavily", "api_key_env": "NO_KEY"}, r"search\.api_key_env=NO_KEY"),
    ],
)
def test_wrong_search_settings_are_one_line(settings: dict[str, str], said: str, run_client: AsyncClient) -> None:
    with pytest.raises(UserError, match=said) as caught:
        make_provider(SearchProvider, configured(SearchSettings, **settings), "search", run_client)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "arxiv"}, r"papers\.provider=arxiv: there is no such provider; there are: serper,"),
        ({"provider": "no.such.module:Mine"}, r"papers\.provider: there is no module"),
        ({"provider": "serper", "api_key_env": "NO_KEY"}, r"papers\.api_key_env=NO_KEY"),
        ({"provider": "serper", "api_key_env": None}, r"papers\.api_key_env must name the variable"),
    ],
)
def test_wrong_paper_settings_are_one_line(settings: dict[str, Any], said: str, run_client: AsyncClient) -> None:
    with pytest.raises(ConfigError, match=said):
        make_provider(PaperProvider, configured(PapersSettings, **settings), "papers", run_client)
