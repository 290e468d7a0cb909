"""Extracts of tool results: source lines first, then the sentences that were asked for, never longer than allowed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.agents.toolkit.compaction import MARK, summary
from aiq.tools.blocks import SEPARATOR, document

FILLER = "The valley has many farms and mills. Its fairs are held in spring. " * 12
PAGES = SEPARATOR.join(
    [
        document("https://a.test/orlune", "Orlune", f"{FILLER}The mayor of Orlune is Ada Venn. {FILLER}", "2026-03-01"),
        document("https://b.test/fairs", "Fairs of the valley", FILLER),
    ]
)
PAPERS = "1. **On rivers** (2024)\n   - **Publication**: River Studies\n   - **Link**: https://c.test/p\n" + FILLER
KNOWLEDGE = f"Found 1 relevant document(s):\n--- Result 1 ---\nSource: a.pdf\nPage: 15\nCitation: a.pdf, p.15\n{FILLER}"
FINDINGS = f"{FILLER}\n\n**Sources**\n[1] Orlune - https://a.test/orlune\n[2] Plan - report.pdf, p.15"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(
            PAGES,
            [
                '<Document href="https://a.test/orlune">',
                "<title>\nOrlune\n</title>",
                "<published>2026-03-01</published>",
                "</Document>",
                '<Document href="https://b.test/fairs">',
                "<title>\nFairs of the valley\n</title>",
            ],
            id="search-and-fetch",
        ),
        pytest.param(PAPERS, ["1. **On rivers** (2024)", "- **Link**: https://c.test/p"], id="papers"),
        pytest.param(KNOWLEDGE, ["--- Result 1 ---", "Source: a.pdf", "Citation: a.pdf, p.15"], id="knowledge"),
        pytest.param(FINDINGS, ["[1] Orlune - https://a.test/orlune", "[2] Plan - report.pdf, p.15"], id="findings"),
    ],
)
def test_url_title_and_citation_lines_stay(text: str, lines: list[str]) -> None:
    short = summary(text, 600)
    assert len(short) <= 600
    for line in lines:
        assert line in short
    assert short.splitlines()[-1] == MARK


def test_what_was_asked_for_is_kept_and_stays_in_its_document() -> None:
    short = summary(PAGES, 500, "current mayor of Orlune")
    assert "The mayor of Orlune is Ada Venn." in short.partition("https://b.test")[0]
    assert "The mayor of Orlune" not in summary(PAGES, 500, "spring fairs")


def test_in_chinese_too() -> None:
    page = document("https://z.test/", "城市", "这里有许多农场。" * 60 + "奥伦的市长是林安。" + "春天有集市。" * 60)
    assert "奥伦的市长是林安。" in summary(page, 300, "奥伦的市长是谁")


def test_a_text_that_fits_is_left_alone() -> None:
    assert summary("short", 200) == "short"


@given(st.text(max_size=3000), st.integers(200, 2500), st.text(max_size=40))
def test_bounded_and_repeatable(text: str, most: int, about: str) -> None:
    short = summary(text, most, about)
    assert len(short) <= max(most, len(text) if len(text) <= most else most)
    assert short == summary(text, most, about)
