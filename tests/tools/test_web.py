import json
from pathlib import Path

import pytest

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.settings import LlmSettings, WebSettings
from aiq.llm.http import AsyncClient
from aiq.llm.transport import open_client
from aiq.tools.corpus import Corpus
from aiq.tools.web import CorpusWeb, OfflineWeb
from tests.settings import configured

SETTINGS = configured(WebSettings, kind="offline")


def offline_client(port: int) -> AsyncClient:
    return open_client(
        configured(LlmSettings, base_url="http://model.offline.example/v1", model="m"), offline_port=port
    )


async def test_offline_pages_come_through_the_runs_client(pages_port: int) -> None:
    async with offline_client(pages_port) as client:
        page = await OfflineWeb(client, SETTINGS).fetch("https://atlas.offline.example/article")
    assert page.final_url == "https://atlas.offline.example/article"
    assert page.title == "Velmora Institute"
    assert "Ilan Corvey" in page.text


async def test_the_offline_server_sees_the_host_that_was_asked(pages_port: int) -> None:
    async with offline_client(pages_port) as client:
        page = await OfflineWeb(client, SETTINGS).fetch("https://atlas.offline.example/headers")
    assert json.loads(page.text)["host"] == "atlas.offline.example"


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/Glass",
        "http://127.0.0.1/",
        "https://offline.example.evil.example/",
        "https://offline.example/stats",
        "http://search.offline.example/stats",
        "http://model.offline.example/v1/models",
        "file:///etc/passwd",
        "nonsense",
        "http://[",
    ],
)
async def test_nothing_else_is_in_the_offline_web(pages_port: int, url: str) -> None:
    async with offline_client(pages_port) as client:
        with pytest.raises(ToolError) as caught:
            await OfflineWeb(client, SETTINGS).fetch(url)
    assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE


async def test_a_redirect_out_of_the_offline_web_is_not_followed(pages_port: int) -> None:
    async with offline_client(pages_port) as client:
        with pytest.raises(ToolError) as caught:
            await OfflineWeb(client, SETTINGS).fetch("https://atlas.offline.example/away?to=https://a.example/")
    assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE


async def test_an_absent_offline_page_is_not_available(pages_port: int) -> None:
    async with offline_client(pages_port) as client:
        with pytest.raises(ToolError) as caught:
            await OfflineWeb(client, SETTINGS).fetch("https://atlas.offline.example/nowhere")
    assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE


async def test_the_corpus_is_a_web_of_its_own_pages(tmp_path: Path) -> None:
    row = {"url": "https://a.example/orlune", "title": "Orlune", "text": "Long text.", "published": "2026-01-02"}
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    web = CorpusWeb(Corpus.load(path))
    page = await web.fetch("http://a.example/orlune/#mayor")
    assert page.url == "http://a.example/orlune/#mayor"
    assert (page.final_url, page.title, page.text, page.published) == tuple(row.values())
    for other in ("https://a.example/other", "http://[", "", "a\nb"):
        with pytest.raises(ToolError, match="not in the corpus") as caught:
            await web.fetch(other)
        assert caught.value.kind is ToolErrorKind.NOT_AVAILABLE
