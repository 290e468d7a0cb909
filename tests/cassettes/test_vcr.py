"""vcrpy files: stock vcrpy replays what we recorded, and we replay what it recorded, both with a stock client."""

import asyncio
import gzip
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import vcr
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI, RateLimitError

from aiq.__main__ import main
from aiq.cassettes.exchange import GIVEN_UP, Exchange
from aiq.cassettes.recorder import TOOL, Recorder
from aiq.cassettes.redact import MARK, Redactor
from aiq.cassettes.store import Store
from aiq.cassettes.vcr import Form, file_name, from_vcr, to_vcr
from aiq.core.run_settings import CassetteSettings
from aiq.core.samples import SampleKey
from aiq.llm.http import AsyncClient, AsyncHTTPTransport
from tests.llm.endpoint import Endpoint, chunk, completed, error, http, streamed
from tests.settings import configured

KEY = SampleKey("s1", 1)
MATCH_ON = ["method", "scheme", "host", "port", "path", "query", "body"]
SCRIPT = [
    http(200, completed("first: café")),
    http(200, completed("second")),
    streamed(chunk(content="in "), chunk(content="pieces"), chunk(finish="stop")),
    error(429, "slowly", retry_after="7"),
]
SAID = ["first: café", "second", "in pieces", "429, 7"]


@asynccontextmanager
async def serving(script: list[bytes]) -> AsyncIterator[Endpoint]:
    endpoint = Endpoint(script)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.port = server.sockets[0].getsockname()[1]
    async with server:
        yield endpoint


@asynccontextmanager
async def recorded(mode: str, folder: Path) -> AsyncIterator[AsyncClient]:
    """A stock HTTP client on our transport, recording for KEY."""
    recorder = Recorder(configured(CassetteSettings, mode=mode), folder, Redactor([]))
    try:
        with recorder.for_sample("agent", KEY):
            yield AsyncClient(transport=recorder.transport(AsyncHTTPTransport()))
    finally:
        recorder.close()


async def ask(base_url: str, client: AsyncClient | None = None) -> list[str]:
    """Ask one question twice, one with a streamed answer, and one that is refused."""
    openai = AsyncOpenAI(base_url=base_url, api_key="sk-0123456789abcdefghijkl", max_retries=0, http_client=client)

    async def create(question: str, **options: Any) -> Any:
        messages = [{"role": "user", "content": question}]
        return await openai.chat.completions.create(model="m", messages=messages, **options)  # type: ignore[arg-type]

    answers = [(await create("a quéstion")).choices[0].message.content for _ in range(2)]
    answers.append("".join([event.choices[0].delta.content or "" async for event in await create("long", stream=True)]))
    with pytest.raises(RateLimitError) as raised:
        await create("too much")
    return [*answers, f"{raised.value.status_code}, {raised.value.response.headers['retry-after']}"]


@pytest.mark.parametrize("form", ["yaml", "json"])
async def test_stock_vcrpy_replays_what_we_recorded(tmp_path: Path, form: Form) -> None:
    async with serving(SCRIPT) as endpoint, recorded("record", tmp_path / "ours") as client:
        assert await ask(endpoint.base_url, client) == SAID
    with Store(tmp_path / "ours" / "agent.sqlite", writes=False) as store:
        assert [(each.status, each.error) for each in store.exchanges("s1/1")] == [(200, None)] * 3 + [(429, None)]
    assert main(["cassettes", "export", str(tmp_path / "ours"), str(tmp_path), *(["--json"] * (form == "json"))]) == 0
    cassette = tmp_path / "agent" / f"s1-1.{form}"
    with vcr.VCR(serializer=form).use_cassette(str(cassette), record_mode="none", match_on=MATCH_ON) as played:
        assert await ask(endpoint.base_url) == SAID
    assert played.all_played
    assert b"sk-" not in cassette.read_bytes()


@pytest.mark.parametrize(("form", "decode"), [("yaml", False), ("yaml", True), ("json", True)])
async def test_we_replay_what_stock_vcrpy_recorded(tmp_path: Path, form: str, decode: bool) -> None:
    packed = http(200, gzip.compress(b'{"choices": [{"message": {"content": "second"}}]}'), content_encoding="gzip")
    file = tmp_path / f"stock.{form}"
    recorder = vcr.VCR(serializer=form, decode_compressed_response=decode)
    async with serving([SCRIPT[0], packed, *SCRIPT[2:]]) as endpoint:
        with recorder.use_cassette(str(file), record_mode="all"):
            assert await ask(endpoint.base_url) == SAID
    assert b"sk-0123" in file.read_bytes()
    assert main(["cassettes", "import", str(tmp_path / "ours"), str(file), "--sample", "s1"]) == 0
    async with recorded("replay", tmp_path / "ours") as client:
        assert await ask(endpoint.base_url, client) == SAID
    assert len(endpoint.got) == 4
    with Store(tmp_path / "ours" / "agent.sqlite", writes=False) as store:
        assert store.names() == {"s1/1": True}
        assert "sk-0123" not in repr(list(store.exchanges("s1/1")))


