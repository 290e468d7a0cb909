"""Corpora: search in several languages, lookup by URL, broken files; and recall on the real pages."""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import DatasetError, UserError
from aiq.tools.corpus import Corpus, CorpusPage, address

ROWS = [
    {
        "url": "https://a.example/tessmark",
        "title": "Tessmark",
        "text": "Tessmark is a city on the river Orl.\n\nMayor.",
    },
    {
        "url": "https://a.example/halden",
        "title": "Halden Works",
        "text": "Halden Works makes engines. Its headquarters are in Tessmark.",
        "published": "2026-03-14",
        "html_extra": "<p>ignored</p>",
    },
    {
        "url": "https://a.example/weier",
        "title": "维尔莫拉研究所",
        "text": "维尔莫拉研究所成立于一八七四年，位于特斯马克。",
    },
    {"url": "https://a.example/tokyo", "title": "東京", "text": "東京タワーの高さは三百三十三メートルです。"},
    {"url": "https://a.example/seoul", "title": "서울", "text": "서울은 대한민국의 수도이다."},
]


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus.load(write(tmp_path / "pages.jsonl", ROWS))


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("Who is the mayor of Tessmark?", "https://a.example/tessmark"),
        ("engine makers' headquarters", "https://a.example/halden"),
        ("维尔莫拉研究所是哪一年成立的？", "https://a.example/weier"),
        ("東京タワーの高さ", "https://a.example/tokyo"),
        ("대한민국의 수도는 어디입니까?", "https://a.example/seoul"),
    ],
)
def test_finds_the_page_in_its_language(corpus: Corpus, query: str, url: str) -> None:
    hits = corpus.search(query, 3)
    assert hits[0].url == url
    assert all(hit.score > 0 for hit in hits)


def test_hits_carry_title_text_and_date(corpus: Corpus) -> None:
    hit = corpus.search("Halden engines", 1)[0]
    assert (hit.title, hit.published, hit.text) == ("Halden Works", "2026-03-14", ROWS[1]["text"])


@pytest.mark.parametrize("query", ["xyzzy", "", "?!", "楚辞"])
def test_unknown_words_find_nothing(corpus: Corpus, query: str) -> None:
    assert corpus.search(query, 5) == []


def test_pages_without_a_word_of_the_query_are_no_hits(corpus: Corpus) -> None:
    assert [hit.url for hit in corpus.search("Orl", 5)] == ["https://a.example/tessmark"]


def test_equal_scores_come_in_document_order(tmp_path: Path) -> None:
    rows = [{"url": f"https://a.example/{n}", "title": "Same", "text": "the same words here"} for n in (9, 3, 7, 1, 5)]
    corpus = Corpus.load(write(tmp_path / "p.jsonl", rows))
    for k in (1, 3, 5):
        assert [hit.url[-1] for hit in corpus.search("same words", k)] == list("93715")[:k]


def test_a_long_page_shows_its_best_passages_in_page_order(tmp_path: Path) -> None:
    filler = ["Nothing of interest happened in the year after that, as the chronicle says.\n" * 10] * 30
    filler[20] = "The glass bridge of Orlune was opened by Ilan Corvey. " + "x" * 700
    filler[5] = "A bridge was planned early on. " + "x" * 700
    row = {"url": "https://a.example/orlune", "title": "Orlune", "text": "\n\n".join(filler)}
    hit = Corpus.load(write(tmp_path / "p.jsonl", [row])).search("who opened the glass bridge", 1, max_chars=2000)[0]
    assert "Ilan Corvey" in hit.text
    assert hit.text.index("planned early") < hit.text.index("[...]") < hit.text.index("Ilan Corvey")
    assert len(hit.text) <= 2000


def test_max_chars_cuts_even_the_best_passage(corpus: Corpus) -> None:
    assert corpus.search("Halden engines", 1, max_chars=12)[0].text == "Halden Works"


@pytest.mark.parametrize(
    "url",
    [
        "https://A.example/halden",
        "http://a.example/halden/",
        "https://a.example/halden#history",
        " https://a.example/h%61lden ",
    ],
)
def test_a_page_is_found_by_other_spellings_of_its_url(corpus: Corpus, url: str) -> None:
    page = corpus.page(url)
    assert page is not None
    assert page.title == "Halden Works"


@pytest.mark.parametrize(
    "url", ["https://a.example/Halden", "https://b.example/halden", "https://a.example/halden?x=1", ""]
)
def test_another_url_is_another_page(corpus: Corpus, url: str) -> None:
    assert corpus.page(url) is None


