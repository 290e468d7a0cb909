import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind, UserError
from aiq.core.settings import SearchSettings, WebSettings
from aiq.llm.http import AsyncClient
from aiq.tools.live import LiveWeb
from aiq.tools.search import Found, SearchHit
from aiq.tools.think import Think, ThinkArguments
from aiq.tools.toolbox import FixedToolbox, build_toolbox, build_web, web_provider
from aiq.tools.web import CorpusWeb, OfflineWeb
from tests.settings import configured


class Provider:
    """A provider from outside of aiq, with settings of its own."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self.word = settings.options["word"]

    async def search(self, query: str, max_results: int) -> Found:
        return Found(hits=(SearchHit(url="https://a.example/", title="T", text=f"{self.word} {query}"),))


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "pages.jsonl"
    row = {"url": "https://a.example/orlune", "title": "Orlune", "text": "Orlune lies on the Orl.", "published": "2026"}
    path.write_text(json.dumps(row), encoding="utf-8")
    return str(path)


async def test_the_tools_of_a_run(corpus: str, run_client: AsyncClient) -> None:
    search = configured(SearchSettings, provider="corpus", corpus=corpus)
    web = build_web(configured(WebSettings, kind="corpus"), search, client=run_client)
    toolbox = build_toolbox(search, web, run_client)
    assert [tool.name for tool in toolbox.select(None)] == ["web_search_tool", "fetch_page", "think"]
    assert [tool.name for tool in toolbox.select(("web",))] == ["web_search_tool", "fetch_page", "think"]
    assert [tool.name for tool in toolbox.select(("papers",))] == ["think"]
    assert [tool.name for tool in toolbox.select(())] == ["think"]
    for name, argument in (("web_search_tool", "query"), ("fetch_page", "url"), ("think", "thought")):
        tool = toolbox.get(name)
        schema = tool.parameters.model_json_schema()
        assert list(schema["properties"]) == schema["required"] == [argument]
        assert schema["properties"][argument]["description"]
    found = await toolbox.get("web_search_tool").run(toolbox.get("web_search_tool").parameters(query="Orl"))
    assert found.sources[0].url == "https://a.example/orlune"


def test_an_unknown_tool_lists_what_exists() -> None:
    with pytest.raises(ToolError, match="there is no tool 'browse'; there are: think") as caught:
        FixedToolbox([Think()]).get("browse")
    assert caught.value.kind is ToolErrorKind.UNKNOWN_TOOL


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two tools are called 'think'"):
        FixedToolbox([Think(), Think()])


async def test_think_gives_the_thought_back_and_no_source() -> None:
    result = await Think().run(ThinkArguments(thought="Two gaps remain."))
    assert "Two gaps remain." in result.content
    assert result.sources == ()


def test_each_web_by_its_kind(corpus: str, run_client: AsyncClient) -> None:
    search = configured(SearchSettings, provider="corpus", corpus=corpus)
    kinds: dict[Any, type] = {"offline": OfflineWeb, "corpus": CorpusWeb, "live": LiveWeb}
    for kind, expected in kinds.items():
        assert isinstance(build_web(configured(WebSettings, kind=kind), search, client=run_client), expected)


async def test_a_provider_of_ones_own_by_its_target(run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    settings = configured(SearchSettings, provider="test_toolbox:Provider", options={"word": "hello"})
    found = await web_provider(settings, run_client).search("world", 1)
    assert found.hits[0].text == "hello world"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "bing"}, r"search\.provider=bing: there is no such provider; there are: corpus, tavily"),
        ({"provider": "no.such.module:Provider"}, r"search\.provider: there is no module"),
        ({"provider": "aiq.tools.think:Nothing"}, "has no 'Nothing'"),
        ({"provider": "corpus"}, r"search\.corpus must be set"),
        ({"provider": "corpus", "corpus": "absent.jsonl"}, r"absent\.jsonl: there is no such corpus file"),
    ],
)
def test_wrong_search_settings_are_one_line(settings: dict[str, str], said: str, run_client: AsyncClient) -> None:
    with pytest.raises(UserError, match=said) as caught:
        web_provider(configured(SearchSettings, **settings), run_client)
    assert "\n" not in str(caught.value)


def test_a_corpus_web_needs_a_corpus(run_client: AsyncClient) -> None:
    with pytest.raises(ConfigError, match=r"search\.corpus must be set for web=corpus"):
        build_web(
            configured(WebSettings, kind="corpus"), configured(SearchSettings, provider="tavily"), client=run_client
        )
