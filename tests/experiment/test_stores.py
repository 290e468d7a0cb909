"""What the judges of a run share: each page is fetched once, and each question asked once."""

import asyncio
import json
from pathlib import Path

import pytest

from aiq.core.errors import ModelError, ToolError, ToolErrorKind
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.experiment.stores import AnswerStore, PageStore, SharedAnswers
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_pages


class CountingWeb:
    """A web with every page except those with `gone` in their URL; answers when told to."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        self.fetched.append(url if reader is None else reader.address(url))
        await self.open.wait()
        if "gone" in url:
            raise ToolError(ToolErrorKind.TIMEOUT, f"{url} took too long")
        text = f"What stands at {url}, fetch {len(self.fetched)}. Größe, 大小."
        return Page(url=url, final_url=f"{url}#moved", title="A page", text=text, published="2026-01-02")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


async def test_a_page_is_fetched_once_for_all_waiting_and_outlives_the_process(folder: RunFolder) -> None:
    web = CountingWeb()
    web.open.clear()
    store = PageStore(web, folder)
    tasks = [asyncio.create_task(store.fetch(f"https://a.example/{n % 3}")) for n in range(30)]
    await asyncio.sleep(0)
    web.open.set()
    pages = await asyncio.gather(*tasks)
    store.close()
    assert sorted(web.fetched) == [f"https://a.example/{n}" for n in range(3)]
    assert all(page == pages[n % 3] for n, page in enumerate(pages))
    assert pages[1].final_url == "https://a.example/1#moved"
    assert (pages[1].title, pages[1].published) == ("A page", "2026-01-02")

    web = CountingWeb()
    store = PageStore(web, folder)
    assert [await store.fetch(f"https://a.example/{n}") for n in (2, 0, 1)] == [pages[2], pages[0], pages[1]]
    await store.fetch("https://a.example/3")
    store.close()
    assert web.fetched == ["https://a.example/3"]
    stored_pages = read_pages(folder)
    assert list(stored_pages) == [f"https://a.example/{n}" for n in range(4)]
    assert stored_pages["https://a.example/1"].text == pages[1].text
    assert stored_pages["https://a.example/1"].digest == pages[1].digest != pages[0].digest


async def test_a_torn_line_is_cut_and_its_page_fetched_again(folder: RunFolder) -> None:
    store = PageStore(CountingWeb(), folder)
    for n in range(3):
        await store.fetch(f"https://a.example/{n}")
    store.close()
    file = folder.path / "pages.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    web = CountingWeb()
    store = PageStore(web, folder)
    await store.fetch("https://a.example/1")
    assert (await store.fetch("https://a.example/2")).text.endswith("fetch 1. Größe, 大小.")
    store.close()
    assert web.fetched == ["https://a.example/2"]
    assert len([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]) == 3


async def test_a_failing_page_is_tried_once_per_process(folder: RunFolder) -> None:
    web = CountingWeb()
    store = PageStore(web, folder)
    for _ in range(2):
        pages = await asyncio.gather(*[store.fetch("https://gone.example/") for _ in range(5)], return_exceptions=True)
        assert {(error.kind, str(error)) for error in pages if isinstance(error, ToolError)} == {
            (ToolErrorKind.TIMEOUT, "https://gone.example/ took too long")
        }
        assert len(pages) == 5
    store.close()
    assert len(web.fetched) == 1
    store = PageStore(web, folder)
    with pytest.raises(ToolError):
        await store.fetch("https://gone.example/")
    store.close()
    assert len(web.fetched) == 2
    assert read_pages(folder) == {}


@pytest.mark.parametrize("cancelled", [0, 1])
async def test_cancelling_one_reader_leaves_the_page_to_the_others(folder: RunFolder, cancelled: int) -> None:
    """Whether the cancelled one was fetching (then another one takes over) or waiting."""
    web = CountingWeb()
    web.open.clear()
    store = PageStore(web, folder)
    tasks = [asyncio.create_task(store.fetch("https://a.example/")) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[cancelled].cancel()
    await asyncio.sleep(0)
    web.open.set()
    pages = await asyncio.gather(*tasks, return_exceptions=True)
    store.close()
    assert isinstance(pages[cancelled], asyncio.CancelledError)
    assert len([page for page in pages if isinstance(page, Page)]) == 2
    assert len(web.fetched) == (2 if cancelled == 0 else 1)
    assert list(read_pages(folder)) == ["https://a.example/"]


async def test_a_page_read_through_a_reader_service_is_stored_separately(folder: RunFolder) -> None:
    web = CountingWeb()
    store = PageStore(web, folder)
    plain = await store.fetch("https://a.example/")
    reader_page = await store.fetch("https://a.example/", Reader(template="https://reader.example/{url}"))
    second_page = await store.fetch("https://a.example/", Reader(template="https://reader.example/{url}"))
    store.close()
    assert web.fetched == ["https://a.example/", "https://reader.example/https://a.example/"]
    assert plain.text != reader_page.text == second_page.text
    assert reader_page.url == "https://a.example/"
    assert read_pages(folder)["https://a.example/"].text == reader_page.text  # the one fetched last


class Model:
    def __init__(self) -> None:
        self.asked = 0

    async def ask(self) -> str:
        self.asked += 1
        await asyncio.sleep(0)
        return f"answer {self.asked}"


async def test_a_question_is_asked_once_however_many_ask(folder: RunFolder) -> None:
    store, model = AnswerStore(folder), Model()
    judges = [SharedAnswers(store) for _ in range(5)]
    assert await asyncio.gather(*[judge.get_or_ask("q", model.ask) for judge in judges]) == ["answer 1"] * 5
    assert await judges[0].get_or_ask("other", model.ask) == "answer 2"
    for judge in judges:
        judge.write()
    store.close()
    file = folder.path / "answers.jsonl"
    assert len(file.read_text().splitlines()) == 2
    file.write_bytes(file.read_bytes()[:-4])  # a torn answer is asked for again
    store = AnswerStore(folder)
    assert await SharedAnswers(store).get_or_ask("q", model.ask) == "answer 1"
    assert model.asked == 2
    assert await SharedAnswers(store).get_or_ask("other", model.ask) == "answer 3"


async def test_only_answers_whose_cost_is_recorded_outlive_the_process(folder: RunFolder) -> None:
    """Otherwise a killed run would reuse an answer whose cost is in no row."""
    store, model = AnswerStore(folder), Model()
    written, unwritten = SharedAnswers(store), SharedAnswers(store)
    await written.get_or_ask("a", model.ask)
    await unwritten.get_or_ask("b", model.ask)
    await written.get_or_ask("b", model.ask)  # used, but not paid for here
    written.write()
    store = AnswerStore(folder)
    await SharedAnswers(store).get_or_ask("a", model.ask)
    assert model.asked == 2
    await SharedAnswers(store).get_or_ask("b", model.ask)
    assert model.asked == 3


async def test_after_a_failure_the_next_one_asks_the_question(folder: RunFolder) -> None:
    store, model = AnswerStore(folder), Model()

    async def fails() -> str:
        raise ModelError("nothing came")

    bad, good = SharedAnswers(store), SharedAnswers(store)
    texts = await asyncio.gather(bad.get_or_ask("q", fails), good.get_or_ask("q", model.ask), return_exceptions=True)
    assert isinstance(texts[0], ModelError)
    assert texts[1] == "answer 1"
    bad.write()
    assert not (folder.path / "answers.jsonl").exists()
    good.write()
    assert (folder.path / "answers.jsonl").read_text()
