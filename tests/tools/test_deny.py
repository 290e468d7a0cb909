"""`web.deny`: which addresses its patterns mean, and that pages, redirects, search results and papers keep to it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.run_settings import PapersSettings, SearchSettings, WebSettings
from aiq.core.tools import Reader
from aiq.experiment.compose import config_of_options
from aiq.tools.corpus import Corpus, CorpusPage
from aiq.tools.deny import DenyList
from aiq.tools.live import LiveWeb
from aiq.tools.papers import Paper, PaperArguments, PaperSearch, Years
from aiq.tools.search import Found, SearchArguments, SearchHit, WebSearch
from aiq.tools.web import CorpusWeb, FetchArguments, FetchPage
from tests.cases import table
from tests.settings import configured

each = table(__file__)

PATTERNS = (
    "*.example.org",
    "data.example/sets/*",
    "sheets.example/d",
    "*/*team/questions*",
    "Bücher.example",
    "folder.example/q%20a/",
)


@each("url")
def test_which_addresses_the_patterns_mean(url: str, denied: bool) -> None:
    assert DenyList(PATTERNS).has(url) is denied
    assert not DenyList().has(url)


def test_a_hostile_address_is_checked_quickly() -> None:
    start = time.process_time()
    assert not DenyList(PATTERNS).has("https://x.example/" + "a.b/" * 10_000)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("pattern", ["https://a.example/", "/sets", " ", " a.example", "a.example:8080/sets"])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is not a pattern: write a host"):
        configured(WebSettings, kind="live", deny=[pattern])


@each("benchmarks")
def test_the_live_web_denies_the_homes_of_the_benchmarks(url: str, denied: bool) -> None:
    assert DenyList(config_of_options(["web=live"])["web"]["deny"]).has(url) is denied


async def denied(web: Any, url: str, reader: Reader | None = None) -> None:
    with pytest.raises(ToolError, match=r"may not be read in this run \(web\.deny\)$") as caught:
        await web.fetch(url, reader)
    assert caught.value.kind is ToolErrorKind.DENIED


async def test_pages_redirects_and_reader_services_keep_to_it(pages_port: int) -> None:
    site = f"http://localhost:{pages_port}"
    settings = configured(WebSettings, kind="live", allow_hosts=["localhost", "127.0.0.1"], deny=["127.0.0.1/article"])
    web = LiveWeb(settings)
    assert (await web.fetch(f"{site}/article")).title == "Velmora Institute"
    await denied(web, f"http://127.0.0.1:{pages_port}/article")
    await denied(web, f"{site}/away?to=http://127.0.0.1:{pages_port}/article")
    await denied(web, f"http://127.0.0.1:{pages_port}/article", Reader(template=f"{site}/read?u={{url}}"))
    redirecting = Reader(template=f"{site}/reader?final=http%3A//127.0.0.1/article&of={{url}}")
    await denied(web, f"{site}/other", redirecting)
    page = CorpusPage(url="https://data.example/sets/one", title="One", text="The answer is 42.")
    await denied(CorpusWeb(Corpus([page]), PATTERNS), page.url)


class Given:
    """A provider that finds the same for every query."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = urls

    async def search(self, query: str, *bounds: Years | int) -> Any:
        if len(bounds) > 1:
            return [Paper(title=url, link=url) for url in self._urls]
        return Found(hits=tuple(SearchHit(url=url, title=url, text="42") for url in self._urls))


async def test_search_results_and_papers_are_left_out_and_counted(a_session: Any) -> None:
    urls = ["https://data.example/sets/one", "https://news.example/"]
    search = WebSearch(Given(urls), configured(SearchSettings, provider="corpus"), PATTERNS)
    papers = PaperSearch(Given(urls), configured(PapersSettings), PATTERNS)
    for result in (await search.run(SearchArguments(query="x")), await papers.run(PaperArguments(query="x"))):
        assert [source.url for source in result.sources] == urls[1:]
        assert urls[0] not in result.content
        assert result.denied == 1
    page = CorpusPage(url=urls[0], title="One", text="The answer is 42.")
    session = a_session(search, FetchPage(CorpusWeb(Corpus([page]), PATTERNS), max_chars=100))
    await session.call_tool("web_search_tool", {"query": "x"})
    with pytest.raises(ToolError):
        await session.call_tool("fetch_page", FetchArguments(url=urls[0]).model_dump())
    assert session.denied == 2


def test_a_run_counts_what_was_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = ["experiment=shallow_freshqa", "limit=1", "runner.progress=false", "judge=[citation_audit]"]
    assert main(["run", *settings, "web.deny=[*.offline.example]"]) == 0
    (folder,) = Path("results/shallow_freshqa").iterdir()
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    count = sum(row["denied"] for row in rows)
    assert count > 0
    assert not any(row["sources"] for row in rows)
    line = f"web.deny kept {count} pages or search results from agents"
    assert line in capsys.readouterr().out
    assert line in (folder / "site/summary.js").read_text()
    assert json.loads((folder / "summary.json").read_text())["denied"] == count
