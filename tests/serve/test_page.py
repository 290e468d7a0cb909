"""The page in a real browser: ask, approve a plan, read the report; and a hostile report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.conftest import Api, served

playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def opened(window: Any, api: Api) -> tuple[Any, list[str]]:
    """The page, opened once, and the errors of its scripts."""
    page, failures = window.new_page(), list[str]()
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(api.address)
    return page, failures


@pytest.fixture
def page(opened: tuple[Any, list[str]]) -> Iterator[Any]:
    """The page, whose scripts must not fail."""
    yield opened[0]
    assert opened[1] == []


def ask(page: Any, query: str) -> None:
    page.fill("#query", query)
    page.click("#send")


def shows(page: Any, place: str, text: str) -> None:
    """Wait until the page shows it; the page's policy does not allow evaluating a condition there."""
    playwright.expect(page.locator(place)).to_contain_text(text)


def test_ask_approve_a_plan_and_read_the_report(page: Any) -> None:
    ask(page, "plan a house")
    page.wait_for_selector("#approval:not([hidden])")
    assert page.inner_text("#prompt") == "**Plan** a house"
    page.fill("#feedback", "with a door")
    page.click("#change")
    shows(page, "#prompt", "with a door")
    page.click("#approve")
    page.wait_for_selector("#report:not([hidden])")
    assert page.inner_text("#text").strip() == "It says: approve a house, with a door"
    assert page.inner_text("#status") == "completed"
    assert "plan for you" in page.inner_text("#events")
    page.reload()
    page.wait_for_selector("#report:not([hidden])")
    assert "with a door" in page.inner_text("#text")


def test_a_task_is_watched_and_cancelled(page: Any) -> None:
    ask(page, "rounds 1000")
    shows(page, "#events", "round 3: query 3")
    page.click("#cancel")
    shows(page, "#status", "cancelled")


def test_a_server_with_keys_is_asked_with_one(window: Any, tmp_path: Path) -> None:
    with served(tmp_path, "serve.agents=[shannon]", keys={"one": None}) as api:
        page = window.new_page()
        page.goto(api.address)
        playwright.expect(page.locator("#agent option")).to_have_text(["python", "shannon"])
        ask(page, "plan a house")
        shows(page, "#status", "send a valid key")
        page.fill("#key", api.key)
        page.click("#send")
        page.click("#reject")
        shows(page, "#text", "It says: reject a house")
        page.close()


def test_a_hostile_agent_executes_nothing(page: Any, api: Api) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    ask(page, "hostile")
    page.wait_for_selector("#approval:not([hidden])")
    page.click("#approve")
    page.wait_for_selector("#report:not([hidden])")
    page.wait_for_timeout(200)
    assert page.title() == "aiq"
    assert page.locator("#text, #events, #sources, #prompt").locator("script, img, iframe, [onerror]").count() == 0
    hrefs = page.eval_on_selector_all("#text a", "links => links.map(link => link.getAttribute('href'))")
    assert all(href.startswith(("http://", "https://")) for href in hrefs)
    assert all(url.startswith(api.address) for url in urls)


def test_a_stock_event_source_follows_a_task_to_its_end(page: Any, api: Api) -> None:
    """The last event closes it; otherwise it would reconnect and be told that there is no more (204)."""
    task_id = api.ask("rounds 5").json()["task_id"]
    ids = page.evaluate(
        """id => new Promise(done => {
            const source = new EventSource(`/api/v1/stream/sse?workflow_id=${id}`), ids = [];
            const heard = event => ids.push(Number(event.lastEventId));
            for (const type of ["WORKFLOW_STARTED", "PROGRESS", "DATA_PROCESSING", "LLM_OUTPUT", "WORKFLOW_COMPLETED"])
                source.addEventListener(type, heard);
            source.addEventListener("STREAM_END", event => { heard(event); source.close(); done(ids); });
        })""",
        task_id,
    )
    assert ids == list(range(1, len(ids) + 1))
    assert len(ids) == len(api.events(task_id))