@given(st.text())
def test_any_text_can_be_looked_up(url: str) -> None:
    assert Corpus([]).page(url) is None
    assert address(url) == address(f" {url} ")


def test_of_rows_with_one_url_the_longest_text_stands_at_the_first_place() -> None:
    pages = [
        CorpusPage(url="https://a.example/x", title="X", text="short"),
        CorpusPage(url="https://a.example/y", title="Y", text="other"),
        CorpusPage(url="https://a.example/x/", title="X", text="a longer text"),
    ]
    assert [page.text for page in Corpus(pages).pages] == ["a longer text", "other"]


def test_gzip_and_folders_read_the_same(tmp_path: Path, corpus: Corpus) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "pages.jsonl.gz").write_bytes(gzip.compress((tmp_path / "pages.jsonl").read_bytes()))
    assert Corpus.load(folder).pages == Corpus.load(tmp_path).pages == corpus.pages


def test_an_empty_corpus_finds_nothing(tmp_path: Path) -> None:
    assert Corpus.load(write(tmp_path / "p.jsonl", [])).search("anything", 3) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{not json", "not JSON"),
        (b"[1]", "each line must be"),
        (b'{"url": "u", "title": "t"}', "text: must be set"),
        (b'{"url": "u", "title": 3, "text": "x"}', "title=3"),
        (b'{"url": " ", "title": "t", "text": "x"}', "url is empty"),
        (b'{"url": "u", "title": "\xff", "text": "x"}', "not JSON in UTF-8"),
    ],
)
def test_a_malformed_row_names_file_row_and_remedy(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(ROWS[0]).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(DatasetError) as caught:
        Corpus.load(path)
    message = str(caught.value)
    assert f"{path}, row 3" in message
    assert said in message
    assert "\n" not in message


def test_half_a_character_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text(json.dumps({**ROWS[0], "text": "cut \ud83d"}) + "\n")
    with pytest.raises(DatasetError, match="row 1: an escape"):
        Corpus.load(path)


def test_the_shipped_world_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Corpus.load("benchmarks/world").pages


def test_a_torn_gzip_file_is_a_dataset_error(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ROWS[0]).encode() * 99)[:-20])
    with pytest.raises(DatasetError, match="damaged"):
        Corpus.load(path)


def test_an_absent_file_or_empty_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such corpus file"):
        Corpus.load(tmp_path / "absent.jsonl")
    with pytest.raises(UserError, match=r"holds no pages\.jsonl"):
        Corpus.load(tmp_path)


def test_loading_and_searching_print_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", ROWS)
    code = f"from aiq.tools.corpus import Corpus; Corpus.load({str(path)!r}).search('Tessmark', 3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.fixture(scope="module")
def freshqa(shared_data: Path) -> Corpus:
    return Corpus.load(shared_data / "freshqa" / "pages.jsonl.gz")


@pytest.mark.shared_data
def test_every_row_is_read(shared_data: Path, freshqa: Corpus) -> None:
    assert len(freshqa.pages) == 363  # 378 rows, some of the same URL
    assert len(Corpus.load(shared_data / "deep_research_bench" / "pages_science.jsonl.gz").pages) == 80


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Who is the current Canadian president?", "Prime Minister of Canada"),
        (
            "In what year did Russia finish disposing of all of its nuclear weapons?",
            "List of states with nuclear weapons",
        ),
        ("When was .NET first released?", ".NET"),
    ],
)
def test_the_page_about_it_is_among_the_first_five(freshqa: Corpus, question: str, title: str) -> None:
    assert title in [hit.title for hit in freshqa.search(question, 5)]


@pytest.mark.shared_data
def test_recall_of_the_pages_that_the_source_column_names(shared_data: Path, freshqa: Corpus) -> None:
    found = asked = 0
    with (shared_data / "freshqa" / "freshqa_dev.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            pages = [freshqa.page(url.split("#")[0]) for url in re.findall(r"https?://[^\s,]+", row["source"])]
            expected = {page.url for page in pages if page}
            if expected:
                asked += 1
                found += bool(expected & {hit.url for hit in freshqa.search(row["question"], 5)})
    print(f"FreshQA DEV: recall@5 {found / asked:.3f} over {asked} questions")
    assert asked >= 60
    assert found / asked >= 0.93


@pytest.mark.shared_data
def test_science_tasks_find_pages(shared_data: Path) -> None:
    folder = shared_data / "deep_research_bench"
    corpus = Corpus.load(folder / "pages_science.jsonl.gz")
    for line in (folder / "query.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if 58 <= row["id"] <= 65:
            hits = corpus.search(row["prompt"], 5)
            assert len(hits) == 5, row["id"]
            assert all(hit.text for hit in hits)
