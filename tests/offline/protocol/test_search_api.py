"""Search and extraction in Tavily's shape, over loopback."""

from typing import Any

from tests.cases import table
from tests.offline.protocol.conftest import plain

each = table(__file__)


async def find(port: int, **request: Any) -> Any:
    async with plain(port) as client:
        return (await client.post("http://search.offline.example/search", json=request)).json()


async def test_search_has_tavilys_shape(offline_port: int) -> None:
    response = await find(offline_port, query="Who is the mayor of Tessmark?", max_results=2)
    assert response.keys() >= {"query", "answer", "images", "results", "response_time", "request_id"}
    assert {r["url"] for r in response["results"]} == {
        "https://atlas.offline.example/tessmark",
        "https://news.offline.example/2024/mayor?id=7",
    }
    scores = [r["score"] for r in response["results"]]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert all(len(r["content"]) <= 1000 and r["raw_content"] is None for r in response["results"])
    assert response["answer"] is None


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


@each("dated")
async def test_pages_without_a_date_are_not_found_by_date(offline_port: int, published: Any) -> None:
    response = await find(offline_port, query="泰斯马克市 Tessmark mayor", **published)
    assert "沃伦" not in str(response["results"])
    assert response["results"]
    assert response["results"][0]["score"] == 1.0


async def test_extract_gives_whole_pages_and_names_those_that_are_missing(offline_port: int) -> None:
    news, missing = "https://news.offline.example/2024/mayor?id=7", "https://news.offline.example/none"
    async with plain(offline_port) as client:
        url = "http://search.offline.example/extract"
        response = (await client.post(url, json={"urls": [news, missing]})).json()
        text = (await client.post(url, json={"urls": news, "format": "text"})).json()
    assert response.keys() >= {"results", "failed_results", "response_time", "request_id"}
    assert response["failed_results"] == [{"url": missing, "error": "404: there is no such page"}]
    [page] = response["results"]
    assert page["url"] == news
    assert page["raw_content"].startswith("# A mayor <resigns> & more\n\nIn 2024 the mayor")
    assert text["results"][0]["raw_content"].startswith("In 2024 the mayor")


@each("malformed")
async def test_malformed_requests_are_refused(offline_port: int, path: str, body: Any) -> None:
    async with plain(offline_port) as client:
        answer = await client.post(f"http://search.offline.example/{path}", json=body)
    assert answer.status_code == 400
    assert answer.json()["detail"]["error"]
