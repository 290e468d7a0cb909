"""Escalation by phrases, case by case as specification 3.2 has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.agents.ai_q.chat import should_escalate
from aiq.agents.ai_q.escalation import PHRASES, WINDOW, assess
from aiq.agents.ai_q.states import ChatResearcherState, ShallowResult
from aiq.citations.body import without_references

REFERENCES = "\n\n## References\n" + "\n".join(f"[{n}] A title - https://pages.test/{n:040d}" for n in range(1, 20))


@pytest.mark.parametrize(
    ("answer", "escalates"),
    [
        (None, True),
        ("", True),
        ("   ", True),
        ("\n\t", True),
        ("I was unable to find the number.", True),
        ("UNABLE TO FIND the number.", True),
        ("I don't have enough information to say.", True),
        ("I don\u2019t have enough information to say.", True),
        ("We need more research on this.", True),
        ("Unable to find it at first. " + "x" * WINDOW, False),
        ("I was unable to find any error in the proof; it is correct.", True),  # a false alarm, known and measured
        ("I could not find it.", False),
        ("There is insufficient information.", False),
        ("No results.", False),
        ("The mayor is Ilan Corvey [1].", False),
        ("I was unable to find the number." + REFERENCES, True),
        ("The mayor is Ilan Corvey [1]." + REFERENCES, False),
    ],
)
def test_the_table(answer: str | None, escalates: bool) -> None:
    assert assess(answer).escalate is escalates


def test_the_reference_list_alone_is_longer_than_the_window() -> None:
    assert len(REFERENCES) > WINDOW


@pytest.mark.parametrize(
    "heading", ["## References", "**References:**", "References:", "### Sources", "参考文献", "**References**"]
)
def test_reference_lists_are_recognised_however_headed(heading: str) -> None:
    assert without_references(f"An answer [1].\n\n{heading}\n[1] T - https://pages.test/1") == "An answer [1]."


def test_a_sentence_about_references_is_no_heading() -> None:
    text = "References to older work abound.\nThe end."
    assert without_references(text) == text


@given(st.text(max_size=WINDOW), st.sampled_from(PHRASES), st.text(alphabet="abc ", max_size=WINDOW))
def test_a_phrase_counts_exactly_within_the_window(before: str, phrase: str, after: str) -> None:
    answer = f"{before}{phrase}{after}!"
    inside = len(phrase) + len(after) + 1 <= WINDOW
    if not any(other in before.lower() for other in PHRASES) and len(without_references(answer)) == len(answer):
        assert assess(answer).escalate is inside or phrase in (after + before).lower()


@pytest.mark.parametrize(
    ("enabled", "wants", "goes"), [(True, True, "clarifier"), (False, True, "__end__"), (True, False, "__end__")]
)
def test_the_switch_gates_escalation(enabled: bool, wants: bool, goes: str) -> None:
    state = ChatResearcherState(messages=[], shallow_result=ShallowResult(answer="", escalate=wants))
    assert should_escalate(state, enabled=enabled) == goes
