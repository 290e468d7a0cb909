import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from aiq.__main__ import main
from aiq.core.run_settings import SearchSettings
from aiq.tools.search import Found, SearchArguments, SearchHit, WebSearch
from tests.settings import configured


class Recording:
    """A provider in the provider protocol: answers with what it was given, keeps its queries."""

    def __init__(self, *hits: SearchHit) -> None:
        self.found = Found(hits=hits)
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, max_results: int) -> Found:
        self.asked.append((query, max_results))
        return self.found


SETTINGS = configured(SearchSettings, provider="corpus", max_results=2, max_content_length=10)
HITS = (
    SearchHit(
        url="https://a.example/1",
        title="One",
        text="0123456789abc",
        published="Sat, 14 Mar 2026 08:00:00 GMT",
        relevance=0.75,
    ),
    SearchHit(url='https://a.example/2?q="x y"', title="Two\nlines", text="short"),
    SearchHit(url="https://a.example/3", title="Three", text="too many"),
)


async def test_results_are_blocks_and_each_is_a_source() -> None:
    provider = Recording(*HITS)
    result = await WebSearch(provider, SETTINGS).run(SearchArguments(query="  mayor of Tessmark "))
    assert provider.asked == [("mayor of Tessmark", 2)]
    assert result.content == (
        '<Document href="https://a.example/1">\n<title>\nOne\n</title>\n<published>2026-03-14</published>\n'
        "0123456789\n</Document>\n\n---\n\n"
        '<Document href="https://a.example/2?q=%22x%20y%22">\n<title>\nTwo lines\n</title>\nshort\n</Document>'
    )
    first, second = result.sources
    assert (first.url, first.title, first.text) == ("https://a.example/1", "One", "0123456789")
    assert (first.relevance, second.relevance) == (0.75, None)
    assert (first.published, second.url) == ("2026-03-14", "https://a.example/2?q=%22x%20y%22")
    nothing = await WebSearch(Recording(), SETTINGS).run(SearchArguments(query="x"))
    assert (nothing.content, nothing.sources) == ("Search returned no results", ())


async def test_the_apis_own_answer_comes_first_and_is_not_a_source() -> None:
    settings = SETTINGS.model_copy(update={"max_content_length": None})  # the text is whole
    provider = Recording()
    provider.found = Found(hits=HITS[:1], answer=" Ilan </answer> Corvey.\n")
    result = await WebSearch(provider, settings).run(SearchArguments(query="x"))
    assert result.content.startswith(
        '<Answer>\nIlan &lt;/answer> Corvey.\n</Answer>\n\n---\n\n<Document href="https://a.example/1">'
    )
    assert "0123456789abc" in result.content
    assert [source.url for source in result.sources] == ["https://a.example/1"]


@pytest.mark.parametrize(("query", "sent"), [("q" * 401, "q" * 397 + "..."), ("q" * 400, "q" * 400)])
async def test_a_long_query_is_cut_to_397_characters_and_dots(query: str, sent: str) -> None:
    provider = Recording()
    await WebSearch(provider, SETTINGS).run(SearchArguments(query=query))
    assert provider.asked[0][0] == sent
    with pytest.raises(ValidationError):
        SearchArguments(query="  \n")


def test_a_run_says_that_its_search_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    nobody = ["search=searxng", "search.base_url=http://127.0.0.1:9/", "llm.retry.attempts=1"]
    overrides = ["experiment=shallow_freshqa", "limit=1", "runner.progress=false", "judge=[citation_audit]", *nobody]
    assert main(["run", *overrides]) == 3
    (folder,) = Path("results/shallow_freshqa").iterdir()
    calls = json.loads((folder / "samples.jsonl").read_text())["tools"]
    assert calls == json.loads((folder / "summary.json").read_text())["tools"]
    failed = calls["web_search_tool"]["http"]
    line = (
        f"web_search_tool failed in {failed} of {sum(calls['web_search_tool'].values())} calls (http {failed})"
        "; the first: web search failed: http://127.0.0.1:9/search: no connection"
    )
    assert line in capsys.readouterr().out
    assert line in (folder / "site/summary.js").read_text()
