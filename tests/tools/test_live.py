"""The live web: the guard where connections are made, limits, certificates, reader services."""

import datetime
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.core.tools import Reader
from aiq.tools.corpus import Corpus
from aiq.tools.live import LiveWeb
from aiq.tools.web import CorpusWeb
from tests.settings import configured

NAMES = {
    **{name: ["127.0.0.1"] for name in ("good.example", "other.example", "reader.example", "page.example")},
    "inner.example": ["10.0.0.8"],
    "both.example": ["93.184.215.14", "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
}


class Names:
    """A resolver over a table; `asked` keeps every lookup."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        if host in NAMES:
            return NAMES[host]
        if host.replace(".", "").isdigit():
            return [host]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def live(*allow: str, resolve: Callable[[str, int], Awaitable[list[str]]] | None = None, **settings: float) -> LiveWeb:
    values = {"timeout_seconds": 5.0, **settings}
    return LiveWeb(
        configured(WebSettings, **{"kind": "live", "allow_hosts": allow, **values}), resolve=resolve or Names()
    )


async def failure(web: LiveWeb, url: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await web.fetch(url)
    assert "\n" not in str(caught.value)
    return caught.value


async def test_a_listed_host_is_fetched_at_the_address_it_resolved_to(pages_port: int) -> None:
    names = Names()
    page = await live(f"good.example:{pages_port}", resolve=names).fetch(f"http://good.example:{pages_port}/article")
    assert page.title == "Velmora Institute"
    assert "Ilan Corvey" in page.text
    assert page.published == "2026-03-14"
    assert names.asked == [("good.example", pages_port)]  # once: no second lookup could tell another address


async def test_the_system_resolver_is_the_default(pages_port: int) -> None:
    web = LiveWeb(configured(WebSettings, kind="live", allow_hosts=(f"localhost:{pages_port}",)))
    assert "Ilan Corvey" in (await web.fetch(f"http://localhost:{pages_port}/article")).text


@pytest.mark.parametrize("host", ["inner.example", "both.example", "mapped.example"])
async def test_a_name_that_leads_inside_is_refused_when_connecting(host: str) -> None:
    error = await failure(live(), f"http://{host}/")
    assert error.kind is ToolErrorKind.BLOCKED
    assert host in str(error)


async def test_an_inner_address_is_refused_before_any_lookup(pages_port: int) -> None:
    names = Names()
    error = await failure(live(resolve=names), "http://127.0.0.1/")
    assert error.kind is ToolErrorKind.BLOCKED
    assert names.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://inner.example/",
        "http://127.0.0.1:1/",
        "https://user:pw@good.example/",
        "file:///etc/passwd",
        "//inner.example/x",
    ],
)
async def test_each_redirect_is_checked(pages_port: int, target: str) -> None:
    error = await failure(live(f"127.0.0.1:{pages_port}"), f"http://127.0.0.1:{pages_port}/away?to={target}")
    assert error.kind is ToolErrorKind.BLOCKED


async def test_a_redirect_that_is_fine_is_followed(pages_port: int) -> None:
    url = f"http://127.0.0.1:{pages_port}/away?to=/article"
    page = await live(f"127.0.0.1:{pages_port}").fetch(url)
    assert (page.url, page.final_url) == (url, f"http://127.0.0.1:{pages_port}/article")


async def test_a_redirect_loop_ends(pages_port: int) -> None:
    error = await failure(live(f"127.0.0.1:{pages_port}", max_redirects=3), f"http://127.0.0.1:{pages_port}/loop/0")
    assert error.kind is ToolErrorKind.HTTP
    assert "more than 3 redirects" in str(error)


@pytest.mark.parametrize("path", ["bomb", "endless"])
async def test_a_huge_body_is_cut_off_at_the_limit(pages_port: int, path: str) -> None:
    error = await failure(live(f"127.0.0.1:{pages_port}", max_bytes=1_000_000), f"http://127.0.0.1:{pages_port}/{path}")
    assert error.kind is ToolErrorKind.TOO_LARGE


async def test_a_slow_body_meets_the_total_time_limit(pages_port: int) -> None:
    start = time.monotonic()
    error = await failure(live(f"127.0.0.1:{pages_port}", timeout_seconds=0.5), f"http://127.0.0.1:{pages_port}/slow")
    assert error.kind is ToolErrorKind.TIMEOUT
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, ToolErrorKind.NOT_AVAILABLE),
        (410, ToolErrorKind.NOT_AVAILABLE),
        (403, ToolErrorKind.HTTP),
        (500, ToolErrorKind.HTTP),
    ],
)
async def test_statuses_are_typed(pages_port: int, status: int, kind: ToolErrorKind) -> None:
    error = await failure(live(f"127.0.0.1:{pages_port}"), f"http://127.0.0.1:{pages_port}/status/{status}")
    assert error.kind is kind
    assert f"HTTP {status}" in str(error)


async def test_an_unknown_name_and_a_closed_port_are_http_errors() -> None:
    assert (await failure(live(), "http://nowhere.example/")).kind is ToolErrorKind.HTTP
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert (await failure(live("127.0.0.1"), f"http://127.0.0.1:{port}/")).kind is ToolErrorKind.HTTP


async def test_no_cookie_or_key_leaves_with_a_request(pages_port: int) -> None:
    page = await live(f"127.0.0.1:{pages_port}").fetch(f"http://127.0.0.1:{pages_port}/headers")
    assert sorted(json.loads(page.text)) == ["accept", "accept-encoding", "connection", "host", "user-agent"]


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for `name` and its key."""
    pytest.importorskip("cryptography", reason="makes the test's certificate")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "cert.pem", folder / "key.pem"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_file, key_file


@pytest.fixture
def secure_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Any]) -> Iterator[int]:
    """An HTTPS server whose certificate is good.example's, trusted by this process."""
    certificate_file, key_file = certificate(tmp_path, "good.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_file))

    async def hello(request: Request) -> Response:
        return PlainTextResponse(f"hello {request.url.hostname}")

    app = Starlette(routes=[Route("/", hello)])
    with serve(app, ssl_certfile=str(certificate_file), ssl_keyfile=str(key_file), log_level="critical") as port:
        yield port


async def test_the_certificate_is_checked_against_the_name(secure_port: int) -> None:
    web = live(f"good.example:{secure_port}", f"other.example:{secure_port}")
    assert (await web.fetch(f"https://good.example:{secure_port}/")).text == "hello good.example"
    with pytest.raises(ToolError, match="certificate") as caught:
        await web.fetch(f"https://other.example:{secure_port}/")
    assert caught.value.kind is ToolErrorKind.HTTP


KEY = "reader-secret-1"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER_KEY", KEY)


def reading(port: int) -> LiveWeb:
    return live(f"reader.example:{port}", f"page.example:{port}")


def test_the_address_of_a_page_at_the_service() -> None:
    page = "https://a.example/x?y=1&z=2"
    assert Reader(template="https://r.example/{url}").address(page) == f"https://r.example/{page}"
    in_query = Reader(template="https://r.example/read?u={url}&as=text").address(page)
    assert in_query == "https://r.example/read?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&as=text"


async def test_the_service_gets_its_key_and_the_page_keeps_its_address(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/headers?of={{url}}", key_env="READER_KEY")
    page = await reading(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
    assert json.loads(page.text)["authorization"] == f"Bearer {KEY}"
    assert page.url == f"http://page.example:{pages_port}/article"
    assert page.final_url.startswith(f"http://reader.example:{pages_port}/headers?of=")
    keyless = Reader(template=reader.template)
    assert "authorization" not in json.loads((await reading(pages_port).fetch(page.url, keyless)).text)


async def test_the_key_goes_to_the_service_alone(pages_port: int) -> None:
    """The service redirects to the page itself, which shows the headers that it was sent."""
    reader = Reader(template=f"http://reader.example:{pages_port}/away?to={{url}}", key_env="READER_KEY")
    page = await reading(pages_port).fetch(f"http://page.example:{pages_port}/headers", reader)
    assert page.final_url == f"http://page.example:{pages_port}/headers"
    assert KEY not in page.text


async def test_the_service_is_not_told_what_the_guard_would_refuse(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/headers?of={{url}}", key_env="READER_KEY")
    for url in ("http://10.0.0.8/inner", "file:///etc/passwd", "http://user:pw@page.example/"):
        with pytest.raises(ToolError) as caught:
            await reading(pages_port).fetch(url, reader)
        assert caught.value.kind is ToolErrorKind.BLOCKED


async def test_what_the_service_refuses_shows_no_key(pages_port: int) -> None:
    reader = Reader(template=f"http://reader.example:{pages_port}/status/401?of={{url}}", key_env="READER_KEY")
    with pytest.raises(ToolError, match="HTTP 401") as caught:
        await reading(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
    assert KEY not in str(caught.value)


async def test_a_missing_key_and_a_closed_web_say_so(pages_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(template="http://reader.example/{url}", key_env="READER_KEY")
    with pytest.raises(ToolError, match="no reader service; take web=live"):
        await CorpusWeb(Corpus([])).fetch("https://a.example/", reader)
    monkeypatch.delenv("READER_KEY")
    with pytest.raises(ConfigError, match="READER_KEY: this environment variable is not set"):
        await reading(pages_port).fetch(f"http://page.example:{pages_port}/article", reader)
