"""Files to pages: what is read, and the one line that says why a file cannot be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aiq.core.errors import UserError
from aiq.tools.knowledge.reading import read_document, unwrapped
from tests.tools.knowledge.conftest import MakePdf


def test_a_pdf_is_read_page_by_page_and_empty_pages_keep_their_numbers(a_pdf: MakePdf) -> None:
    document = read_document(Path("r.pdf"), a_pdf("First page.", "", "Third (page) \\ here.", title="Annual Report"))
    assert document.title == "Annual Report"
    assert document.page_count == 3
    assert [(page.number, page.text) for page in document.pages] == [(1, "First page."), (3, "Third (page) \\ here.")]
    assert read_document(Path("r.pdf"), a_pdf("Text.", password="")).pages[0].text == "Text."


@pytest.mark.parametrize("title", ["", "Untitled", "report.docx", "Microsoft Word - x"])
def test_a_title_written_by_a_program_does_not_count(a_pdf: MakePdf, title: str) -> None:
    assert read_document(Path("folder/my-report.pdf"), a_pdf("Text.", title=title)).title == "my-report"


@pytest.mark.parametrize(
    ("name", "body", "title", "text"),
    [
        ("a.md", b"Intro.\n\n## The *plan* ##\n\nMore.", "The *plan*", "Intro.\n\n## The *plan* ##\n\nMore."),
        ("a.markdown", b"No heading", "a", "No heading"),
        ("a.txt", b"# no heading in plain text", "a", "# no heading in plain text"),
        ("a.txt", "caf\u00e9 \u2013 na\u00efve".encode("utf-16"), "a", "caf\u00e9 \u2013 na\u00efve"),
        ("a.TXT", "r\u00e9sum\u00e9 d\u00e9j\u00e0 vu, voil\u00e0".encode("cp1252"), "a", None),
    ],
)
def test_text_and_markdown_have_no_pages(name: str, body: bytes, title: str, text: str | None) -> None:
    document = read_document(Path(name), body)
    assert (document.title, document.page_count, len(document.pages)) == (title, None, 1)
    assert document.pages[0].number is None
    assert text is None or document.pages[0].text == text
    assert "\ufffd" not in document.pages[0].text


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        ("secret.pdf", lambda a_pdf: a_pdf("Text.", password="x"), "encrypted"),
        ("scan.pdf", lambda a_pdf: a_pdf("", ""), "none of its 2 pages holds text; is it a scan"),
        ("broken.pdf", lambda _: b"%PDF-1.4\ntrash", "cannot be read as a PDF"),
        ("page.pdf", lambda _: b"<html>not found</html>", "cannot be read as a PDF"),
        ("cut.pdf", lambda a_pdf: a_pdf("Some text.")[:300], "cannot be read as a PDF|holds no text|none of its"),
        ("empty.pdf", lambda _: b"", "cannot be read as a PDF"),
        ("empty.md", lambda _: b" \n", "holds no text"),
        ("image.txt", lambda _: b"\x00\x01\x02\x00", "binary"),
        ("table.xlsx", lambda _: b"PK", r"only \.pdf, \.md"),
    ],
)
def test_a_file_without_text_is_named_in_one_line(
    a_pdf: MakePdf, name: str, make: Callable[[MakePdf], bytes], why: str
) -> None:
    with pytest.raises(UserError, match=why) as caught:
        read_document(Path(name), make(a_pdf))
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)


WRAPPED = [  # a bar where a line of the page ends, / where it goes on
    "The treasurer of Tessmark was elected in/September 2026.",
    "Buildings|The new plant of Halden Works is being/built.",
    "It ends with a full sentence here.|The next begins.",
    "2024 12|2025 14|Total of both years and more 26||End",
    "",
]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        *((line.replace("/", "\n").replace("|", "\n"), line.replace("/", " ").replace("|", "\n")) for line in WRAPPED),
        ("The council adopted a long resolu-\ntion on it.", "The council adopted a long resolution on it."),
    ],
)
def test_lines_of_a_sentence_are_joined(text: str, joined: str) -> None:
    assert unwrapped(text) == joined
