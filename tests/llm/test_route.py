"""Reserved hosts go to the offline stack, others to their own addresses."""

from typing import Any

import pytest

from aiq.core.errors import ConfigError
from aiq.core.llm_settings import LlmSettings
from aiq.llm.http import ConnectError
from aiq.llm.route import is_offline
from aiq.llm.transport import RETRY, open_client
from tests.llm.endpoint import http
from tests.settings import configured

SETTINGS = configured(LlmSettings, base_url="http://model.offline.example/v1", model="m")


async def test_offline_hosts_reach_the_port_with_their_own_name(bench: Any) -> None:
    hosts = ("offline.example", "model.offline.example", "offline.example.com", "notoffline.example")
    assert [is_offline(host) for host in hosts] == [True, True, False, False]
    async with bench([http(200, {})]) as b, open_client(SETTINGS, offline_port=b.endpoint.port) as client:
        await client.get("https://atlas.offline.example/a%20b?x=1")
        await client.post("http://search.offline.example/search", json={"query": "q"})
        page, search = b.endpoint.got
        assert (page.path, page.headers["host"]) == ("/a%20b?x=1", "atlas.offline.example")
        assert page.headers["x-aiq-scheme"] == "https"
        assert (search.body, search.headers["host"]) == ({"query": "q"}, "search.offline.example")
    async with open_client(SETTINGS, offline_port=None) as client:
        with pytest.raises(ConfigError, match=r"model\.offline\.example is a host of the offline stack"):
            await client.get("http://model.offline.example/v1/models")


@pytest.mark.parametrize("address", ["socks5://me:secret@127.0.0.1:9", "http://proxy:port"])
async def test_anything_but_an_http_proxy_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("https_proxy", address)
    with pytest.raises(ConfigError, match=r"^HTTPS_PROXY: not the address of an HTTP proxy; write http://HOST:PORT$"):
        async with open_client(SETTINGS, offline_port=None):
            pass


async def test_proxies_of_the_machine_are_used_but_not_for_loopback(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench([http(200, {"by": "proxy"})]) as b:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{b.endpoint.port}")
        monkeypatch.setenv("no_proxy", "inside.invalid")
        async with open_client(SETTINGS, offline_port=b.endpoint.port) as client:
            assert (await client.get("http://elsewhere.example/x")).json() == {"by": "proxy"}
            await client.get("http://atlas.offline.example/y")
            assert [g.path for g in b.endpoint.got] == ["http://elsewhere.example/x", "/y"]
            with pytest.raises(ConnectError):  # directly to a host that does not exist
                await client.get("http://inside.invalid/", extensions={RETRY: False})
