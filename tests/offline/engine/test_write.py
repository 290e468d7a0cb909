import re

import pytest

from aiq.offline.engine import respond
from aiq.offline.engine.report import MOST_SENTENCES
from tests.cases import table
from tests.offline.engine.conftest import ask, called, tool

each = table(__file__)

SEARCH = tool("lookup", "Looks a phrase up on the web.", "q")
HITS = [
    {
        "url": "https://a.offline.example/brone",
        "title": "Brone Glass",
        "text": "Brone Glass was founded by Edda Marrow in 1904.",
    },
    {
        "url": "https://b.offline.example/edda",
        "title": "Edda Marrow",
        "text": "Edda Marrow was born in Tilt. She owned a boat.",
    },
]
FOUND = called(("lookup", {"q": "Brone Glass"}, HITS))
REPORT = "Write a report on Brone Glass: its founder, its year of founding, and the origin of the founder."


def test_the_answer_comes_first_with_its_citation_and_reference() -> None:
    text = respond(ask("Who founded Brone Glass?", *FOUND, tools=(SEARCH,), system="Cite your sources.")).text
    assert re.match(r"[^.]*Edda Marrow \[1\]\.", text)
    assert text.rstrip().endswith("[1] Brone Glass - https://a.offline.example/brone")


def test_without_evidence_it_says_so_and_cites_nothing() -> None:
    text = respond(ask("Who founded Tilt Mirrors?", *called(("lookup", {"q": "Tilt Mirrors"}, "[]")), tools=())).text
    assert "nothing was found on" in text
    assert "http" not in text


def test_the_prompt_may_say_what_to_write_without_evidence() -> None:
    system = 'If the evidence does not suffice, say "No evidence at hand" and what is missing.'
    assert respond(ask("Who founded Tilt Mirrors?", system=system)).text.startswith("No evidence at hand")


@each("citations")
def test_citations_as_the_prompt_wants_them(system: str, has: list[str], lacks: list[str]) -> None:
    text = respond(ask("Who founded Brone Glass?", *FOUND, tools=(SEARCH,), system=system)).text
    assert all(part in text for part in has), text
    assert not any(part in text for part in lacks), text


def test_a_report_has_a_title_sections_and_only_cited_sentences_of_the_sources() -> None:
    system = "Support each statement with a citation such as [1]. End with a section ## References."
    text = respond(ask(REPORT, *FOUND, tools=(), system=system)).text
    assert text.startswith("# ")
    assert text.count("\n## ") >= 2
    said = [line for line in text.partition("## References")[0].splitlines() if line and not line.startswith("#")]
    for sentence in (s for line in said for s in re.split(r"(?<=\.)\s", line) if s and "Nothing was found" not in s):
        assert re.search(r"\[\d\]", sentence), sentence


def test_a_report_from_too_many_sentences_has_as_many_as_allowed() -> None:
    works = [f"The kiln of Sorwyn Hall has {number} vaults and two doors." for number in range(MOST_SENTENCES + 30)]
    page = {"url": "https://c.offline.example/kilns", "title": "Kilns of the land", "text": " ".join(works)}
    found = called(("lookup", {"q": "Brone Glass"}, [*HITS, page]))
    text = respond(ask(REPORT, *found, tools=(), system="Cite as in [1].")).text
    assert "founded by Edda Marrow" in text
    assert sum(f" {number} vaults" in text for number in range(len(works))) > MOST_SENTENCES - 10


def test_a_pronoun_is_replaced_by_the_subject_of_its_page() -> None:
    assert "Edda Marrow owned a boat" in respond(ask(REPORT, *FOUND, tools=())).text


def test_findings_are_listed_under_the_queries_handed_over() -> None:
    task = f"<task>\n{REPORT}\n</task>\nQueries:\n- Brone Glass founder\n- Edda Marrow birthplace"
    results = called(
        ("lookup", {"q": "Brone Glass founder"}, HITS[:1]), ("lookup", {"q": "Edda Marrow birthplace"}, HITS[1:])
    )
    text = respond(ask(task, *results, tools=(SEARCH,))).text
    first, second = text.index("**Brone Glass founder**"), text.index("**Edda Marrow birthplace**")
    assert first < text.index("founded by Edda Marrow") < second < text.index("born in Tilt")


def test_a_summary_keeps_to_its_length() -> None:
    document = " ".join(
        f"The council of Tilt settled matter {n} of the harbour budget in {1900 + n}." for n in range(40)
    )
    system = "Summarise the document in at most 200 characters. Reply with the summary and nothing else."
    text = respond(ask(f"<document>\n{document}\n</document>", system=system)).text
    assert 0 < len(text) <= 200
    assert text.split(".")[0] in document


@each("talk")
def test_small_talk_needs_no_search(greeting: str) -> None:
    reply = respond(ask(greeting, tools=()))
    assert reply.text
    assert "information" not in reply.text


@each("person")
def test_on_behalf_of_a_person_it_says_what_they_want(asked: str, label: str, reply: str) -> None:
    system = (
        "You play a person who asked for work. To a question: answer from your preferences; where they say nothing, "
        "reply `skip` and nothing else.\n"
        "To a plan: say what it leaves out of them, otherwise reply `approve` and nothing else."
    )
    user = (
        "<request>\nA history of Brone Glass.\n</request>\n"
        "<preferences>\nOnly years after 1990 matter to me.\n</preferences>\n"
        f"<{label}>\n{asked}\n</{label}>"
    )
    assert reply in respond(ask(user, system=system)).text


def test_a_reply_of_one_word_is_the_answer_not_the_first_word() -> None:
    assert respond(ask("Who founded Brone Glass?", *FOUND, system="Reply in one word.")).text == "Edda Marrow"


@pytest.mark.parametrize("part", ["Act as a research assistant to the customer.", "You act as a user support agent."])
def test_in_the_role_of_an_assistant_it_answers(part: str) -> None:
    assert "Edda Marrow" in respond(ask("Who founded Brone Glass?", *FOUND, system=part)).text


def test_a_text_after_an_order_to_summarise_is_summarised() -> None:
    text = "Vorn Mill was built in 1871 by Ada Kestrel. It burned down in a storm in 1902."
    assert respond(ask(f"Summarize the following text:\n\n{text}")).text == text


@each("sum")
def test_a_text_on_the_same_line_is_summarised_in_its_order(told: str) -> None:
    said = respond(ask(told)).text
    assert 0 <= said.find("1904") < said.find("1931")
