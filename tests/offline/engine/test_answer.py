"""The reader: values, hops, the newest state, corrections, comparisons, and queries for what is missing."""

import random
from datetime import date

from aiq.offline.engine.answer import answer, rank
from aiq.offline.engine.source import Source
from tests.cases import group, table

each = table(__file__)

NOW = date(2026, 10, 1)
PAGES = {
    page["title"]: Source(page["text"], f"https://pages.example/{n}", page["title"], date.fromisoformat(page["day"]))
    for n, page in enumerate(group(__file__, "page"))
}
VILLAGE = "How many people live in the village where the author of The Tin Orchard was born?"


def sources(*titles: str) -> list[Source]:
    return [PAGES[title] for title in titles or PAGES]


@each("undated")
def test_a_page_without_a_date_is_as_new_as_the_dates_in_its_text(told: str, value: str) -> None:
    dated = Source("The mayor of Ostrel is Ida Quill.", "https://a.example", "Ostrel", date(2025, 5, 1))
    assert answer("Who is the current mayor of Ostrel?", [dated, Source(told, "https://b.example")], NOW).value == value


@each("count")
def test_a_number_can_count_what_is_named_before_it(question: str) -> None:
    text = "Nevshaw covers 412 square kilometres on 3 rivers and has a population of 460,032."
    found = answer(question, [Source(text, "https://a.example", "Nevshaw")], NOW)
    assert (found.value, found.confidence > 0.5) == ("460,032", True)


@each("alone")
def test_it_reads_a_chinese_name(question: str, told: str, value: str) -> None:
    assert answer(question, [Source(told, "https://a.example")], NOW).value == value


@each("computed")
def test_it_subtracts_values_and_sees_denials_that_follow(question: str, told: str, value: str) -> None:
    assert answer(question, [Source(told, "https://a.example")], NOW).value == value


@each("value")
def test_it_reads_the_value(question: str, value: str) -> None:
    found = answer(question, sources(), NOW)
    assert (found.kind, found.value) == ("value", value)
    assert found.evidence
    assert 0 < found.confidence <= 1


@each("premise")
def test_it_corrects_a_false_premise(question: str, correction: str) -> None:
    found = answer(question, sources("The Tin Orchard", "Mara Venn", "Harl Bridge"), NOW)
    assert found.kind == "premise"
    assert correction in found.value


@each("yes")
def test_yes_or_no_follows_from_the_evidence_shown(question: str, value: str) -> None:
    assert answer(question, sources("Pell Bridge", "The Tin Orchard"), NOW).value == value


@each("any")
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for question, found in ((text, sources()), ("Who is the mayor of Ostrel?", [Source(text)])):
        assert answer(question, found, NOW).kind in ("value", "premise", "none")
    rank(text, [Source(text)])


def test_missing_facts_are_looked_up_hop_by_hop() -> None:
    question = "Where was the author of The Tin Orchard born?"
    first = answer(question, [])
    assert (first.kind, first.value, first.confidence) == ("none", "", 0.0)
    assert set(first.missing[0].split()) == {"The", "Tin", "Orchard", "author"}
    second = answer(question, sources("The Tin Orchard"), NOW, asked=first.missing[:1])
    assert second.missing[0] == "Mara Venn born"
    found = answer("Who wrote The Tin Orchard?", sources("The Tin Orchard"), NOW)
    assert found.confidence >= 0.6
    assert found.missing == ()


def test_no_query_is_proposed_twice() -> None:
    asked: list[str] = []
    for _ in range(8):
        missing = answer("Who is the mayor of Quarnholm?", sources("Nellwick"), NOW, asked=asked).missing
        assert not {m.lower() for m in missing} & {a.lower() for a in asked}
        asked += missing[:1]
    assert len(set(asked)) == len(asked) >= 3


def test_a_comparison_asks_for_each_thing() -> None:
    missing = answer("Which is taller, the Alder Tower or the Birch Tower?", []).missing
    assert all(any(tower in query for query in missing) for tower in ("Alder", "Birch"))


def test_the_order_of_the_sources_does_not_matter() -> None:
    shuffled = random.Random(4).sample(sources(), len(PAGES))
    assert answer(VILLAGE, shuffled, NOW).value == answer(VILLAGE, sources(), NOW).value


def test_ranking_prefers_statements_and_drops_repetition() -> None:
    text = "Ostrel is a market town on the river Wim.\n\nRead more about Ostrel here\n\nWhat is Ostrel?"
    found = rank("the town of Ostrel", [*sources(), Source(text, "https://other.example")], most=4)
    texts = [evidence.sentence for evidence in found]
    assert sum("market town" in text for text in texts) == 1
    assert not any(text.startswith(("Read more", "What is")) for text in texts)
    assert all("Ostrel" in f"{e.sentence} {e.source.title}" for e in found[:3])
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)


def test_none_at_the_start_of_a_sentence_is_not_a_name() -> None:
    source = Source("Several mills are called Holdrin. None of them is related to another.", "u", "Holdrin")
    found = answer("In which town was the founder of Holdrin Mills born?", [source], NOW)
    assert not any("None" in query for query in found.missing)
