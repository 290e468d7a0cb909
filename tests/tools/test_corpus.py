"""Corpora: search in several languages, lookup by URL, broken files; and recall on the real pages."""

import csv
import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import DatasetError
from aiq.tools.corpus import Corpus, CorpusPage, address
from tests.cases import table

each = table(__file__)

ROWS: list[dict[str, str]] = [
    {"url": f"https://a.example/{name}", "title": title, "text": text, **more}
    for name, title, text, more in (
        ("tessmark", "Tessmark", "Tessmark is a city on the river Orl.\n\nMayor.", {}),
        (
            "halden",
            "Halden Works",
            "Halden Works makes engines. Its headquarters are in Tessmark.",
            {"published": "2026-03-14", "html_extra": "<p>ignored</p>"},
        ),
        ("weier", "维尔莫拉研究所", "维尔莫拉研究所成立于一八七四年，位于特斯马克。", {}),
        ("tokyo", "東京", "東京タワーの高さは三百三十三メートルです。", {}),
        ("seoul", "서울", "서울은 대한민국의 수도이다.", {}),
    )
]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (tmp_path / "pages.jsonl").write_text("".join(lines), encoding="utf-8")
    return Corpus.load(tmp_path / "pages.jsonl")


@each("query")
def test_finds_the_page_in_its_language(corpus: Corpus, query: str, name: str) -> None:
    hits = corpus.search(query, 3)
    assert hits[0].url == f"https://a.example/{name}"
    relevances = [hit.relevance or 0 for hit in hits]
    assert relevances[0] == 1
    assert relevances == sorted(relevances, reverse=True)
    assert min(relevances) > 0


def test_hits_carry_title_date_and_the_text_that_fits_and_unknown_words_find_nothing(corpus: Corpus) -> None:
    hit = corpus.search("Halden engines", 1)[0]
    assert (hit.title, hit.published, hit.text) == ("Halden Works", "2026-03-14", ROWS[1]["text"])
    assert corpus.search("Halden engines", 1, max_chars=12)[0].text == "Halden Works"
    best, other = corpus.search("Tessmark river", 2)
    assert best.relevance == 1 > (other.relevance or 1) > 0
    assert [hit.url for hit in corpus.search("Orl", 5)] == ["https://a.example/tessmark"]
    assert [corpus.search(query, 5) for query in ("xyzzy", "", "?!", "楚辞")] == [[]] * 4
    assert Corpus([]).search("anything", 3) == []


def test_equal_scores_come_in_document_order() -> None:
    corpus = Corpus(
        CorpusPage(url=f"https://a.example/{n}", title="Same", text="the same words here") for n in (9, 3, 7, 1, 5)
    )
    for k in (1, 3, 5):
        assert [hit.url[-1] for hit in corpus.search("same words", k)] == list("93715")[:k]


def test_a_long_page_shows_its_best_passages_in_page_order() -> None:
    filler = ["Nothing of interest happened in the year after that, as the chronicle says.\n" * 10] * 30
    filler[20] = "The glass bridge of Orlune was opened by Ilan Corvey. " + "x" * 700
    filler[5] = "A bridge was planned early on. " + "x" * 700
    page = CorpusPage(url="https://a.example/orlune", title="Orlune", text="\n\n".join(filler))
    hit = Corpus([page]).search("who opened the glass bridge", 1, max_chars=2000)[0]
    assert "Ilan Corvey" in hit.text
    assert hit.text.index("planned early") < hit.text.index("[...]") < hit.text.index("Ilan Corvey")
    assert len(hit.text) <= 2000


@each("url")
def test_a_page_is_found_by_other_spellings_of_its_url(corpus: Corpus, url: str, title: str | None) -> None:
    page = corpus.page(url)
    assert (page and page.title) == title


@given(st.text())
def test_any_text_can_be_looked_up(url: str) -> None:
    assert Corpus([]).page(url) is None
    assert address(url) == address(f" {url} ")


def test_the_longest_text_of_a_url_is_kept_in_the_first_ones_place() -> None:
    pages = [
        CorpusPage(url="https://a.example/x", title="X", text="short"),
        CorpusPage(url="https://a.example/y", title="Y", text="other"),
        CorpusPage(url="https://a.example/x/", title="X", text="a longer text"),
    ]
    assert [page.text for page in Corpus(pages).pages] == ["a longer text", "other"]


def test_gzip_and_folders_read_the_same_and_nothing_is_printed(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "pages.jsonl.gz").write_bytes(gzip.compress((tmp_path / "pages.jsonl").read_bytes()))
    assert Corpus.load(folder).pages == Corpus.load(tmp_path).pages == corpus.pages
    assert corpus.search("Tessmark", 3)
    assert capfd.readouterr() == ("", "")
    monkeypatch.chdir(tmp_path)
    assert Corpus.load("benchmarks/world").pages  # the shipped world


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{not json", ", line 3: not valid JSON"),
        (b'{"url": "u", "title": "t"}', ", line 3: text: must be set"),
        (b'{"url": "u", "title": 3, "text": "x"}', ", line 3: title=3"),
        (b'{"url": " ", "title": "t", "text": "x"}', ", line 3: no url"),
    ],
)
def test_a_malformed_row_names_file_row_and_remedy(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(ROWS[0]).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(DatasetError) as caught:
        Corpus.load(path)
    assert str(caught.value).startswith(f"{path}{said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_an_absent_file_is_named_with_its_setting(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=r"\.jsonl cannot be read .*; check search\.corpus"):
        Corpus.load(tmp_path / name)


@pytest.mark.whole
@pytest.mark.shared_data
def test_recall_of_the_pages_that_the_source_column_names(shared_data: Path) -> None:
    freshqa = Corpus.load(shared_data / "freshqa" / "pages.jsonl.gz")
    assert len(freshqa.pages) == 363  # 378 rows, some of the same URL
    hits = questions = 0
    with (shared_data / "freshqa" / "freshqa_dev.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            pages = [freshqa.page(url.split("#")[0]) for url in re.findall(r"https?://[^\s,]+", row["source"])]
            expected = {page.url for page in pages if page}
            if expected:
                questions += 1
                hits += bool(expected & {hit.url for hit in freshqa.search(row["question"], 5)})
    print(f"FreshQA DEV: recall@5 {hits / questions:.3f} over {questions} questions")
    assert questions >= 60
    assert hits / questions >= 0.93
