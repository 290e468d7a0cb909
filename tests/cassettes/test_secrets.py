"""Secrets in the environment and in services' answers are in no file of a recorded run and in no output."""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from aiq.__main__ import main
from tests.cassettes.exchanges import unpacked
from tests.experiment.conftest import Workplace
from tests.llm.endpoint import USAGE, chunk, completed
from tests.tools.conftest import serving

SECRETS = {
    "MODEL_API_KEY": "canary-of-the-model-90210",
    "SEARCH_API_KEY": "canary-of+the/search=77",
    "ODD_SECRET_TOKEN": 'canary"of\\the\u00e4environment',
}
"""The config names the first two; the third is recognized only by its name."""

ISSUED = "sk-proj-Ab1cD2eF3gH4iJ5kL6mN7oP8qR9sT0"
"""A key that services reveal and no variable holds."""

LEAKS = [*SECRETS.values(), ISSUED]


@dataclass
class Services:
    """A model, a search and a web that repeat whatever they know."""

    asked: list[str] = field(default_factory=list)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", lambda request: JSONResponse({"object": "list", "data": []})),
                Route("/v1/chat/completions", self.model, methods=["POST"]),
                Route("/search", self.search),
                Route("/page", self.page),
                Route("/missing", lambda request: HTMLResponse(self.said(), status_code=500)),
                Route("/away", lambda request: RedirectResponse(f"/page?token={ISSUED}&api_key={LEAKS[0]}")),
            ]
        )

    @staticmethod
    def said() -> str:
        return " and ".join(f"the key is {secret}" for secret in LEAKS)

    async def model(self, request: Request) -> Response:
        body = await request.json()
        text = body["messages"][-1]["content"]
        self.asked.append(request.headers["authorization"])
        headers = {"x-request-id": f"id {LEAKS[0]}", "set-cookie": f"key={LEAKS[0]}", "x-key": LEAKS[0]}
        if text == "refused":
            message = f"Incorrect key {request.headers['authorization']}; {self.said()}"
            return JSONResponse({"error": {"message": message, "code": "wrong"}}, status_code=400, headers=headers)
        if text == "broken":
            return Response(f"<html>{self.said()}".encode(), status_code=500, headers=headers)
        if body.get("stream"):
            return StreamingResponse(self.events(), media_type="text/event-stream", headers=headers)
        return JSONResponse(completed(self.said()), headers=headers)

    async def events(self) -> Iterator[str]:  # type: ignore[misc]
        for secret in LEAKS:
            for part in ("the key is ", secret[:7], secret[7:], ". "):
                yield f"data: {json.dumps(chunk(content=part))}\n\n"
        yield f"data: {json.dumps(chunk('stop', content=self.said()))}\n\n"
        yield f"data: {json.dumps(chunk(usage=USAGE))}\n\ndata: [DONE]\n\n"

    async def search(self, request: Request) -> Response:
        self.asked.append(f"{request.url} {request.headers['x-key']}")
        if request.query_params["q"] == "refused":
            return JSONResponse({"error": f"wrong key in {request.url}: {self.said()}"}, status_code=401)
        found = {"url": f"https://a.example/?access_token={ISSUED}", "title": self.said(), "content": str(request.url)}
        return JSONResponse({"results": [found]}, headers={"location": f"/?key={LEAKS[1]}"})

    async def page(self, request: Request) -> Response:
        return HTMLResponse(f"<html><body><article><p>{self.said()} for {request.url}</p></article></body></html>")


@pytest.fixture
def services() -> Iterator[tuple[Services, str]]:
    made = Services()
    with serving(made.app()) as port:
        yield made, f"http://127.0.0.1:{port}"


