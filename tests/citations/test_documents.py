"""Document keys: names and pages, and what an entry's text may mean."""

import pytest

from aiq.citations.documents import DocumentKey, looks_like_document, named_documents, parse_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("report.pdf", DocumentKey("report.pdf")),
        ("Report.PDF, p.15", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf, page 15", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf, pp. 3-5", DocumentKey("report.pdf", 3, 5)),
        ("report.pdf (p. 7)", DocumentKey("report.pdf", 7, 7)),
        ("report.pdf#page=4", DocumentKey("report.pdf", 4, 4)),
        ("report.pdf，第3页", DocumentKey("report.pdf", 3, 3)),
        ("report.pdf 第3-5頁", DocumentKey("report.pdf", 3, 5)),
        ("report.pdf, S. 12", DocumentKey("report.pdf", 12, 12)),
        ("report.pdf, 12쪽", DocumentKey("report.pdf", 12, 12)),
        ("report.pdf, 15ページ", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf, 3-5頁", DocumentKey("report.pdf", 3, 5)),
        ("report.pdf - p. 15", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf [p. 15]", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf, page 15 of 30", DocumentKey("report.pdf", 15, 15)),
        ("report.pdf, pages 3 to 5", DocumentKey("report.pdf", 3, 5)),
        ("report.pdf, pp. 123-5", DocumentKey("report.pdf", 123, 125)),
        ("report.pdf, pp. 9-3", DocumentKey("report.pdf", 9, 9)),
        ("report.pdf#page=4&zoom=100", DocumentKey("report.pdf", 4, 4)),
        ("report.pdf 第3至5页", DocumentKey("report.pdf", 3, 5)),
        ("**report.pdf**, p.15", DocumentKey("report.pdf", 15, 15)),
        # V4: a page needs a separator, and a name is not cut
        ("step1.pdf", DocumentKey("step1.pdf")),
        ("step2.pdf", DocumentKey("step2.pdf")),
        ("map2.pdf", DocumentKey("map2.pdf")),
        ("http2.pdf", DocumentKey("http2.pdf")),
        ("top 10 list.pdf", DocumentKey("top 10 list.pdf")),
        ("page 3 of history.pdf", DocumentKey("page 3 of history.pdf")),
    ],
)
def test_keys(text: str, key: DocumentKey) -> None:
    assert parse_key(text) == key


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("report.pdf, p.15", "report.pdf"),
        ("Annual Report - report.pdf, p.15", "report.pdf"),
        ("Annual report: report.pdf", "report.pdf"),
        ("report.pdf, p.15 (uploaded)", "report.pdf"),
        ("Annual - final.pdf, p. 2", "annual - final.pdf"),
        ("**report.pdf**", "report.pdf"),
    ],
)
def test_an_entry_names_a_document(entry: str, name: str) -> None:
    assert name in [key.name for key in named_documents(entry)]
    assert looks_like_document(entry)


def test_a_part_of_an_entry_must_name_a_file_or_a_page() -> None:
    """V5: otherwise any words behind a colon could be a registered name."""
    assert [key.name for key in named_documents("A wholly invented study: knowledge_search")] == [
        "a wholly invented study: knowledge_search"
    ]
    assert DocumentKey("annual report", 5, 5) in named_documents("Company - Annual Report, p. 5")
    assert DocumentKey("annual report") in named_documents("Annual Report (uploaded)")


def test_a_name_inside_other_words_names_nothing() -> None:
    names = [key.name for key in named_documents("A wholly invented study, via knowledge_search in data.md")]
    assert "knowledge_search" not in names  # V5
    assert "a.md" not in names  # V5
    assert not looks_like_document("A wholly invented study, via knowledge_search")
