"""The server over loopback: pages, keys, counts and endpoint faults."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiq.llm.http import AsyncClient
from aiq.offline.faults import Faults
from aiq.offline.protocol.work import COMPLETIONS, RESPONSES, Work
from tests.conftest import port_of_stack
from tests.offline.protocol.conftest import plain

ASKED = {"model": "offline-1", "messages": [{"role": "user", "content": "When was Tessmark founded?"}]}
KEY = {"authorization": "Bearer k"}
RATES = {"http_429": 0.3, "http_500": 0.3, "cut_connection": 0.3}


async def send(port: int, path: str, body: dict[str, Any], attempt: int = 0, role: str = "") -> Any:
    """Send a raw request, bypassing our own transport and its retries."""
    headers = {"x-aiq-role": role, "x-aiq-attempt": str(attempt), **KEY}
    async with AsyncClient(verify=False, timeout=60) as client:
        return await client.post(f"http://127.0.0.1:{port}{path}", json=body, headers=headers)


async def ask(port: int, attempt: int = 0, role: str = "", **body: Any) -> Any:
    return await send(port, COMPLETIONS, ASKED | body, attempt, role)


@pytest.fixture(scope="module")
def strict_port(pages_file: Path) -> Iterator[int]:
    """The port of a stack that requires a key and has planted faults."""
    yield from port_of_stack(pages_file, "--api-key", "k", "--seed", "3", "--faults", json.dumps(RATES))


async def test_pages_are_html(offline_port: int) -> None:
    async with plain(offline_port) as client:
        page = await client.get("https://news.offline.example/2024/mayor?id=7")
        chinese = await client.get("https://baike.offline.example/沃伦")
        missing = await client.get("https://atlas.offline.example/nowhere")
        other_site = await client.get("https://news.offline.example/tessmark")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>A mayor &lt;resigns&gt; &amp; more</title>" in page.text
    assert "<table><tr><td>raw</td></tr></table>" in page.text
    for tag in ('<html lang="en">', "<nav>", "<main><article>", "<footer>"):
        assert tag in page.text
    assert '<html lang="zh">' in chinese.text
    assert "所长是林岚" in chinese.text
    assert (missing.status_code, other_site.status_code) == (404, 404)


@pytest.mark.parametrize(("host", "status"), [("my.site", 200), ("My.Site:8808", 200), ("your.site", 404)])
async def test_pages_of_any_host(offline_port: int, host: str, status: int) -> None:
    async with AsyncClient(verify=False, timeout=60) as client:
        page = await client.get(f"http://127.0.0.1:{offline_port}/mill?floor=2", headers={"host": host})
    assert (page.status_code, "Ada Kestrel" in page.text) == (status, status == 200)


async def test_the_server_is_a_proxy_for_its_pages_and_services(offline_port: int) -> None:
    async def status(url: str) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", offline_port)
        writer.write(f"GET {url} HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer.split(b" ")[1].decode()

    urls = ("my.site/mill?floor=2", "baike.offline.example/%E6%B2%83%E4%BC%A6", "model.offline.example/v1/models")
    assert [await status(f"http://{url}") for url in urls] == ["200"] * 3
    assert await status("http://my.site/nowhere") == "404"


async def test_the_root_lists_the_endpoints(offline_port: int) -> None:
    async with AsyncClient(verify=False, timeout=60) as client:
        page = await client.get(f"http://127.0.0.1:{offline_port}/")
    assert (page.status_code, page.text.count("\n")) == (200, 1)
    assert "/v1/chat/completions" in page.text


async def test_counts_show_what_was_paid_for_twice(offline_port: int) -> None:
    async def rises(*requests: dict[str, Any]) -> list[int]:
        before = (await client.get(url)).json()
        for request in requests:
            await ask(offline_port, messages=[{"role": "user", "content": "What is counted?"}], **request)
        after = (await client.get(url)).json()
        return [after[name] - before[name] for name in ("chat", "distinct", "repeated")]

    url = f"http://127.0.0.1:{offline_port}/stats"
    async with plain(offline_port) as client:
        assert await rises({}, {"attempt": 1}, {"seed": 2}) == [3, 3, 0]
        assert await rises({}) == [1, 0, 1]


async def test_unknown_role_is_a_plain_assistant(offline_port: int) -> None:
    replies = [await ask(offline_port, role=role) for role in ("", "nobody.knows", "../etc", "aiq")]
    assert len({reply.json()["choices"][0]["message"]["content"] for reply in replies}) == 1


@pytest.mark.slow
async def test_api_key(strict_port: int) -> None:
    async with AsyncClient(verify=False) as client:
        models = f"http://127.0.0.1:{strict_port}/v1/models"
        assert (await client.get(models)).json()["error"]["code"] == "invalid_api_key"
        assert (await client.get(models, headers=KEY)).status_code == 200
        refused = await client.post(f"http://127.0.0.1:{strict_port}/search", json={"query": "x"})
        assert (refused.status_code, refused.json()["detail"]["error"][:12]) == (401, "Unauthorized")


@pytest.mark.slow
async def test_endpoint_faults_differ_between_attempts_repeat_exactly_and_are_counted(strict_port: int) -> None:
    work, fault_counts, cut = Work(Faults(RATES, seed=3)), Counter[str](), set()
    sends = [(COMPLETIONS, ASKED | {"stream": number % 2 == 1}, number) for number in range(30)]
    sends += [(RESPONSES, {"model": "offline-1", "input": "When was it founded?"}, number) for number in range(10)]
    for path, body, attempt in sends:
        expected = work.answer(path, "", str(attempt), json.dumps(body).encode())
        fault_counts.update(expected.faults)
        if expected.status == 200 and "cut_connection" in expected.faults:
            cut.add((path, body.get("stream")))
            with pytest.raises(Exception, match="peer closed connection"):
                await send(strict_port, path, body, attempt)
        else:
            response = await send(strict_port, path, body, attempt)
            assert response.status_code == expected.status
            assert response.headers.get("retry-after") == ("1" if response.status_code == 429 else None)
    assert all(5 < fault_counts[name] < 20 for name in RATES)
    assert cut > {(COMPLETIONS, False), (COMPLETIONS, True)}
    async with AsyncClient(verify=False) as client:
        counts = (await client.get(f"http://127.0.0.1:{strict_port}/stats")).json()
    assert (counts["chat"], counts["repeated"], counts["faults"]) == (40, 0, fault_counts)


def test_reply_faults() -> None:
    work = Work(Faults({"malformed_tool_call": 1.0, "empty_content": 1.0, "truncated_json": 1.0}, seed=0))

    def reply(**body: Any) -> Any:
        answer = work.answer(COMPLETIONS, "", "0", json.dumps(ASKED | body).encode())
        return json.loads(answer.body)["choices"][0]["message"]

    parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    message = reply(tools=[tool], tool_choice="required")
    with pytest.raises(ValueError, match=r".+"):
        json.loads(message["tool_calls"][0]["function"]["arguments"])
    assert reply()["content"] == ""
    messages: Any = [{"role": "user", "content": "When was Tessmark founded? Reply in JSON."}]
    text = reply(messages=messages, response_format={"type": "json_object"})["content"]
    assert text
    with pytest.raises(ValueError, match=r".+"):
        json.loads(text)
