"""A text that nothing marks, and what is asked of it: both are found, whatever stands between them."""

from aiq.offline.engine import respond
from aiq.offline.engine.passage import split
from aiq.offline.engine.read import read
from tests.offline.cases import table
from tests.offline.engine.conftest import ask

each = table(__file__)

TEXT = (
    "The Vorn Weir gave way during a flood on 2 March 1961, when a barge struck its middle gate."
    " The weir had been designed by Ada Kestrel. Kestrel used oak gates on stone piers. The weir had 14 gates."
)
ASKED = "Who designed the weir?"


@each("user")
def test_the_passage_and_the_question_are_found(told: str) -> None:
    situation = read(ask(told))
    assert situation.task == ASKED
    assert "designed by Ada Kestrel" in " ".join(source.text for source in situation.sources)
    assert "Kestrel" not in situation.instructions


@each("system")
def test_the_passage_of_a_system_message_is_found(told: str) -> None:
    situation = read(ask(ASKED, system=told))
    assert [source.text for source in situation.sources] == [TEXT]
    assert "Kestrel" not in situation.instructions


@each("Chinese")
def test_a_passage_in_chinese(told: str) -> None:
    assert read(ask(told)).task == "青石桥是谁建造的？"
    assert "李明" in respond(ask(told)).text


def test_a_summary_of_what_follows() -> None:
    reply = respond(ask(f"Summarize the following text in one sentence:\n\n{TEXT}")).text
    assert reply in TEXT


@each("words")
def test_a_person_s_own_words_are_no_passage(told: str) -> None:
    assert split(told) == ("", "", told)


def test_the_background_of_a_report_is_no_evidence() -> None:
    task = "Weirs have been rebuilt in many valleys. Write a report on the weirs of Vorn."
    situation = read(ask(task))
    assert (situation.task, situation.sources) == (task, ())
