"""The child process, its search API, its pages, its counts and its faults, over loopback."""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, RunAborted
from aiq.core.settings import LlmSettings, OfflineSettings
from aiq.llm.http import AsyncClient, open_client
from aiq.offline.launch import OfflineStack

LLM = LlmSettings(base_url="http://model.offline.example/v1", model="offline-1", retry={"attempts": 1})

TLS = ssl.create_default_context()  # made once: it reads all certificates of the machine


def plain(port: int) -> AsyncClient:
    """A client for requests that need no session."""
    return open_client(LLM, offline_port=port)


async def find(port: int, **request: Any) -> Any:
    async with plain(port) as client:
        return (await client.post("http://search.offline.example/search", json=request)).json()


async def test_search_has_tavilys_shape(offline_port: int) -> None:
    found = await find(offline_port, query="Who is the mayor of Tessmark?", max_results=2)
    assert found.keys() >= {"query", "answer", "images", "results", "response_time", "request_id"}
    assert {r["url"] for r in found["results"]} == {
        "https://atlas.offline.example/tessmark",
        "https://news.offline.example/2024/mayor?id=7",
    }
    scores = [r["score"] for r in found["results"]]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert all(len(r["content"]) <= 1000 and r["raw_content"] is None for r in found["results"])
    assert found["answer"] is None


async def test_search_options(offline_port: int) -> None:
    query = "mayor of Tessmark"
    full = await find(offline_port, query=query, include_raw_content=True, include_answer=True)
    long = next(r for r in full["results"] if r["url"].startswith("https://news"))
    assert len(long["raw_content"]) > 3000
    assert full["answer"]
    assert [
        r["url"] for r in (await find(offline_port, query=query, include_domains=["news.offline.example"]))["results"]
    ] == [long["url"]]
    assert long["url"] not in str(await find(offline_port, query=query, exclude_domains=["news.offline.example"]))
    assert long["url"] not in str(await find(offline_port, query=query, start_date="2025-01-01"))
    assert long["url"] not in str(await find(offline_port, query=query, time_range="year"))
    assert long["url"] in str(await find(offline_port, query=query, end_date="2025-01-01"))
    assert "沃伦" in str(await find(offline_port, query="沃伦研究所的所长是谁？"))
    assert (await find(offline_port, query="zzz qqq"))["results"] == []


@pytest.mark.parametrize(
    "request_body", [{}, {"query": ""}, {"query": "x", "max_results": 99}, {"query": "x", "topic": "cats"}, [1]]
)
async def test_search_refuses_malformed_requests(offline_port: int, request_body: Any) -> None:
    async with plain(offline_port) as client:
        answer = await client.post("http://search.offline.example/search", json=request_body)
    assert answer.status_code == 400
    assert answer.json()["detail"]["error"]


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


async def ask(port: int, attempt: int = 0, role: str = "", **body: Any) -> Any:
    """One raw chat request, past our own transport and its retries."""
    given = {"model": "offline-1", "messages": [{"role": "user", "content": "When was Tessmark founded?"}], **body}
    headers = {"x-aiq-role": role, "x-aiq-attempt": str(attempt)}
    async with AsyncClient(verify=TLS) as client:
        return await client.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=given, headers=headers)


async def test_counts_show_what_was_paid_twice(offline_stack: Any) -> None:
    async with offline_stack() as port:
        await ask(port)
        await ask(port, attempt=1)
        await ask(port, seed=2)
        async with plain(port) as client:
            url = f"http://127.0.0.1:{port}/stats"
            counts = (await client.get(url)).json()
            assert (counts["chat"], counts["distinct"], counts["repeated"]) == (3, 3, 0)
            await ask(port)
            assert (await client.get(url)).json()["repeated"] == 1


async def test_unknown_role_is_a_plain_assistant(offline_port: int) -> None:
    replies = [await ask(offline_port, role=role) for role in ("", "nobody.knows", "../etc", "aiq")]
    assert len({reply.json()["choices"][0]["message"]["content"] for reply in replies}) == 1


