"""The network below model calls: requests and answers unchanged, and errors that say whether a request went out."""

import asyncio
import gzip
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Message
from aiq.llm.http import ConnectError, ReadError, ReadTimeout, Request, RequestError, create_ssl_context
from aiq.llm.models import RunModels
from aiq.llm.network import ModelTransport
from aiq.llm.transport import open_client
from tests.llm.endpoint import CUT, OK, Endpoint, completed, http
from tests.settings import configured


def asked(url: str) -> Request:
    return Request("POST", url, json={"a": "é"}, headers={"X-Own": "b"}, extensions={"timeout": {"read": 0.3}})


async def sent(url: str) -> bytes:
    transport = ModelTransport(create_ssl_context())
    try:
        answer = await transport.handle_async_request(asked(url))
        return await answer.aread()
    finally:
        await transport.aclose()


async def test_requests_and_answers_are_not_changed(bench: Any) -> None:
    policy = "p" * 20_000  # longer than aiohttp allows by itself
    zipped = http(302, gzip.compress(b"here"), content_encoding="gzip", location="/b", set_cookie="a=b", policy=policy)
    async with bench([zipped]) as b:
        assert await sent(f"{b.endpoint.base_url}/a%2Fb?c=%20") == b"here"
        (got,) = b.endpoint.got
        assert (got.method, got.path, got.body) == ("POST", "/v1/a%2Fb?c=%20", {"a": "é"})
        assert set(got.headers) == {"host", "content-length", "content-type", "x-own"}


@pytest.mark.parametrize(
    ("answer", "delay", "error", "said"),
    [
        (CUT, 0.0, ReadError, "Server disconnected"),
        (b"no HTTP\r\n\r\n", 0.0, ReadError, None),
        (http(200, b"half", content_length="9"), 0.0, ReadError, "the connection closed before the answer was whole"),
        (OK, 2.0, ReadTimeout, None),
        (None, 0.0, ConnectError, "Connect call failed"),
    ],
    ids=["cut", "no HTTP", "half", "silent", "nobody listens"],
)
async def test_an_error_says_whether_the_request_went_out(
    bench: Any, answer: bytes | None, delay: float, error: type[RequestError], said: str | None
) -> None:
    async with bench([OK if answer is None else answer], delay=delay) as b:
        if answer is None:
            b.endpoint.close()
        with pytest.raises(error, match=said) as raised:
            await sent(b.endpoint.base_url)
        assert type(raised.value) is error
        assert len(b.endpoint.got) == (answer is not None)


async def test_model_calls_go_through_the_proxies_of_the_machine(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench([http(200, completed())]) as b:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{b.endpoint.port}")  # as curl takes it
        settings = configured(LlmSettings, base_url="http://elsewhere.example/v1", model="m")
        async with open_client(settings, offline_port=None) as client:
            reply = await RunModels(settings, client).complete("a.b", [Message(role="user", content="x")])
        assert reply.text == "hello"
        assert [got.path for got in b.endpoint.got] == ["http://elsewhere.example/v1/chat/completions"]


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """The certificate of localhost, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the test's certificate")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    command = ["openssl", "req", "-x509", *kind, "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


async def test_certificates_are_checked_against_those_of_the_environment(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*certificate)
    server = await asyncio.start_server(Endpoint([OK]).serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectError, match="certificate"):
            await sent(f"https://localhost:{port}/")
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        assert b"hello" in await sent(f"https://localhost:{port}/")
        with pytest.raises(ConnectError, match="certificate"):
            await sent(f"https://127.0.0.1:{port}/")