bodies = st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode), st.just(b'{"a": "\\u0000 \xc2\x85"}'))
exchanges = st.builds(
    Exchange,
    method=st.sampled_from(["GET", "POST"]),
    url=st.just("http://a.example/x?y=%20z"),
    request_headers=st.just((("accept", "*/*"), ("x-aiq-role", "r"))),
    request_body=bodies,
    status=st.sampled_from([200, 404, 599]),
    response_headers=st.just((("content-type", "text/plain"), ("x-ratelimit-a", "1"), ("x-ratelimit-a", "2"))),
    response_body=bodies,
    role=st.just("r"),
)


@settings(max_examples=30)
@given(st.lists(exchanges, max_size=4))
def test_exported_exchanges_are_imported_unchanged(
    tmp_path_factory: pytest.TempPathFactory, kept: list[Exchange]
) -> None:
    file = tmp_path_factory.mktemp("vcr") / "cassette"
    for form in ("yaml", "json"):
        text, held, skipped = to_vcr(kept, form)
        file.write_text(text, encoding="ascii")
        imported = from_vcr(file, Redactor([]))
        assert len(imported) == held == len(kept) - skipped.total()
        assert imported == [exchange for exchange in kept if exchange in imported]
        assert form == "json" or not skipped


def test_what_vcrpy_cannot_hold_is_counted() -> None:
    exchanges = [
        Exchange(TOOL, "tool:///mine", status=200),
        Exchange("GET", "http://a.example", error="ConnectError: no"),
        Exchange("GET", "http://a.example", status=200, error=GIVEN_UP),
        Exchange("GET", "http://a.example", status=200, response_body=b"\xff"),
    ]
    skipped = {"call of a tool": 1, "failure without an answer": 1, "answer that broke off": 1}
    assert to_vcr(exchanges, "yaml")[1:] == (1, skipped)
    assert to_vcr(exchanges, "json")[1:] == (0, {**skipped, "body that is not text (YAML can hold it)": 1})


@given(st.lists(st.tuples(st.text(), st.integers(1, 12)), unique=True))
def test_file_names_are_safe_and_distinct(keys: list[tuple[str, int]]) -> None:
    names = [f"{sample}/{epoch}" for sample, epoch in keys] + ["shared", "CON/1", "con/1", "../x/1", "x" * 300 + "/1"]
    files = {file_name(name, "yaml") for name in names}
    assert len({file.lower() for file in files}) == len(set(names))
    assert all(file == os.path.basename(file) and file.isascii() and len(file) < 90 for file in files)  # noqa: PTH119
    assert file_name("s1/2", "json") == "s1-2.json"


GOOD = to_vcr([Exchange("GET", "http://a.example/", status=200, response_body=b"x")], "yaml")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its interactions are not of format version 1"),
        ("[]", "its interactions are not of format version 1"),
        ("{", "Expecting property name enclosed in double quotes"),
        (GOOD.replace("string: x", "strong: x"), "its interactions are not of format version 1"),
        (GOOD.replace("string: x", "string: 99999999999"), "its interactions are not of format version 1"),
        (GOOD.replace("string: x", "string: !!python/object/apply:os.getcwd []"), "could not determine a constructor"),
        (GOOD.replace("headers: {}", "headers: {Content-Encoding: [zstd]}"), "an answer is encoded as zstd"),
        (GOOD.replace("a.example", "a.example:99999"), "Port out of range"),
        (GOOD[: len(GOOD) // 2], "not"),
        ("\x00", "control characters are not allowed"),
    ],
)
def test_a_bad_file_is_reported_in_one_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    assert main(["cassettes", "import", str(tmp_path / "new"), str(file), "--sample", "s1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"aiq: {file}: not a readable vcrpy cassette: ")
    assert said in line
    assert not (tmp_path / "new").exists()


def test_the_values_of_secret_variables_are_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "correct-horse-battery")
    file = tmp_path / "theirs.yaml"
    kept = [
        Exchange("GET", "http://a.example/?q=correct-horse-battery", status=200, response_body=b"correct-horse-battery")
    ]
    file.write_text(to_vcr(kept, "yaml")[0])
    assert main(["cassettes", "import", str(tmp_path), str(file), "--sample", "a/b", "--epoch", "3", "--judge"]) == 0
    with Store(tmp_path / "judge.sqlite", writes=False) as store:
        (exchange,) = store.exchanges("a/b/3")
    assert (exchange.url, exchange.response_body) == (f"http://a.example/?q={MARK}", MARK.encode())
