"""The live web: the guard where connections are made, limits, certificates, reader services."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.run_settings import WebSettings
from aiq.core.tools import Reader
from aiq.tools.corpus import Corpus
from aiq.tools.live import LiveWeb
from aiq.tools.web import CorpusWeb
from tests.cases import table
from tests.settings import configured
from tests.tools.conftest import serving

each = table(__file__)

KEY = "reader-secret-1"

NAMES = {
    **{name: ["127.0.0.1"] for name in ("good.example", "other.example", "reader.example", "page.example")},
    "inner.example": ["10.0.0.8"],
    "both.example": ["93.184.215.14", "127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
}


class Names:
    """A resolver over a table; `asked` records every lookup."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        if host in NAMES:
            return NAMES[host]
        if host.replace(".", "").isdigit():
            return [host]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def live(*allow: str, resolve: Names | None = None, **limits: Any) -> LiveWeb:
    settings = {"kind": "live", "allow_hosts": allow, "timeout_seconds": 5.0, **limits}
    return LiveWeb(configured(WebSettings, **settings), resolve=resolve or Names())


async def refused(web: LiveWeb, url: str, kind: ToolErrorKind, said: str = ".", reader: Reader | None = None) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        await web.fetch(url, reader)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)


async def test_a_listed_host_is_fetched_at_the_address_it_resolved_to(pages_port: int) -> None:
    names = Names()
    page = await live(f"good.example:{pages_port}", resolve=names).fetch(f"http://good.example:{pages_port}/article")
    assert (page.title, page.published) == ("Velmora Institute", "2026-03-14")
    assert "Ilan Corvey" in page.text
    assert names.asked == [("good.example", pages_port)]  # once: no second lookup could tell another address
    by_the_system = LiveWeb(configured(WebSettings, kind="live", allow_hosts=(f"localhost:{pages_port}",)))
    redirected = f"http://localhost:{pages_port}/away?to=/article"
    page = await by_the_system.fetch(redirected)
    assert (page.url, page.final_url) == (redirected, f"http://localhost:{pages_port}/article")


async def test_a_name_that_leads_inside_is_refused_when_connecting_and_an_inner_address_before_any_lookup() -> None:
    names = Names()
    await refused(live(resolve=names), "http://127.0.0.1/", ToolErrorKind.BLOCKED)
    assert names.asked == []
    for host in ("inner.example", "both.example", "mapped.example"):
        await refused(live(), f"http://{host}/", ToolErrorKind.BLOCKED, host)


@each("path")
async def test_each_redirect_and_answer_is_checked(pages_port: int, path: str, kind: ToolErrorKind, said: str) -> None:
    start = time.monotonic()
    site, seconds = f"127.0.0.1:{pages_port}", 0.5 if path == "slow" else 20
    web = live(site, max_redirects=3, max_bytes=1_000_000, timeout_seconds=seconds)
    await refused(web, f"http://{site}/{path}", kind, said)
    assert path != "slow" or time.monotonic() - start < 3


async def test_a_denied_page_is_not_read_by_a_detour() -> None:
    web = live(deny=("good.example/answers",))
    await refused(web, f"http://good.example/{'x' * 3000}/../answers/1", ToolErrorKind.DENIED)


async def test_an_unknown_name_and_a_closed_port_are_http_errors() -> None:
    await refused(live(), "http://nowhere.example/", ToolErrorKind.HTTP)
    await refused(LiveWeb(configured(WebSettings, kind="live")), "http://a..b/", ToolErrorKind.HTTP, "has no address")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    await refused(live("127.0.0.1"), f"http://127.0.0.1:{port}/", ToolErrorKind.HTTP)


async def test_no_cookie_or_key_leaves_with_a_request(pages_port: int) -> None:
    page = await live(f"127.0.0.1:{pages_port}").fetch(f"http://127.0.0.1:{pages_port}/headers")
    assert sorted(json.loads(page.text)) == ["accept", "accept-encoding", "connection", "host", "user-agent"]


