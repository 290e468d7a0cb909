"""The reader: values, hops, the newest state, corrections, comparisons, and the queries for what is missing."""

import random
from datetime import date

import pytest

from aiq.offline.engine.answer import answer, rank
from aiq.offline.engine.read import Source

NOW = date(2026, 10, 1)
PAGES = {
    "Ostrel": (
        "2025-05-01",
        "Ostrel is a market town on the river Wim. It had 18,400 inhabitants in 2024. "
        "The mayor has been Ida Quill since 2019. The town was founded in 1312.",
    ),
    "Ostrel votes": (
        "2026-06-02",
        "On Sunday Bram Tolley became mayor of Ostrel. He succeeds Ida Quill, who stepped down in May.",
    ),
    "Nellwick": ("2025-05-01", "Nellwick is a village of 730 people. The town of Ostrel lies 12 km away."),
    "The Tin Orchard": (
        "2024-01-01",
        "The Tin Orchard is a novel by Mara Venn. Lamp Press published it in 2011.",
    ),
    "Mara Venn": ("2024-02-01", "Mara Venn is a writer and former beekeeper. She was born in Nellwick in 1970."),
    "Harl Bridge": (
        "2023-01-01",
        "Harl Bridge is 210 metres long and was opened in 1904. It was not built by Otto Harl, as some think, but by "
        "Greta Sand. Its pillars are made of granite.",
    ),
    "Pell Bridge": ("2023-01-01", "Pell Bridge, opened in 1931, is 95 metres long. It is painted dark green."),
    "Wimco": (
        "2026-03-01",
        "Wimco is a maker of lamps. The firm moved its headquarters from Ostrel to Nellwick in 2025.",
    ),
    "白塔镇": ("2025-01-01", "白塔镇位于青河县,人口为12,500人。白塔镇的镇长是林远舟。白塔建于1620年,用青铜铸成。"),
    "林远舟": ("2025-01-01", "林远舟出生于南岭市,毕业于南岭大学。"),
}


def sources(*titles: str) -> list[Source]:
    chosen = titles or tuple(PAGES)
    return [
        Source(PAGES[t][1], f"https://pages.example/{n}", t, date.fromisoformat(PAGES[t][0]))
        for n, t in enumerate(chosen)
    ]


@pytest.mark.parametrize(
    ("told", "value"),
    [
        ("Bram Tolley, sworn in as mayor of Ostrel on 2 June 2026, was a baker.", "Bram Tolley"),
        ("Bram Tolley, sworn in as mayor of Ostrel on 2 June 2019, was a baker.", "Ida Quill"),
    ],
)
def test_a_page_without_a_date_is_as_new_as_what_it_tells(told: str, value: str) -> None:
    dated = Source("The mayor of Ostrel is Ida Quill.", "https://a.example", "Ostrel", date(2025, 5, 1))
    assert answer("Who is the current mayor of Ostrel?", [dated, Source(told, "https://b.example")], NOW).value == value


@pytest.mark.parametrize(
    "question",
    [
        "What is the population of Nevshaw?",
        "How many people live in Nevshaw?",
        "How many inhabitants does Nevshaw have?",
    ],
)
def test_a_number_counts_what_is_named_before_it(question: str) -> None:
    text = "Nevshaw covers 412 square kilometres on 3 rivers and has a population of 460,032."
    found = answer(question, [Source(text, "https://a.example", "Nevshaw")], NOW)
    assert (found.value, found.confidence > 0.5) == ("460,032", True)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who wrote The Tin Orchard?", "Mara Venn"),
        ("In which year was Ostrel founded?", "1312"),
        ("How long is Pell Bridge?", "95 metres"),
        ("What is the population of Ostrel?", "18,400 inhabitants"),
        ("Who is the current mayor of Ostrel?", "Bram Tolley"),
        ("Who built Harl Bridge?", "Greta Sand"),
        ("What material are the pillars of Harl Bridge made of?", "granite"),
        ("What colour is Pell Bridge?", "dark green"),
        ("Where was the author of The Tin Orchard born?", "Nellwick"),
        ("How many people live in the village where the author of The Tin Orchard was born?", "730 people"),
        ("What is the population of The Tin Orchard's author's birthplace?", "730 people"),
        ("Which bridge is longer, Harl Bridge or Pell Bridge?", "Harl Bridge"),
        ("Which of the two was opened first: Pell Bridge or Harl Bridge?", "Harl Bridge"),
        ("Is Pell Bridge longer than Harl Bridge?", "No"),
        ("白塔镇的镇长是谁?", "林远舟"),
        ("白塔镇有多少人口?", "12,500人"),
        ("白塔镇的镇长的出生地是哪里?", "南岭市"),
        ("白塔建于哪一年?", "1620年"),
    ],
)
def test_it_reads_the_value(question: str, value: str) -> None:
    found = answer(question, sources(), NOW)
    assert (found.kind, found.value) == ("value", value)
    assert found.evidence
    assert 0 < found.confidence <= 1


