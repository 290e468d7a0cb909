"""The real FreshQA and Deep Research Bench pages: recall of the page a question's source names."""

import csv
import json
import re
from pathlib import Path

import pytest

from aiq.tools.corpus import Corpus

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def freshqa(shared_data: Path) -> Corpus:
    return Corpus.load(shared_data / "freshqa" / "pages.jsonl.gz")


def test_every_row_is_read(shared_data: Path, freshqa: Corpus) -> None:
    assert len(freshqa.pages) == 363  # 378 rows, some of the same URL
    assert len(Corpus.load(shared_data / "deep_research_bench" / "pages_science.jsonl.gz").pages) == 80


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


def test_science_tasks_find_pages(shared_data: Path) -> None:
    folder = shared_data / "deep_research_bench"
    corpus = Corpus.load(folder / "pages_science.jsonl.gz")
    for line in (folder / "query.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if 58 <= row["id"] <= 65:
            hits = corpus.search(row["prompt"], 5)
            assert len(hits) == 5, row["id"]
            assert all(hit.text for hit in hits)