def written(here: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of runs and cassettes, the latter also decompressed."""
    for path in [*here.glob("results/**/*"), *here.glob("cassettes/**/*")]:
        if path.is_file():
            for data in unpacked(path) if path.suffix == ".sqlite" else [path.read_bytes()]:
                yield str(path), data


def spellings(secret: str) -> list[bytes]:
    """The secret as it is and as escaped in JSON and HTML."""
    texts = [
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        secret.replace('"', "&#34;"),
    ]
    return [text.encode() for text in dict.fromkeys(texts)]


def test_no_secret_is_in_any_file_or_message_and_a_replay_needs_no_key(
    here: Workplace,
    services: tuple[Services, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked, base = services[0].asked, services[1]
    shutil.copy(Path(__file__).parent / "curious.py", here.path)
    (here.path / "conf/agent/curious.yaml").write_text("# Curious\ntarget: curious:Curious\n")
    (here.path / "conf/tool").mkdir()
    (here.path / "conf/tool/whisper.yaml").write_text("# @package tool.whisper\n# Tells\ntarget: curious:whisper\n")
    here.write_samples({"s1": base, "s2": base})
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    run = [
        *("run", "experiment=tiny", "agent=curious", "tool=[whisper]", "judge.letters.ask=true"),
        *(f"llm.base_url={base}/v1", "llm.api_key_env=MODEL_API_KEY", "llm.retry.attempts=2"),
        *("llm.retry.first_seconds=0.01", "web=live", f"web.allow_hosts=['{base[7:]}']", "search=json"),
        *(f'search.options.url="{base}/search?q={{query}}&api_key={{key}}"', "search.api_key_env=SEARCH_API_KEY"),
        *("search.options.headers={x-key: '{key}'}", "runner.progress=false"),
    ]
    assert main([*run, "cassette=record"]) == 0
    assert all(any(secret in text for text in asked) for secret in LEAKS[:1])
    said = capsys.readouterr()
    count = len(asked)
    for name in SECRETS:
        monkeypatch.delenv(name)
    assert main([*run, "cassette=replay"]) == 0
    assert len(asked) == count
    again = capsys.readouterr()
    recorded, replayed = here.runs()
    assert here.values(recorded) == here.values(replayed)
    report = here.lines(recorded / "samples.jsonl")[0]["report"]
    assert report.count("aiq-redacted") > 40
    leaks = [
        (where, secret, data[max(0, at - 60) : at + 60])
        for where, data in [*written(here.path), ("said", str((said, again)).encode())]
        for secret in LEAKS
        for spelling in spellings(secret)
        if (at := data.find(spelling)) >= 0
    ]
    assert leaks == []


def test_an_unrecorded_run_stores_and_prints_no_secret_either(
    here: Workplace,
    services: tuple[Services, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The services' answers contain their keys, and an MCP server that fails to start prints one."""
    base = services[1]
    shutil.copy(Path(__file__).parent / "curious.py", here.path)
    (here.path / "conf/agent/curious.yaml").write_text("# Curious\ntarget: curious:Curious\n")
    here.write_samples({"s1": base})
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    run = [
        *("run", "experiment=tiny", "agent=curious", "web=live", f"web.allow_hosts=['{base[7:]}']", "search=json"),
        *(f"llm.base_url={base}/v1", "llm.api_key_env=MODEL_API_KEY", "llm.retry.attempts=1", "runner.progress=false"),
        *(f'search.options.url="{base}/search?q={{query}}&api_key={{key}}"', "search.api_key_env=SEARCH_API_KEY"),
        "search.options.headers={x-key: '{key}'}",
    ]
    assert main(run) == 0
    complains = "import os, sys; sys.exit('error: ' + os.environ['MODEL_API_KEY'])"
    server = [f'tools.mcp.x.command=["{sys.executable}",-c,"{complains}"]', "tools.mcp.x.env=[MODEL_API_KEY]"]
    assert main([*run, *server]) == 2
    said = capsys.readouterr()
    assert "it says: error: ***" in said.err
    texts = [str(said).encode(), *(path.read_bytes() for path in here.path.glob("results/**/*") if path.is_file())]
    named = list(SECRETS.values())[:2]  # the third has no digit, so it is not recognized
    assert not [secret for secret in named for text in texts for form in spellings(secret) if form in text]