@pytest.mark.parametrize(
    ("question", "correction"),
    [
        ("When did Otto Harl write The Tin Orchard?", "Mara Venn"),
        ("Why was Mara Venn born in Ostrel?", "Nellwick"),
    ],
)
def test_it_corrects_what_the_question_takes_for_granted(question: str, correction: str) -> None:
    found = answer(question, sources("The Tin Orchard", "Mara Venn", "Harl Bridge"), NOW)
    assert found.kind == "premise"
    assert correction in found.value


def test_with_no_sources_it_asks_for_the_first_hop() -> None:
    found = answer("Where was the author of The Tin Orchard born?", [])
    assert (found.kind, found.value, found.confidence) == ("none", "", 0.0)
    assert set(found.missing[0].split()) == {"The", "Tin", "Orchard", "author"}


def test_it_asks_for_the_next_hop_with_what_was_found() -> None:
    first = answer("Where was the author of The Tin Orchard born?", [])
    found = answer(
        "Where was the author of The Tin Orchard born?", sources("The Tin Orchard"), NOW, asked=first.missing[:1]
    )
    assert found.missing[0] == "Mara Venn born"


def test_no_query_is_proposed_twice() -> None:
    asked: list[str] = []
    for _ in range(8):
        missing = answer("Who is the mayor of Quarnholm?", sources("Nellwick"), NOW, asked=asked).missing
        assert not {m.lower() for m in missing} & {a.lower() for a in asked}
        asked += missing[:1]
    assert len(set(asked)) == len(asked) >= 3


def test_a_comparison_asks_for_each_thing() -> None:
    missing = answer("Which is taller, the Alder Tower or the Birch Tower?", []).missing
    assert any("Alder" in query for query in missing)
    assert any("Birch" in query for query in missing)


def test_a_found_value_leaves_nothing_missing() -> None:
    found = answer("Who wrote The Tin Orchard?", sources("The Tin Orchard"), NOW)
    assert found.confidence >= 0.6
    assert found.missing == ()


def test_a_pronoun_refers_to_the_conversation() -> None:
    found = answer(
        "In which year was she born?", sources("Mara Venn"), NOW, context="Who wrote The Tin Orchard? Mara Venn."
    )
    assert found.value == "1970"


def test_the_order_of_the_sources_decides_nothing() -> None:
    shuffled = sources()
    random.Random(4).shuffle(shuffled)
    question = "How many people live in the village where the author of The Tin Orchard was born?"
    assert answer(question, shuffled, NOW).value == answer(question, sources(), NOW).value


def test_ranking_prefers_statements_and_drops_repetition() -> None:
    extra = Source(
        "Ostrel is a market town on the river Wim.\n\nRead more about Ostrel here\n\nWhat is Ostrel?",
        "https://other.example",
    )
    found = rank("the town of Ostrel", [*sources(), extra], most=4)
    texts = [evidence.sentence for evidence in found]
    assert sum("market town" in text for text in texts) == 1
    assert not any(text.startswith(("Read more", "What is")) for text in texts)
    assert all("Ostrel" in f"{e.sentence} {e.source.title}" for e in found[:3])
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)


@pytest.mark.parametrize("text", ["", "???", "的", "the of", "a" * 5000, "Who? " * 300, "«»“”《》"])
def test_any_text_is_answered_or_not_but_never_fails(text: str) -> None:
    assert answer(text, sources(), NOW).kind in ("value", "premise", "none")
    assert answer("Who is the mayor of Ostrel?", [Source(text)], NOW).kind in ("value", "premise", "none")
    rank(text, [Source(text)])


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Was Pell Bridge opened in 1850?", "No"),
        ("Was Pell Bridge opened in 1931?", "Yes"),
        ("Was Pell Bridge opened before 1940?", "Yes"),
        ("Was Pell Bridge opened before 1920?", "No"),
        ("Is Pell Bridge 95 metres long?", "Yes"),
        ("Is Pell Bridge 70 metres long?", "No"),
        ("Was The Tin Orchard written by Mara Venn?", "Yes"),
        ("Is Pell Bridge in Paris?", ""),
    ],
)
def test_yes_or_no_is_what_the_sentence_shown_says(question: str, value: str) -> None:
    assert answer(question, sources("Pell Bridge", "The Tin Orchard"), NOW).value == value


def test_none_at_the_start_of_a_sentence_is_no_name() -> None:
    source = Source("Several mills are called Holdrin. None of them is related to another.", "u", "Holdrin")
    found = answer("In which town was the founder of Holdrin Mills born?", [source], NOW)
    assert not any("None" in query for query in found.missing)