@pytest.fixture
def secure_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An HTTPS server whose certificate is good.example's, trusted by this process."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the test's certificate")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    name = ["-subj", "/CN=good.example", "-addext", "subjectAltName=DNS:good.example"]
    command = ["openssl", "req", "-x509", *kind, *name, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)

    async def hello(request: Request) -> Response:
        return PlainTextResponse(f"hello {request.url.hostname}")

    app = Starlette(routes=[Route("/", hello)])
    with serving(app, ssl_certfile=certificate, ssl_keyfile=key, log_level="critical") as port:
        yield port


async def test_the_certificate_is_checked_against_the_name(secure_port: int) -> None:
    web = live(f"good.example:{secure_port}", f"other.example:{secure_port}")
    assert (await web.fetch(f"https://good.example:{secure_port}/")).text == "hello good.example"
    await refused(web, f"https://other.example:{secure_port}/", ToolErrorKind.HTTP, "certificate")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER_KEY", KEY)


Reading = tuple[LiveWeb, str, Callable[[str], Reader]]


@pytest.fixture
def reading(pages_port: int) -> Reading:
    """A web with a page and a reader service, the page's site, and a maker of readers with the service's key."""

    def reader(path: str) -> Reader:
        return Reader(template=f"http://reader.example:{pages_port}/{path}={{url}}", key_env="READER_KEY")

    web = live(f"reader.example:{pages_port}", f"page.example:{pages_port}")
    return web, f"http://page.example:{pages_port}", reader


def test_the_address_of_a_page_at_the_service() -> None:
    page = "https://a.example/x?y=1&z=2"
    assert Reader(template="https://r.example/{url}").address(page) == f"https://r.example/{page}"
    in_query = Reader(template="https://r.example/read?u={url}&as=text").address(page)
    assert in_query == "https://r.example/read?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&as=text"


async def test_the_service_alone_gets_its_key_and_the_page_keeps_its_address(reading: Reading) -> None:
    web, site, reader = reading
    page = await web.fetch(f"{site}/article", reader("headers?of"))
    assert json.loads(page.text)["authorization"] == f"Bearer {KEY}"
    assert page.url == f"{site}/article"
    assert page.final_url.startswith(f"{site.replace('page', 'reader')}/headers?of=")
    keyless = Reader(template=reader("headers?of").template)
    assert "authorization" not in json.loads((await web.fetch(page.url, keyless)).text)
    redirected = await web.fetch(f"{site}/headers", reader("away?to"))  # to the page, which shows what it was sent
    assert redirected.final_url == f"{site}/headers"
    assert KEY not in redirected.text
    await refused(web, f"{site}/article", ToolErrorKind.HTTP, "HTTP 401", reader("status/401?of"))


async def test_a_service_that_answers_in_json_gives_title_description_and_text(reading: Reading) -> None:
    web, site, reader = reading
    page = await web.fetch(f"{site}/article", reader("reader?of"))
    assert (page.url, page.final_url) == (f"{site}/article", f"{site}/article")
    assert (page.content, page.published) == ("Velmora\n\nAn institute.\n\nGlass.", "2026-03-14")


async def test_what_a_service_is_not_asked_for(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    web, site, reader = reading
    for url in ("http://10.0.0.8/inner", "file:///etc/passwd", "http://user:pw@page.example/"):
        await refused(web, url, ToolErrorKind.BLOCKED, reader=reader("headers?of"))
    with pytest.raises(ToolError, match="no reader service; take web=live"):
        await CorpusWeb(Corpus([])).fetch("https://a.example/", reader("headers?of"))
    monkeypatch.delenv("READER_KEY")
    with pytest.raises(ConfigError, match="READER_KEY: this environment variable is not set"):
        await web.fetch(f"{site}/article", reader("headers?of"))
