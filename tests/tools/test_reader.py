"""A reader service between the live web and a page: asked through the same guard, with its key and nobody else's."""

import json

import pytest

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.core.tools import Reader
from aiq.tools.corpus import Corpus
from aiq.tools.live import LiveWeb
from aiq.tools.web import CorpusWeb

KEY = "reader-secret-1"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER_KEY", KEY)


def live(port: int) -> LiveWeb:
    async def resolve(host: str, number: int) -> list[str]:
        return ["127.0.0.1"]

    hosts = (f"reader.example:{port}", f"page.example:{port}")
    return LiveWeb(WebSettings(kind="live", allow_hosts=hosts, timeout_seconds=5), resolve=resolve)


def test_the_address_of_a_page_at_the_service() -> None:
    page = "https://a.example/x?y=1&z=2"
    assert Reader(template="https://r.example/{url}").address(page) == f"https://r.example/{page}"
    in_query = Reader(template="https://r.example/read?u={url}&as=text").address(page)
    assert in_query == "https://r.example/read?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&as=text"


async def test_the_service_gets_its_key_and_the_page_keeps_its_address(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/headers?of={{url}}", key_env="READER_KEY")
    page = await live(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
    assert json.loads(page.text)["authorization"] == f"Bearer {KEY}"
    assert page.url == f"http://page.example:{pages_port}/article"
    assert page.final_url.startswith(f"http://reader.example:{pages_port}/headers?of=")
    keyless = Reader(template=reader.template)
    assert "authorization" not in json.loads((await live(pages_port).fetch(page.url, keyless)).text)


async def test_the_key_goes_to_the_service_alone(pages_port: int) -> None:
    """The service redirects to the page itself, which shows the headers that it was sent."""
    reader = Reader(template=f"http://reader.example:{pages_port}/away?to={{url}}", key_env="READER_KEY")
    page = await live(pages_port).fetch(f"http://page.example:{pages_port}/headers", reader)
    assert page.final_url == f"http://page.example:{pages_port}/headers"
    assert KEY not in page.text


async def test_the_service_is_not_told_what_the_guard_would_refuse(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/headers?of={{url}}", key_env="READER_KEY")
    for url in ("http://10.0.0.8/inner", "file:///etc/passwd", "http://user:pw@page.example/"):
        with pytest.raises(ToolError) as caught:
            await live(pages_port).fetch(url, reader)
        assert caught.value.kind is ToolErrorKind.BLOCKED


async def test_what_the_service_refuses_shows_no_key(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/status/401?of={{url}}", key_env="READER_KEY")
    with pytest.raises(ToolError, match="HTTP 401") as caught:
        await live(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
    assert KEY not in str(caught.value)


async def test_a_missing_key_and_a_closed_web_say_so(pages_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(template="http://reader.example/{url}", key_env="READER_KEY")
    with pytest.raises(ToolError, match="no reader service; take web=live"):
        await CorpusWeb(Corpus([])).fetch("https://a.example/", reader)
    monkeypatch.delenv("READER_KEY")
    with pytest.raises(ConfigError, match="READER_KEY: this environment variable is not set"):
        await live(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
