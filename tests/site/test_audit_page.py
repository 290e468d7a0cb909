"""The page of an audit: every citation has its colour and a card; safe whatever the report says."""

import pytest

from aiq.citations.files import AuditCase, audited
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from aiq.site.audit_page import audit_page
from tests.settings import configured
from tests.site.seen import EVIL, Seen

PAGE = (
    "The Vell Tower stands in the old harbour of Maren. It was opened in 1889 after two years of work. "
    "The Vell Tower is 330 metres tall. Every year about six million people visit it, most of them in summer. "
    f"Its architect, Ilan Corvey, also built the railway bridge over the river Tess. {EVIL}"
)
REPORT = f"""# Findings <script>alert(1)</script>

The Vell Tower is 330 metres tall [1]. It is 500 metres tall [1][2]. See [**the** page](https://v.com/1),
<https://bit.ly/x> and [bad](javascript:alert(2)) and ![p](data:text/html,x) [9]. `code [1]`

Nothing is cited here.

``` [1]
x = y[1]
``` [3]

| a | b |
|---|---|
| cell [1] | \ue0000\ue001 |

## References

[1] Tower {EVIL} - http://www.v.com/1
**Part two**
[2] Made up - https://nope.com/"onmouseover="alert(3)
[3] Again - https://v.com/1
[4] Nothing

## Appendix
"""
SOURCES = (
    Source(url="https://v.com/1", title=f"The tower {EVIL}", text=PAGE, tool="web_search", call_id="call-7"),
    Source(url="https://nope.com/", kind="echoed"),
)


def page_of(text: str, sources: tuple[Source, ...] | None = SOURCES) -> str:
    return audit_page(audited(AuditCase(text, sources, configured(CitationSettings), title="Tower?")))


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(REPORT)


def test_each_citation_has_the_colour_of_its_outcome(page: str) -> None:
    chips = Seen(page).classed("cite")
    outcomes = [f"{chip['id']} {(chip['class'] or '').split()[1]}" for chip in chips]
    assert ", ".join(outcomes) == (
        "m0 valid, m1 valid, m2 invalid, u0 valid, u1 unsafe, u2 unsafe, u3 unsafe, m3 invalid, m4 duplicate, m5 valid"
    )
    assert all(chip["tabindex"] == "0" for chip in chips)
    assert "gone" in (chips[2]["class"] or "")


def test_a_card_shows_source_call_and_closest_passage(page: str) -> None:
    card = page[page.index('id="m0"') : page.index('id="m1"')]
    words = Seen(card).words
    for part in ("valid exact", "http://www.v.com/1 →", "https://v.com/1", "web_search", "call-7"):
        assert part in words, part
    assert "The tower <script>" in words  # the title, as text
    assert "[1] closest passage in the source The Vell Tower is 330 metres tall." in words
    assert "The <mark>Vell</mark> <mark>Tower</mark> is <mark>330</mark> <mark>metres</mark> <mark>tall</mark>." in card


def test_a_passage_of_a_hostile_source_is_text_and_a_missing_one_is_explained() -> None:
    text = "Onerror, says script [1]. Nothing alike [2]. None [3].\n\n## References\n\n[1] https://v.com/1\n"
    text += "[2] https://v.com/2\n[3] https://v.com/3\n"
    sources = (
        Source(url="https://v.com/1", text=EVIL),
        Source(url="https://v.com/2", text="高塔建于一八八九年。"),
        Source(url="https://v.com/3"),
    )
    page = page_of(text, sources)
    assert "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;" in page
    assert "[2] closest passage in the source: none, it shares no word with the sentence" in Seen(page).text
    assert "[3] closest passage in the source: none, its text was not stored" in Seen(page).text
    assert "<script" not in page


def test_entries_counts_and_missing_parts_are_shown(page: str) -> None:
    seen = Seen(page)
    assert [attrs["id"] for attrs in seen.classed("entry")] == ["e0", "e1", "e2", "e3"]
    for part in (
        "4 entries",
        "1 unverifiable",
        "url_not_in_registry",
        "the same source as entry 1",
        "without an entry [9]",
        "paragraphs without citation 1",
        "Nothing is cited here.uncited",
        "never cited",
        "Appendix",
    ):
        assert part in seen.words, part


def test_text_of_reports_and_sources_stays_text(page: str) -> None:
    seen = Seen(page)
    assert seen.is_harmless()
    assert seen.scripts() == 0
    assert not [link for link in seen.links() if "bit.ly" in link or "nope.com" in link]
    assert "default-src 'none'" in page
    assert "<code>code [1]</code>" in page
    assert 'class="shown">https://v.com/?a=1&amp;lt=2<' in page_of("See <https://v.com/?a=1&lt=2>.")


def test_without_sources_nothing_is_called_valid() -> None:
    seen = Seen(page_of(REPORT, None))
    assert "No sources were given" in seen.text
    assert not seen.classed("valid")
