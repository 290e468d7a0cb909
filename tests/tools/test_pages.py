"""Downloaded bodies to pages: character sets, main text, hostile HTML."""

import time
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.sources import Page
from aiq.tools.pages import Download, decoded, page_of

URL = "https://a.example/x"


async def read(body: bytes, content_type: str) -> Page:
    return await page_of(URL, Download(final_url=URL, content_type=content_type, body=body))


GERMAN = "Die Brücke über die grüne Orl wurde früher täglich geöffnet, später nur noch für größere Schiffe."
CHINESE = "特斯马克位于奥尔河畔，是该地区最大的城市，以玻璃制造和光学仪器而闻名。" * 3
SHORT = (
    "<html><head><title>Orlune</title><meta name='date' content='2031-05-02'>"
    "<meta name='description' content='Who governs Orlune.'></head><body>"
    "<header><a href='/'>Atlas</a></header><main><h1>Orlune</h1>"
    "<p>The mayor of Orlune is <a href='/m'>Mira Tal</a>.</p></main><footer>Imprint</footer></body></html>"
)


async def test_the_main_text_of_a_page_without_its_frame_and_links() -> None:
    page = await read(SHORT.encode(), "text/html; charset=utf-8")
    assert page == await read(SHORT.encode(), "text/html; charset=utf-8")  # the same every time
    assert (page.title, page.published) == ("Orlune", "2031-05-02")  # whatever day it is here
    assert page.content == f"Orlune\n\nWho governs Orlune.\n\n{page.text}"
    assert "The mayor of Orlune is Mira Tal." in page.text
    assert not any(frame in page.text for frame in ("Imprint", "Atlas", "/m"))
    body = "".join(f"<p>特斯马克位于奥尔河畔，第{n}任市长是伊兰·科维。</p>" for n in range(20))
    html = f"<html><head><meta charset='gb2312'><title>特斯马克</title></head><body>{body}</body></html>"
    page = await read(html.encode("gb18030"), "text/html")
    assert page.title == "特斯马克"
    assert "第7任市长是伊兰·科维。" in page.text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("grün".encode(), "text/plain; charset=iso-8859-1", "grün"),  # declared wrongly
        (GERMAN.encode("latin-1"), "text/plain; charset=utf-8", GERMAN),  # declared wrongly the other way
        (CHINESE.encode()[:-1] + b"x", "text/plain; charset=utf-8", CHINESE[:-1] + "\ufffdx"),  # within a character
        (CHINESE.encode("gb18030"), "text/plain", CHINESE),  # not declared
        ("“€”".encode("cp1252"), "text/plain; charset=iso-8859-1", "“€”"),
        ("維爾莫拉".encode("big5"), "text/plain; charset=big5", "維爾莫拉"),
        ("東京タワー".encode("shift_jis"), "text/html; charset=Shift_JIS", "東京タワー"),
        ("東京タワー".encode("iso2022_jp"), "text/plain; charset=iso-2022-jp", "東京タワー"),
        ("서울".encode("euc-kr"), 'text/plain; charset="euc-kr"', "서울"),
        ("Orlune é".encode("utf-16"), "text/plain", "Orlune é"),
        ("\ufeffOrlune".encode(), "text/plain", "Orlune"),
        ("<meta charset=koi8-r>Москва".encode("koi8-r"), "text/html", "<meta charset=koi8-r>Москва"),
        (b"abc", "text/plain; charset=no-such-charset", "abc"),
        (b"\x1babc-kva", "text/plain; charset=punycode", "\x1babc-kva"),  # hours for 5 MB
    ],
)
def test_character_sets(body: bytes, content_type: str, text: str) -> None:
    assert decoded(body, content_type) == text


@example(b"\xff \\ud800 x", "unicode_escape")
@example(b"\xff \\ud800 x", "raw_unicode_escape")
@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "hex", "idna"]))
def test_any_bytes_are_read_as_whole_characters(body: bytes, charset: str) -> None:
    assert isinstance(decoded(body, f"text/plain; charset={charset}").encode(), bytes)


@given(st.text().filter(lambda text: "\x1b" not in text and not text.startswith("\ufeff")))
def test_utf8_is_read_as_it_was_written(text: str) -> None:
    assert decoded(text.encode(), "text/html; charset=iso-8859-1") == text


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "text/markdown", "text/csv", "application/json", "application/ld+json", "text/xml", ""],
)
async def test_texts_other_than_html_are_kept_as_they_are(content_type: str) -> None:
    page = await read(b' {"mayor": "Mira Tal"}\n', content_type)
    assert (page.title, page.text) == ("", '{"mayor": "Mira Tal"}')


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b"%PDF-1.7 ...", "application/pdf", "PDF, which is not supported"),
        (b"%PDF-1.7 ...", "text/html", "PDF, which is not supported"),
        (b"\x89PNG\0\0", "image/png", "it is image/png, not text"),
        (b"\x7fELF\0", "", "it is binary data"),
        (b"<html><body></body></html>", "text/html", "no readable text"),
        (b"", "text/html", "no readable text"),
    ],
)
async def test_anything_but_text_is_malformed(body: bytes, content_type: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        await read(body, content_type)
    assert caught.value.kind is ToolErrorKind.MALFORMED


HOSTILE = [
    b"<div>" * 50_000 + b"text",
    b"<html><body>" + b"<p>x" * 50_000,
    b"<!doctype html><html><body><p>a\0b\x08 &#0; &#x110000; words that stay</p></body></html>",
    b"<html xmlns:a='x'><a:b><![CDATA[<script>]]></a:b></html>",
    b"<?xml version='1.0' encoding='utf-16'?><html><body><p>words</p></body></html>",
    b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><html><body>&b;</body></html>",
]


async def survives(body: bytes) -> None:
    """It gives a page or the one typed error; anything else fails the test."""
    with suppress(ToolError):
        assert await read(body, "text/html")


@pytest.mark.parametrize("body", HOSTILE)
async def test_hostile_html_gives_a_page_or_a_typed_error(body: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    await survives(body)
    assert capfd.readouterr().err == ""


async def test_a_page_of_very_many_elements_is_read_in_reasonable_time() -> None:
    paragraphs = "".join(f"<p>Paragraph <a href='/{n}'>{n}</a> of the register.</p>" for n in range(15_000))
    start = time.process_time()
    page = await read(
        f"<html><head><title>A &amp; B</title></head><body>{paragraphs}</body></html>".encode(), "text/html"
    )
    assert page.title == "A & B"
    assert "Paragraph 14999 of the register." in page.text
    await survives(b"<html>" + b"<title " * 50_000)
    assert time.process_time() - start < 3


soup = st.sampled_from(["<p>", "</p>", "<table>", "<tr><td>", "<script>", "<", "words ", "维", "<!--", "&amp;", '"'])


@settings(max_examples=25)
@given(st.lists(soup))
async def test_any_tag_soup_gives_a_page_or_a_typed_error(pieces: list[str]) -> None:
    await survives(("<html><body>" + "".join(pieces)).encode())
