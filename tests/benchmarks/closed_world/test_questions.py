"""The mini FreshQA and the conversations: official columns, the promised mixture, answers that the pages support."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.closed_world.pages import Page
from tests.benchmarks.closed_world.conftest import Made

FRESHQA = "freshqa_mini/freshqa_mini.csv"
REFERS = re.compile(r"\b(that|this|the|its?|they)\b|[那这该它此]|最近")


@pytest.mark.shared_data
def test_official_columns(made: Made, shared_data: Path) -> None:
    with (shared_data / "freshqa" / "freshqa_dev.csv").open(encoding="utf-8", newline="") as file:
        real = list(csv.DictReader(file))
    rows = made.rows(FRESHQA)
    assert list(real[0]) == list(rows[0])
    for column in ("split", "false_premise", "num_hops", "fact_type"):
        assert {row[column] for row in real} <= {row[column] for row in rows}


def test_the_mixture(made: Made) -> None:
    rows, truths = made.rows(FRESHQA), made.truth("freshqa_mini")
    assert len({row["question"] for row in rows}) == len(rows) == 120
    assert sum(row["num_hops"] == "multi-hop" for row in rows) == 70
    false = Counter(row["num_hops"] for row in rows if row["false_premise"] == "TRUE")
    assert false == {"one-hop": 14, "multi-hop": 10}
    paces = Counter(row["fact_type"] for row in rows if row["false_premise"] == "FALSE")
    assert all(25 <= count <= 40 for count in paces.values())
    assert Counter(truth.hops for truth in truths.values())[3] == 18
    assert sum(truth.needs_depth for truth in truths.values()) == 15
    years = {row["effective_year"] for row in rows}  # when the answer came about
    assert {"2026", "before 2022"} <= years <= {"before 2022", *map(str, range(2022, 2027))}
    assert {row["effective_year"] for row in rows if row["fact_type"] == "never-changing"} == {"before 2022"}
    openings = Counter(" ".join(row["question"].split()[:2]) for row in rows)
    assert max(openings.values()) < len(rows) / 4


def plain(text: str) -> str:
    """The text without thousands separators, which may differ between truth and pages."""
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)


def test_every_answer_is_stated_by_the_pages_named(made: Made, pages: dict[str, Page]) -> None:
    truths = made.truth("freshqa_mini")
    for row in made.rows(FRESHQA):
        truth, texts = truths[row["id"]], [plain(pages[url].text) for url in row["source"].split("\n")]
        for fact in truth.facts:
            assert any(plain(form) in text for form in fact.forms for text in texts), (row["id"], fact.id)
        answers = [row[f"answer_{index}"] for index in range(10) if row[f"answer_{index}"]]
        if row["false_premise"] == "TRUE":
            assert len(answers) == 3
            assert any(fact.forms[0] in answer for fact in truth.facts for answer in answers)
        elif not truth.needs_depth:
            assert (list(truth.facts[-1].forms), len(truth.facts)) == (answers, truth.hops)


def test_a_second_turn_refers_back_and_is_answered_by_a_page(made: Made, pages: dict[str, Page]) -> None:
    rows, truths = made.rows("conversation_mini/questions.jsonl"), made.truth("conversation_mini")
    assert Counter(row["language"] for row in rows) == {"en": 16, "zh": 4}
    assert min(Counter(row["refers_to"] for row in rows).values()) >= 8
    for row in rows:
        (fact,) = truths[row["id"]].facts
        subject = fact.id.split("/")[1]
        assert list(fact.forms) == row["answers"]
        assert any(plain(row["answers"][0]) in plain(page.text) for url, page in pages.items() if subject in url)
        history = " ".join(turn["text"] for turn in row["history"])
        name = pages[f"https://atlas.offline.example/{subject}"].title
        assert name in history
        assert name not in row["question"]
        assert REFERS.search(row["question"]), row["question"]
        assert not any(answer in history for answer in row["answers"])


def test_turns_are_the_conversations_and_some_go_on_or_ask_for_the_first_answer(
    made: Made, pages: dict[str, Page]
) -> None:
    rows, truths = made.rows("turns_mini/questions.jsonl"), made.truth("turns_mini")
    conversations = made.rows("conversation_mini/questions.jsonl")
    two = [row for row in rows if row["sort"] == "two"]
    assert [(row["turns"], row["question"], row["answers"]) for row in two] == [
        ([row["history"][0]["text"]], row["question"], row["answers"]) for row in conversations
    ]
    counts = Counter((row["sort"], row["language"]) for row in rows)
    assert counts == {(sort, language): n for sort in ("three", "recall") for language, n in (("en", 4), ("zh", 1))} | {
        ("two", "en"): 16,
        ("two", "zh"): 4,
    }
    first_answers = {row["history"][0]["text"]: row["history"][1]["text"] for row in conversations}
    for row in rows[len(two) :]:
        (fact,) = truths[row["id"]].facts
        subject = fact.id.split("/")[1]
        assert list(fact.forms) == row["answers"]
        assert not any(answer in " ".join([*row["turns"], row["question"]]) for answer in row["answers"])
        first_answer = first_answers[row["turns"][0]]
        assert any(answer in first_answer for answer in row["answers"]) is (row["sort"] == "recall")
        if row["sort"] == "recall":
            assert pages[f"https://atlas.offline.example/{subject}"].title not in row["question"]
        else:
            assert REFERS.search(row["question"])
            assert any(plain(row["answers"][0]) in plain(page.text) for url, page in pages.items() if subject in url)
