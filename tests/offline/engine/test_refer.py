"""What a question in a conversation refers to: names for "she" and "that city", the question of an earlier answer."""

from pathlib import Path

import pytest

from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.engine import respond
from aiq.offline.engine.refer import standalone
from tests.cases import rows, table

each = table(__file__)


def history(*said: str) -> tuple[tuple[str, str], ...]:
    """The user's and the assistant's messages in turn."""
    return tuple((("user", "assistant")[number % 2], text) for number, text in enumerate(said))


@each("refers")
def test_a_reference_is_replaced_by_the_name_it_means(said: list[str], asked: str, reads: str) -> None:
    assert standalone(asked, history(*said)) == reads


@each("recalls")
def test_a_question_about_an_earlier_answer_becomes_its_question(said: list[str], asked: str, reads: str) -> None:
    assert standalone(asked, history(*said)) == reads


@each("stays")
def test_text_without_a_reference_stays_unchanged(said: list[str], asked: str) -> None:
    assert standalone(asked, history(*said)) == asked


@pytest.mark.parametrize("row", [row for row in rows(Path(__file__).with_suffix(".jsonl")) if row["of"] != "stays"])
def test_without_a_conversation_nothing_changes(row: dict[str, str]) -> None:
    assert standalone(row["asked"], ()) == row["asked"]


def test_the_model_answers_from_the_conversation_alone() -> None:
    """Nothing but the conversation has the answer, and there is no tool."""
    told = "Mara Venn wrote it [1]. The Tin Orchard is by Mara Venn [1].\n\n## References\n[1] T - https://a.example/t"
    said = ("Who wrote The Tin Orchard?", told, "And when did she write it?", "In 1931.", "What did you answer first?")
    messages = [ChatMessage(role=role, content=text) for role, text in history(*said)]
    reply = respond(ChatRequest(model="offline-1", messages=messages))
    assert "Mara Venn" in (reply.text or "")
