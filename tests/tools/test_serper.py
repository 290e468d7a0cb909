"""The Serper wire format of Google Scholar against a real server that speaks it."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import PapersSettings
from aiq.llm.http import AsyncClient
from aiq.tools.paper_providers.serper import Provider
from aiq.tools.papers import Paper
from aiq.tools.toolbox import build_paper_provider

KEY = "serper-0123456789"


class FakeSerper:
    """What the server saw, and what it answers next."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer: Response = JSONResponse({"organic": []})


@pytest.fixture(scope="module")
def serper() -> FakeSerper:
    return FakeSerper()


@pytest.fixture(scope="module")
def port(serper: FakeSerper, serve: Callable[[Starlette], AbstractContextManager[int]]) -> Iterator[int]:
    async def scholar(request: Request) -> Response:
        serper.seen.append({"headers": dict(request.headers), "body": json.loads(await request.body())})
        return serper.answer

    with serve(Starlette(routes=[Route("/scholar", scholar, methods=["POST"])])) as number:
        yield number


@pytest.fixture
def provider(port: int, run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    return Provider(PapersSettings(provider="serper", base_url=f"http://127.0.0.1:{port}/"), run_client)


async def test_a_search_is_sent_and_read_as_the_api_has_it(provider: Provider, serper: FakeSerper) -> None:
    serper.answer = JSONResponse(
        {
            "searchParameters": {"q": "tides", "type": "scholar", "engine": "google-scholar"},
            "organic": [
                {
                    "title": "On tides",
                    "link": "https://papers.example/1",
                    "publicationInfo": "A Corvey - Journal of Tides, 2021",
                    "snippet": "We measure ...",
                    "year": 2021,
                    "citedBy": 12,
                    "pdfUrl": "https://papers.example/1.pdf",
                    "id": "x1",
                },
                {"title": "[CITATION] Old tides"},
                {"title": "One too many"},
            ],
            "credits": 1,
        }
    )
    assert await provider.search("tides", (2019, None), 2) == [
        Paper(
            title="On tides",
            link="https://papers.example/1",
            year=2021,
            publication="A Corvey - Journal of Tides, 2021",
            citations=12,
            snippet="We measure ...",
        ),
        Paper(title="[CITATION] Old tides"),
    ]
    assert serper.seen[-1]["headers"]["x-api-key"] == KEY
    assert serper.seen[-1]["body"] == {"q": "tides", "num": 2, "as_ylo": 2019}


@pytest.mark.parametrize(
    ("years", "bounds"),
    [((None, None), {}), ((None, 1999), {"as_yhi": 1999}), ((2020, 2020), {"as_ylo": 2020, "as_yhi": 2020})],
)
async def test_years_become_bounds(
    provider: Provider, serper: FakeSerper, years: tuple[int | None, int | None], bounds: dict[str, int]
) -> None:
    serper.answer = JSONResponse({"organic": []})
    assert await provider.search("x", years, 10) == []
    assert serper.seen[-1]["body"] == {"q": "x", "num": 10, **bounds}


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "Missing query parameter", ToolErrorKind.INVALID_ARGUMENTS),
        (400, "Not enough credits", ToolErrorKind.QUOTA),
        (401, "Unauthorized.", ToolErrorKind.UNAUTHORIZED),
        (403, "Unauthorized.", ToolErrorKind.UNAUTHORIZED),
        (429, "Too many requests", ToolErrorKind.QUOTA),
        (500, "oops", ToolErrorKind.HTTP),
        (503, "oops", ToolErrorKind.HTTP),
    ],
)
async def test_refusals_are_typed_and_never_show_the_key(
    provider: Provider, serper: FakeSerper, status: int, said: str, kind: ToolErrorKind
) -> None:
    serper.answer = JSONResponse({"message": f"{said} ({KEY})", "statusCode": status}, status_code=status)
    with pytest.raises(ToolError) as caught:
        await provider.search("x", (None, None), 3)
    assert caught.value.kind is kind
    assert str(caught.value) == (
        f"Paper search failed: unable to fetch results from Serper (HTTP {status}: {said} (***))"
    )


def test_an_unset_key_is_told_before_the_run(run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"papers\.api_key_env=SERPER_API_KEY"):
        Provider(PapersSettings(provider="serper"), run_client)
    with pytest.raises(ConfigError, match=r"papers\.api_key_env must name the variable"):
        Provider(PapersSettings(provider="serper", api_key_env=None), run_client)


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("arxiv", r"papers\.provider=arxiv: there is no such provider; there are: serper"),
        ("no.such.module:Provider", r"papers\.provider: there is no module"),
    ],
)
def test_an_unknown_provider_is_one_line(provider: str, said: str, run_client: AsyncClient) -> None:
    with pytest.raises(ConfigError, match=said):
        build_paper_provider(PapersSettings(provider=provider), run_client)
