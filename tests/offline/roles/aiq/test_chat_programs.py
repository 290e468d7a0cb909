"""Intent classifier, clarifier and its planner, offline: what their words decide, and what the prompt must say."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from aiq.offline.chat import ChatRequest
from aiq.offline.roles.aiq import clarifier, clarifier_planner, intent_classifier

Classify = Callable[..., ChatRequest]


def routed(classify: Classify, text: str, prompt: str | None = None) -> Any:
    return json.loads(intent_classifier.reply(classify("intent_classifier.j2", "question", text, prompt=prompt)).text)


@pytest.mark.parametrize(
    "text", ["Hello!", "hi there", "Thank you", "What can you do?", "Who are you?", "你好", "你能做什么？"]
)
def test_small_talk_is_meta_and_answered(classify: Classify, text: str) -> None:
    found = routed(classify, text)
    assert found["intent"] == "meta"
    assert found["meta_response"]


@pytest.mark.parametrize(
    "text",
    [
        "Write a report on tidal energy.",
        "Compare the two institutes.",
        "How do birds navigate? What disturbs them?",
        "请撰写一份研究报告：潮汐能。",
        "比较这两所院校。",
    ],
)
def test_reports_comparisons_and_several_questions_are_deep(classify: Classify, text: str) -> None:
    assert routed(classify, text)["research_depth"] == "deep"


@pytest.mark.parametrize(
    "text",
    [
        "Who is the mayor of Tessmark?",
        "What is the population of the city where the founder of Halden Works was born?",
        "Which of the companies headquartered in Orlune employs the most people?",  # looks shallow, and is not
        "High tide is when?",
    ],
)
def test_single_questions_are_shallow(classify: Classify, text: str) -> None:
    assert routed(classify, text)["research_depth"] == "shallow"


def test_a_prompt_that_names_no_depth_gets_none(classify: Classify) -> None:
    assert routed(classify, "Write a report.", prompt="Decide between `meta` and `research`.")["research_depth"] is None
    assert routed(classify, "Hello!", prompt="Decide between `shallow` and `deep`.")["intent"] == "research"


def test_a_vague_task_is_asked_about_once(classify: Classify) -> None:
    vague = classify("clarifier.j2", "task", "Write a report on energy.", "Questions left: 3")
    found = json.loads(clarifier.reply(vague).text)
    assert found["needs_clarification"]
    assert "energy" in found["clarification_question"]
    answered = classify("clarifier.j2", "task", "Write a report on energy.", "<dialogue>\nQ: x\nA: y\n</dialogue>")
    assert not json.loads(clarifier.reply(answered).text)["needs_clarification"]
    spent = classify("clarifier.j2", "task", "Write a report on energy.", "Questions left: 0")
    assert not json.loads(clarifier.reply(spent).text)["needs_clarification"]


def test_a_clear_task_is_not(classify: Classify) -> None:
    text = "Write a report on tidal energy on the Morquist Coast: companies, founders and outlook."
    assert not json.loads(clarifier.reply(classify("clarifier.j2", "task", text)).text)["needs_clarification"]


TASK = "Write a report on boats on the Derstad Islands: which companies there are, who founded them, and the outlook."


def planned(classify: Classify, more: str = "", prompt: str | None = None, task: str = TASK) -> list[str]:
    request = classify("clarifier_planner.j2", "task", task, more, prompt)
    plan = json.loads(clarifier_planner.reply(request).text)
    assert plan["title"]
    return list(plan["sections"])


def test_a_plan_has_the_tasks_facets_and_as_many_sections_as_the_prompt_asks_for(classify: Classify) -> None:
    sections = planned(classify)
    assert 5 <= len(sections) <= 8
    assert "Who founded them" in sections
    assert sections[-1] == "Conclusion"
    assert len(planned(classify, prompt="Make 3 to 3 sections.")) == 3


def test_a_plan_is_in_the_language_of_the_task(classify: Classify) -> None:
    sections = planned(classify, task="请撰写一份关于潮汐能的研究报告：有哪些公司，由谁创办，总部设在哪里。")
    assert "由谁创办" in sections
    assert sections[-1] == "结论"


def test_feedback_changes_the_plan(classify: Classify) -> None:
    feedback = "<feedback>\nPlease add a section on prices.\n</feedback>"
    assert "Prices" in planned(classify, feedback)
    assert len(planned(classify, "<feedback>\nMake it shorter.\n</feedback>")) == 5
