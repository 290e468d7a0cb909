import pytest
from pydantic import ValidationError

from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.tools.corpus import Corpus, CorpusPage
from aiq.tools.fetch import FetchArguments, FetchPage
from aiq.tools.web import CorpusWeb

WEB = CorpusWeb(
    Corpus(
        [CorpusPage(url="https://a.example/orlune", title="Orlune", text="0123456789abcdef", published="2026-03-14")]
    )
)


async def test_a_page_is_a_block_and_a_source() -> None:
    result = await FetchPage(WEB, max_chars=100).run(FetchArguments(url=" https://a.example/orlune "))
    assert result.content == (
        '<Document href="https://a.example/orlune">\n<title>\nOrlune\n</title>\n'
        "<published>2026-03-14</published>\n0123456789abcdef\n</Document>"
    )
    (source,) = result.sources
    assert (source.url, source.title, source.text) == ("https://a.example/orlune", "Orlune", "0123456789abcdef")


async def test_a_long_page_is_cut_and_says_so() -> None:
    result = await FetchPage(WEB, max_chars=10).run(FetchArguments(url="https://a.example/orlune"))
    assert "\n0123456789\n[cut: the first 10 of 16 characters]\n</Document>" in result.content
    assert result.sources[0].text == "0123456789"


async def test_after_a_redirect_both_addresses_are_sources() -> None:
    class Redirecting:
        async def fetch(self, url: str, reader: Reader | None = None) -> Page:
            return Page(url=url, final_url="https://a.example/new", title="T", text="text")

    result = await FetchPage(Redirecting(), max_chars=10).run(FetchArguments(url="https://a.example/old"))
    assert [source.url for source in result.sources] == ["https://a.example/new", "https://a.example/old"]
    assert 'href="https://a.example/new"' in result.content


async def test_a_page_without_text_is_no_source() -> None:
    class Blank:
        async def fetch(self, url: str, reader: Reader | None = None) -> Page:
            return Page(url=url, final_url=url, title="T", text=" \n")

    result = await FetchPage(Blank(), max_chars=10).run(FetchArguments(url="https://a.example/blank"))
    assert result.sources == ()


def test_a_blank_url_is_refused() -> None:
    with pytest.raises(ValidationError):
        FetchArguments(url=" ")