async def test_api_key(pages_file: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aiq.offline", "--pages", str(pages_file), "--api-key", "k"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    port = json.loads(await child.stdout.readline())["port"]
    async with AsyncClient() as client:
        models = f"http://127.0.0.1:{port}/v1/models"
        assert (await client.get(models)).json()["error"]["code"] == "invalid_api_key"
        assert (await client.get(models, headers={"authorization": "Bearer k"})).status_code == 200
        refused = await client.post(f"http://127.0.0.1:{port}/search", json={"query": "x"})
        assert (refused.status_code, refused.json()["detail"]["error"][:12]) == (401, "Unauthorized")
    assert child.stdin is not None
    child.stdin.close()
    assert await child.wait() == 0


async def test_endpoint_faults(offline_stack: Any) -> None:
    async with offline_stack(http_429=1.0) as port:
        limited = await ask(port)
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
        assert limited.json()["error"]["code"] == "rate_limit_exceeded"
    async with offline_stack(http_500=1.0) as port:
        assert (await ask(port)).status_code == 500
    async with offline_stack(cut_connection=1.0) as port:
        for stream in (False, True):
            with pytest.raises(Exception, match="peer closed connection"):
                await ask(port, stream=stream)


async def test_faults_differ_between_attempts_and_repeat_exactly(offline_stack: Any) -> None:
    async def statuses(port: int) -> list[int]:
        return [(await ask(port, attempt=attempt, seed=5)).status_code for attempt in range(30)]

    async with offline_stack(http_500=0.5, seed=3) as port:
        first = await statuses(port)
    async with offline_stack(http_500=0.5, seed=3) as port:
        assert await statuses(port) == first
    assert 5 < first.count(500) < 25


async def test_reply_faults(offline_stack: Any) -> None:
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}},
    }
    async with offline_stack(malformed_tool_call=1.0, empty_content=1.0, truncated_json=1.0) as port:
        called = (await ask(port, tools=[tool], tool_choice="required")).json()["choices"][0]["message"]["tool_calls"][
            0
        ]
        with pytest.raises(ValueError, match=r".+"):
            json.loads(called["function"]["arguments"])
        assert (await ask(port)).json()["choices"][0]["message"]["content"] == ""
        text = (await ask(port, response_format={"type": "json_object"})).json()["choices"][0]["message"]["content"]
        assert text
        with pytest.raises(ValueError, match=r".+"):
            json.loads(text)


def test_unknown_fault_is_one_line() -> None:
    with pytest.raises(
        ConfigError, match=r"^offline\.faults\.http_42: there is no such fault; there are http_429, [^\n]*$"
    ):
        OfflineStack(OfflineSettings(faults={"http_42": 0.1}), 0)


async def test_absent_world_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"offline\.world=.*nowhere: there is no pages\.jsonl"):
        await OfflineStack(OfflineSettings(world=str(tmp_path / "nowhere")), 0).start()


async def test_malformed_world_names_file_and_row(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.offline.example/", "title": "x"}\n')
    with pytest.raises(RunAborted, match=r"the offline stack did not start: [^\n]*pages\.jsonl, row 1: [^\n]*$"):
        await OfflineStack(OfflineSettings(world=str(tmp_path)), 0).start()


async def test_stop_ends_the_child(pages_file: Path) -> None:
    child = OfflineStack(OfflineSettings(world=str(pages_file)), 0)
    port = await child.start()
    assert (await ask(port)).status_code == 200
    await child.stop()
    await child.stop()
    with pytest.raises(OSError, match=r"refused|Connect"):
        await asyncio.open_connection("127.0.0.1", port)


PARENT = """
import asyncio, sys
from aiq.core.settings import OfflineSettings
from aiq.offline.launch import OfflineStack

async def main():
    print(await OfflineStack(OfflineSettings(world=sys.argv[1]), 0).start(), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_child_does_not_outlive_a_killed_parent(pages_file: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(pages_file), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    port = int(await parent.stdout.readline())
    assert (await ask(port)).status_code == 200
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        writer.close()
        await asyncio.sleep(0.05)
    raise AssertionError("the offline stack is still there")


def test_aiq_offline_serves_until_interrupted(pages_file: Path) -> None:
    code = (
        "import argparse; from aiq.commands import offline\n"
        "parser = argparse.ArgumentParser(); offline.add_arguments(parser)\n"
        f"raise SystemExit(offline.run(parser.parse_args(['--port', '0', '--world', {str(pages_file)!r}])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=os.environ.copy()
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("The offline stack answers at http://127.0.0.1:")
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 0
