"""A text that nothing marks, and what is asked of it: both are found, whatever stands between them."""

import pytest

from aiq.offline.engine import respond
from aiq.offline.engine.passage import split
from aiq.offline.engine.read import read
from tests.offline.engine.conftest import Ask

TEXT = (
    "The Vorn Weir gave way during a flood on 2 March 1961, when a barge struck its middle gate."
    " The weir had been designed by Ada Kestrel. Kestrel used oak gates on stone piers. The weir had 14 gates."
)
ASKED = "Who designed the weir?"
LINES = TEXT.replace(". ", ".\n")
LAYOUTS = {
    # what a newcomer tried
    "a line": f"{TEXT}\n{ASKED}",
    "a blank line": f"{TEXT}\n\n{ASKED}",
    "the question first": f"{ASKED}\n\n{TEXT}",
    "a rule": f"{TEXT}\n---\n{ASKED}",
    "a label": f"Text: {TEXT}\n{ASKED}",
    "a label behind": f"Based on the following passage, answer: {ASKED}\n\nPassage: {TEXT}",
    "Markdown headings": f"# Source\n{TEXT}\n\n# Question\n{ASKED}",
    "a quotation": f"> {TEXT}\n\n{ASKED}",
    "a number": f"[1] {TEXT}\n\n{ASKED}",
    "JSON": f'{{"passage": "{TEXT}"}}\n{ASKED}',
    # and others
    "one line": f"{TEXT} {ASKED}",
    "two numbers": f"[1] {TEXT}\n\n[2] It was rebuilt in 1970.\n\n{ASKED}",
    "how to reply": f"{TEXT}\n\n{ASKED} Answer in one sentence.",
    "how to read": f"Using only the text, answer the question.\n{TEXT}\n{ASKED}",
    "rules of the form": f"=== Document ===\n{TEXT}\n=== Question ===\n{ASKED}",
    "a title": f"The weir of Vorn\n\n{TEXT}\n\nQ: {ASKED}\nA:",
    "points": "- " + LINES.replace("\n", "\n- ") + f"\n\n{ASKED}",
    "paragraphs": LINES.replace("\n", "\n\n") + f"\n\n{ASKED}",
    "a letter": f"Hi,\n\n{TEXT}\n\n{ASKED}\n\nThanks!",
    "what one knows": f"Here is what I know: {TEXT}\n\n{ASKED}",
    "JSON with its question": f'{{"context": "{TEXT}", "question": "{ASKED}"}}',
}
SYSTEMS = {
    "a line": f"Use this context:\n{TEXT}",
    "a sentence": f"Answer only from this passage: {TEXT}",
    "a paragraph": f"You are a guide. Answer the user with the context below.\n\nContext:\n{TEXT}\n\nBe brief.",
    "a heading": f"You are a guide.\n\n## Background information\n{TEXT}\n\n## Rules\n- Be brief.",
}


@pytest.mark.parametrize("told", LAYOUTS.values(), ids=LAYOUTS)
def test_the_passage_and_the_question_are_found(ask: Ask, told: str) -> None:
    situation = read(ask(told))
    assert situation.task == ASKED
    assert "designed by Ada Kestrel" in " ".join(source.text for source in situation.sources)
    assert "Kestrel" not in situation.instructions


@pytest.mark.parametrize("told", SYSTEMS.values(), ids=SYSTEMS)
def test_the_passage_of_a_system_message_is_found(ask: Ask, told: str) -> None:
    situation = read(ask(ASKED, system=told))
    assert [source.text for source in situation.sources] == [TEXT]
    assert "Kestrel" not in situation.instructions


@pytest.mark.parametrize(
    "told",
    [
        "资料：青石桥由李明于1902年建造，全长120米。\n问题：青石桥是谁建造的？",
        "青石桥是谁建造的？\n青石桥由李明于1902年建造，全长120米。",
    ],
)
def test_a_passage_in_chinese(ask: Ask, told: str) -> None:
    assert read(ask(told)).task == "青石桥是谁建造的？"
    assert "李明" in respond(ask(told)).text


def test_a_summary_of_what_follows(ask: Ask) -> None:
    reply = respond(ask(f"Summarize the following text in one sentence:\n\n{TEXT}")).text
    assert reply in TEXT


@pytest.mark.parametrize(
    "told",
    [
        ASKED,
        f"{ASKED} The answer is a name.",
        "I am a student at a small college. I have been reading about weirs lately. Who designed the Vorn Weir?",
        f"{ASKED} I live in Vorn and I am writing about it. Please be brief.",
        "The Vorn Weir is famous.",
        "Describe the Vorn Weir: its builders, its gates, the men who drowned there, and its use today.",
        "请介绍青石桥：各个时期的建造者和设计者，以及桥梁至今的发展。",
    ],
)
def test_a_person_s_own_words_are_no_passage(told: str) -> None:
    assert split(told) == ("", "", told)


def test_the_background_of_a_report_is_no_evidence(ask: Ask) -> None:
    task = "Weirs have been rebuilt in many valleys. Write a report on the weirs of Vorn."
    situation = read(ask(task))
    assert (situation.task, situation.sources) == (task, ())
