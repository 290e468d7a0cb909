"""The simulated user, offline: it answers from its preferences, reviews by them, and overlooks other words."""

import pytest

from aiq.experiment.users import _prompts
from aiq.offline.chat import ChatMessage, ChatRequest
from aiq.offline.roles.user import simulated

WISHES = "I care about fishing rights. The report should cover the years since 2015."


def said(
    kind: str, prompt: str, preferences: str = WISHES, said: tuple[str, ...] = (), system: str | None = None
) -> str:
    variable = _prompts().render(
        "simulated_user_request.j2",
        kind=kind,
        question="Write a report on the coast.",
        preferences=preferences,
        said=list(said),
        prompt=prompt,
    )
    rules = _prompts().render("simulated_user.j2") if system is None else system
    messages = (ChatMessage(role="system", content=rules), ChatMessage(role="user", content=variable))
    return simulated.reply(ChatRequest(model="m", messages=messages)).text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which years should it look at?", "The report should cover the years since 2015."),
        ("Is fishing of interest?", "I care about fishing rights."),
        ("Which coast do you mean?", "skip"),
        ("Any particular industry?", "skip"),  # fishing is one, but not by its words
    ],
)
def test_answers(question: str, answer: str) -> None:
    assert said("question", question) == answer


def test_without_preferences_it_skips_and_approves() -> None:
    assert said("question", "Which years?", preferences="") == "skip"
    assert said("plan", "1. Origins", preferences="") == "approve"


def test_a_plan_that_leaves_out_a_preference_gets_feedback_once() -> None:
    assert said("plan", "1. Origins") == "Please also cover fishing rights."
    plan = "1. Fishing rights\n2. Origins"
    assert said("plan", plan) == "Please also cover the years since 2015."
    assert said("plan", f"{plan}\n3. Years since 2015") == "approve"


def test_broken_rules_break_the_reply() -> None:
    assert said("plan", "1. Fishing rights, years since 2015", system="Be nice.") == "Fine."
    assert said("question", "Which years?", system="Be nice.") == WISHES
