"""`aiq doctor` on endpoints that accept everything, refuse what they do not know, or are down."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from tests.cases import table
from tests.llm.endpoint import USAGE, Threaded, chunk, completed, error, http, streamed

each = table(__file__)
Captured = pytest.CaptureFixture[str]

CHECKS = [
    *("output_dir", "endpoint", "model", "usage", "reply limit", "seed", "temperature", "tools"),
    *("tool results", "parallel tools", "JSON schema", "streaming", "search"),
]
CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "look_up_weather", "arguments": '{"city": "Oslo"}'},
    "extra_content": {"google": {"thought_signature": "x"}},
}


@dataclass
class Model:
    """An endpoint that refuses these fields of a request, fails at a name or null in a message, and lacks features.

    It lists no models, and wants a call's signature back with its result.
    """

    fields: tuple[str, ...] = ()
    status: int = 400
    fails_at: tuple[str, ...] = ()
    limit: str = "max_completion_tokens"
    key: str | None = None
    usage: bool = True
    json: bool = True
    streams: bool = True
    port: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def listed(self, headers: Message) -> bytes:
        return error(401, "x-api-key header is required")

    def answer(self, body: dict[str, Any]) -> bytes:
        self.bodies.append(body)
        for name in self.fields:
            if name in body:
                return error(self.status, f"unknown field {name}")
        calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
        if not all(call.get("extra_content") for call in calls):
            return error(400, "a function call is missing a thought_signature")
        has_name = any("name" in message for message in body["messages"])
        has_null = any(message["content"] is None for message in body["messages"])
        if (has_name and "name" in self.fails_at) or (has_null and "null" in self.fails_at):
            return error(500, "Internal Server Error")
        if body.get("stream") and self.streams:
            return streamed(chunk(content="Hello"), chunk("stop"))
        text = f"{self.key or 'zero'} one two three four five six seven eight nine ten " * (
            1 if self.limit in body else 9
        )
        if "in JSON" in str(body["messages"]) and self.json:
            text = '{"city": "Oslo", "weather": "rain"}'
        extras: dict[str, Any] = {"tool_calls": [CALL]} if body.get("tools") else {}
        return http(200, completed(None if extras else text, USAGE if self.usage else None, **extras))


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Model], list[str]]]:
    """Starts a model and returns the settings to reach it; search uses a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.example", "title": "Oslo", "text": "weather in Oslo"}\n')
    servers = []

    def start(model: Model) -> list[str]:
        servers.append(Threaded(model.listed, model.answer))
        model.port = model.port or servers[-1].port
        local = ["search=corpus", "search.corpus=pages.jsonl", "web=corpus", "llm.retry.first_seconds=0"]
        return [*local, "llm=vllm", "llm.model=m", f"llm.base_url=http://127.0.0.1:{model.port}/v1"]

    yield start
    for server in servers:
        server.close()


def read(text: str) -> tuple[dict[str, str], list[str]]:
    """The level of each check in the table, and the suggested settings."""
    assert max(map(len, text.splitlines())) <= 80
    levels = {name: line[14:].split()[0] for line in text.splitlines() for name in CHECKS if line.startswith(name)}
    return levels, [line.strip() for line in text.splitlines() if line.startswith("  llm.")]


def test_an_endpoint_that_takes_everything_needs_no_settings(
    serve: Callable[[Model], list[str]], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(key="key-0815-4711")
    monkeypatch.setenv("A_KEY", "key-0815-4711")
    overrides = ["llm.api_key_env=A_KEY", "llm.prices.m={input: 1, output: 1}"]
    assert main(["doctor", *serve(model), *overrides]) == 0
    out = capsys.readouterr().out
    assert "'*** one two" in out  # the model repeats the key
    assert read(out) == (dict.fromkeys(CHECKS, "ok"), [])
    assert out.endswith("\nA run with these settings can work.\n")
    assert len(model.bodies) == 10
    assert list(Path().glob("results*")) == []


def test_a_server_that_accepts_any_model_name_is_noticed(serve: Callable[[Model], list[str]], capsys: Captured) -> None:
    settings = [setting.replace("llm.model=m", "llm.model=misspelt") for setting in serve(Model())]
    assert main(["doctor", *settings]) == 0
    out = capsys.readouterr().out
    assert read(out)[0]["model"] == "note"
    assert "the endpoint calls it m" in " ".join(out.split())


@each("strict")
def test_the_suggested_settings_fix_what_failed(
    serve: Callable[[Model], list[str]],
    capsys: Captured,
    model: dict[str, Any],
    levels: dict[str, str],
    settings: list[str],
) -> None:
    overrides = [*serve(Model(**model)), "llm.prices.m={input: 1, output: 1}"]
    assert main(["doctor", *overrides]) == 1
    out = capsys.readouterr().out
    outcomes, suggestions = read(out)
    assert {name: level for name, level in outcomes.items() if level != "ok"} == levels
    assert suggestions == settings
    assert "A run with these settings cannot work." in out
    assert main(["doctor", *overrides, *suggestions]) == 0
    assert read(capsys.readouterr().out) == (dict.fromkeys(CHECKS, "ok"), [])


def test_a_missing_optional_feature_is_only_a_note(serve: Callable[[Model], list[str]], capsys: Captured) -> None:
    assert main(["doctor", *serve(Model(usage=False, json=False, streams=False, limit="none"))]) == 0
    out = capsys.readouterr().out
    levels, suggestions = read(out)
    assert {name for name, level in levels.items() if level != "ok"} == {
        "usage",
        "reply limit",
        "JSON schema",
        "streaming",
    }
    assert suggestions == []
    assert "what a run costs is unknown" in out
    assert "llm.max_tokens has no effect" in " ".join(out.split())
    assert "streaming note broke off its stream: this endpoint sends no events" in " ".join(out.split())


@each("stops")
def test_what_would_stop_a_run_fails_a_check_without_a_traceback(
    serve: Callable[[Model], list[str]],
    capsys: Captured,
    model: dict[str, Any],
    settings: list[str],
    said: str,
) -> None:
    assert main(["doctor", *serve(Model(**model)), *settings]) == 1
    output = capsys.readouterr()
    assert said.replace(" ", "") in "".join(output.out.split())
    assert "fails" in output.out.split()
    assert output.err == ""
