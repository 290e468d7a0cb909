"""The live web against a real server on loopback: the guard where connections are made, and the limits."""

import json
import socket
import time
from collections.abc import Awaitable, Callable

import pytest

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.tools.live import LiveWeb

NAMES = {
    "good.example": ["127.0.0.1"],
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
        WebSettings.model_validate({"kind": "live", "allow_hosts": allow, **values}), resolve=resolve or Names()
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
    web = LiveWeb(WebSettings(kind="live", allow_hosts=(f"localhost:{pages_port}",)))
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
