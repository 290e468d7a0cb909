"""The tool `fetch_page`, and the webs that answer only what they hold."""

import json
from collections.abc import AsyncIterator

import pytest
from pydantic import ValidationError

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.llm_settings import LlmSettings
from aiq.core.run_settings import WebSettings
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.llm.transport import open_client
from aiq.tools.corpus import Corpus, CorpusPage
from aiq.tools.web import CorpusWeb, FetchArguments, FetchPage, OfflineWeb
from tests.cases import table
from tests.settings import configured

each = table(__file__)

ORLUNE = CorpusPage(url="https://a.example/orlune", title="Orlune", text="0123456789abcdef", published="2026-03-14")
CORPUS = CorpusWeb(Corpus([ORLUNE]))


class Fixed:
    """A web where every address leads to one page."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        return Page(url=url, final_url="https://a.example/new", title="T", text=self.text)


async def test_a_page_is_a_block_and_a_source() -> None:
    result = await FetchPage(CORPUS, max_chars=100).run(FetchArguments(url=" https://a.example/orlune "))
    assert result.content == (
        '<Document href="https://a.example/orlune">\n<title>\nOrlune\n</title>\n'
        "<published>2026-03-14</published>\n0123456789abcdef\n</Document>"
    )
    (source,) = result.sources
    assert (source.url, source.title, source.text) == ("https://a.example/orlune", "Orlune", "0123456789abcdef")
    cut = await FetchPage(CORPUS, max_chars=10).run(FetchArguments(url="https://a.example/orlune"))
    assert "\n0123456789\n[cut: the first 10 of 16 characters]\n</Document>" in cut.content
    assert cut.sources[0].text == "0123456789"
    with pytest.raises(ValidationError):
        FetchArguments(url=" ")


async def test_after_a_redirect_both_addresses_are_sources_unless_the_page_is_blank() -> None:
    arguments = FetchArguments(url="https://a.example/old")
    result = await FetchPage(Fixed("text"), max_chars=10).run(arguments)
    assert [source.url for source in result.sources] == ["https://a.example/new", "https://a.example/old"]
    assert 'href="https://a.example/new"' in result.content
    assert (await FetchPage(Fixed(" \n"), max_chars=10).run(arguments)).sources == ()


@pytest.fixture
async def offline(pages_port: int) -> AsyncIterator[OfflineWeb]:
    llm = configured(LlmSettings, base_url="http://model.offline.example/v1", model="m")
    async with open_client(llm, offline_port=pages_port) as client:
        yield OfflineWeb(client, configured(WebSettings, kind="offline"))


async def test_offline_pages_come_through_the_runs_client(offline: OfflineWeb) -> None:
    page = await offline.fetch("https://atlas.offline.example/article")
    assert (page.final_url, page.title) == ("https://atlas.offline.example/article", "Velmora Institute")
    assert "Ilan Corvey" in page.text
    headers = json.loads((await offline.fetch("https://atlas.offline.example/headers")).text)
    assert headers["host"] == "atlas.offline.example"


@each("url")
async def test_nothing_else_is_in_the_offline_web(offline: OfflineWeb, url: str) -> None:
    with pytest.raises(ToolError) as caught:
        await offline.fetch(url)
    assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE


async def test_a_page_that_its_website_lacks_is_not_found(offline: OfflineWeb) -> None:
    with pytest.raises(ToolError, match="HTTP 404") as caught:
        await offline.fetch("https://atlas.offline.example/nowhere")
    assert caught.value.kind is ToolErrorKind.NOT_FOUND


async def test_the_corpus_is_a_web_of_its_own_pages() -> None:
    page = await CORPUS.fetch("http://a.example/orlune/#mayor")
    assert page.url == "http://a.example/orlune/#mayor"
    assert (page.final_url, page.title, page.text, page.published) == tuple(ORLUNE.model_dump().values())
    for url in ("https://a.example/other", "http://[", "", "a\nb"):
        with pytest.raises(ToolError, match="not in the corpus") as caught:
            await CORPUS.fetch(url)
        assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE
