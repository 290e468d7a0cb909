"""The offline assessor: what it takes for a gap or a conflict, what it misses, and that it does as the prompt says."""

import json
from collections.abc import Callable

import pytest

from aiq.agents.ai_q.escalation import Sufficiency
from aiq.core.prompts import fence
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.roles.aiq import escalation

Classify = Callable[..., ChatRequest]

LOOKUP = "What is the population of Nevshaw?"
LATEST = "What is the current population of Nevshaw?"
LISTED = "Who was born first: Talvey Sorwyn, Danland Selbury or Ilan Corvey?"
GROUP = "Which of the companies headquartered in Orlune employs the most people?"
NOW = "Current date and time: 2026-11-01T09:00:00+00:00"


def assessed(classify: Classify, question: str, answer: str, prompt: str | None = None) -> Sufficiency:
    text = f"{answer}\n\n## References\n[1] a - https://pages.test/a"
    more = f"{fence(text, 'answer')}\n{NOW}"
    reply = escalation.reply(classify("escalation.j2", "question", question, more, prompt))
    return Sufficiency.model_validate(json.loads(reply.text))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (LOOKUP, "Nevshaw has 418,878 inhabitants [1]."),
        (LATEST, "418,878 (as of March 2026). Nevshaw has 418,878 inhabitants [1]."),
        (LISTED, "Talvey Sorwyn (1901) [1]. Danland Selbury was born in 1910 [2]. Ilan Corvey in 1931 [3]."),
        (GROUP, "Halden Works: 4,310 [1]. Ormark Kilns: 310 [2]. Wilvey: 12 [3]."),
        ("Is the proof right?", "I was unable to find any error in the proof; it is correct [1]."),
        (LOOKUP, "Nevshaw has 7 inhabitants [1]."),  # wrong, and well cited: it cannot know
    ],
)
def test_sufficient(classify: Classify, question: str, answer: str) -> None:
    assert assessed(classify, question, answer) == Sufficiency(sufficient=True)


@pytest.mark.parametrize(
    ("question", "answer", "gap"),
    [
        (LOOKUP, "I don't have enough information: nothing [1].", "I don't have enough information: nothing [1]."),
        (LOOKUP, "I could not find 2 of them [1].", "I could not find 2 of them [1]."),
        (LOOKUP, "Most likely 418,878 [1].", "a guess: Most likely 418,878 [1]."),
        (LOOKUP, "It is a large town [1].", "no number is given"),
        (LOOKUP, "It has 418,878 inhabitants.", "no statement is cited"),
        (LATEST, "418,878 (as of March 2022) [1].", "the newest value is of 2022"),
        (LISTED, "Talvey Sorwyn (1901) [1]. Danland Selbury was born in 1910 [2].", "nothing is said of Ilan Corvey"),
        (GROUP, "Halden Works: 4,310 [1].", "the members of the group are not compared; sources cited: 1"),
    ],
)
def test_gaps(classify: Classify, question: str, answer: str, gap: str) -> None:
    assert assessed(classify, question, answer) == Sufficiency(sufficient=False, material_gap=gap)


def test_a_conflict_that_the_answer_leaves_open(classify: Classify) -> None:
    said = "Nevshaw has 5 or 7 inhabitants: the sources differ? The sources are conflicting [1]."
    found = assessed(classify, LOOKUP, said)
    assert (found.sufficient, found.material_gap) == (False, None)
    assert found.material_conflict == "The sources are conflicting [1]."
    assert assessed(classify, LOOKUP, f"{said} The newest says 7 [1].").sufficient


@pytest.mark.parametrize("missing", ["material_gap", "could not find"])
def test_it_looks_for_what_the_prompt_names_only(classify: Classify, missing: str) -> None:
    template = classify("escalation.j2", "question", "").system
    assert missing in template
    answer = "I don't have enough information about 1 thing [1]."
    assert not assessed(classify, LOOKUP, answer).sufficient
    assert assessed(classify, LOOKUP, answer, template.replace(missing, "")).sufficient


def test_without_its_form_or_an_answer_it_says_words(classify: Classify) -> None:
    assert escalation.reply(classify("escalation.j2", "question", LOOKUP)).text == "The answer looks fine."
    more = fence("x", "answer")
    reply = escalation.reply(classify("escalation.j2", "question", LOOKUP, more, prompt="Is it enough?"))
    assert reply.text == "The answer looks fine."


@pytest.mark.parametrize(("bad", "sufficient"), [("It is fine.", True), ("The value is not known.", False)])
def test_a_repair_keeps_the_meaning(bad: str, sufficient: bool) -> None:
    request = ChatRequest(model="m", messages=(ChatMessage(role="user", content=fence(bad, "bad_reply")),))
    assert json.loads(escalation.reply(request).text)["sufficient"] is sufficient
