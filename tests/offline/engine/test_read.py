"""Requests in many forms: the sources, task, steps, lists and dates found in them."""

import json
from datetime import date
from typing import Any

import pytest

from aiq.offline.chat import ChatRequest
from aiq.offline.engine.material import sources
from aiq.offline.engine.read import Situation, read
from tests.cases import table

each = table(__file__)

QUESTION = "Who is the mayor of Pellow Quay?"
QUAY, LEFT = "https://gazetteer.example/pellow-quay", "https://courier.example/2026/a_(b)"
PORT = "Pellow Quay is a fishing port and market town. Since May 2023 the mayor has been Odile Farrant."
NEWS = "Odile Farrant left office on Tuesday. Councillors then voted for Hugh Lamorick."


def _read(*messages: tuple[str, str]) -> Situation:
    told = [{"role": role, "content": content} for role, content in messages]
    return read(ChatRequest.model_validate({"model": "m", "messages": told}))


@each("sources")
def test_sources_in_any_form(text: str, found: list[list[str]]) -> None:
    assert [[s.key, s.title, s.text] for s in sources(text)] == found


def test_a_hit_has_its_own_date_and_keeps_numbers_inside_lines() -> None:
    counted = "She came in March 2023. Some 5,007 people live there; in 1961. it was 1,245. The rest left."
    hits = f"* Pellow Quay <{QUAY}> {counted}\nLast updated: 2023-05-03.\n* Farrant steps down <{LEFT}> {NEWS}"
    assert [(s.key, s.text, s.day) for s in sources(hits)] == [(QUAY, counted, date(2023, 5, 3)), (LEFT, NEWS, None)]


@each("date")
def test_dates_of_rows(said: str) -> None:
    [row] = sources(json.dumps([{"url": QUAY, "text": PORT, "published_date": said}]))
    assert row.day == date(2026, 3, 14)


@each("task")
def test_the_task_is_found(messages: list[tuple[str, str]]) -> None:
    assert _read(*messages).task == QUESTION


def test_the_task_in_chinese() -> None:
    told = (
        ("system", "今天是2026年11月1日。请用工具查找。"),
        ("user", "问题：佩洛码头的现任市长是谁？\n\n请用JSON回答。"),
    )
    situation = _read(*told)
    assert (situation.task, situation.language, situation.now) == ("佩洛码头的现任市长是谁？", "zh", date(2026, 11, 1))


@each("material")
def test_material_in_the_user_s_message(content: str) -> None:
    situation = _read(("user", content))
    assert [(s.key, s.text) for s in situation.sources] == [(QUAY, PORT), (LEFT, NEWS)]
    assert situation.task == QUESTION
    assert "Odile" not in situation.instructions


@each("unmarked")
def test_statements_around_one_question_are_material(told: str, found: bool) -> None:
    assert bool(_read(("user", told)).sources) is found


def test_with_tools_such_statements_belong_to_the_question() -> None:
    told = "Ada Kestrel studied somewhere before she built the mill. Where was that?"
    tools = [
        {"type": "function", "function": {"name": "web_search", "parameters": {"type": "object", "properties": {}}}}
    ]
    request = {"model": "m", "messages": [{"role": "user", "content": told}]}
    assert read(ChatRequest.model_validate(request | {"tools": tools})).task == told
    assert read(ChatRequest.model_validate(request)).task == "Where was that?"


def test_a_tag_s_attributes_name_the_source() -> None:
    page = f'<page url="{QUAY}" title="The port" published="2026-03-01">\n{PORT}\n</page>\n\n{QUESTION}'
    [source] = _read(("user", page)).sources
    assert (source.key, source.title, source.day, source.text) == (QUAY, "The port", date(2026, 3, 1), PORT)


@pytest.mark.parametrize("names", ["<question> and </question>", "`<question>` and `</question>`"])
def test_tags_that_a_prompt_only_mentions_mark_nothing(names: str) -> None:
    situation = _read(("system", f"What is asked stands between {names}. Be brief."), ("user", QUESTION))
    assert (situation.task, situation.blocks) == (QUESTION, ())
    assert "Be brief." in situation.instructions


def test_worked_examples_and_lists_of_tools_are_not_material() -> None:
    shown = "question: Who built it?\nresponse: It was built by a guild in 1901.\ncomment: fine.\n\nTools:\n"
    situation = _read(("user", f"{shown}- fetch_page: Opens a page. Use it.\n\n<question>\n{QUESTION}\n</question>"))
    assert (situation.task, situation.sources, len(situation.blocks)) == (QUESTION, (), 1)


@each("tools")
def test_tool_messages(messages: list[dict[str, Any]]) -> None:
    situation = read(ChatRequest.model_validate({"model": "m", "messages": messages}))
    assert situation.task == QUESTION
    assert [(s.tool, s.arguments) for s in situation.steps] == [
        ("google", {"q": "mayor"}),
        ("think", {"thought": "The mayor may have changed."}),
        ("open", {"address": LEFT}),
    ]
    assert [(s.key, s.title) for s in situation.sources] == [(QUAY, "Pellow Quay"), (LEFT, "Farrant steps down")]


@each("calls")
def test_calls_written_as_text(messages: list[tuple[str, str]]) -> None:
    situation = _read(("user", QUESTION), *messages)
    assert [(s.tool, s.arguments) for s in situation.steps] == [("find", {"input": "mayor"})]
    assert [s.key for s in situation.sources] == [QUAY, LEFT]
    assert situation.task == QUESTION


def test_the_assistant_s_thoughts_are_not_evidence_but_what_it_cited_is() -> None:
    cited = f"The mayor was Odile Farrant [1]. I believe it rained.\n\n## References\n[1] Pellow Quay - {QUAY}"
    situation = _read(("user", "Who was the mayor in 2023?"), ("assistant", cited), ("user", "And who is it today?"))
    assert [(s.key, s.text) for s in situation.sources] == [(QUAY, "The mayor was Odile Farrant.")]
    assert situation.history == (("user", "Who was the mayor in 2023?"), ("assistant", cited))


@each("lists")
def test_lists_in_a_dispatch_or_plan(told: str) -> None:
    situation = _read(("user", f"Research for a report.\n<task>\n{QUESTION}\n</task>\n{told}"))
    assert situation.queries == ("mayor of Pellow Quay", "council of Pellow Quay")
    assert situation.sections == ("People", "Costs")


@each("today")
def test_the_date_of_today(said: str) -> None:
    assert _read(("system", said), ("user", f"<page>\nToday is 2001-01-01. {NEWS}\n</page>\n{QUESTION}")).now == date(
        2026, 11, 1
    )


def test_a_prompt_without_the_date_of_today() -> None:
    assert _read(("user", "Who was mayor as of 3 May 2024?")).now is None


def test_long_prompts_are_read_fast_enough() -> None:
    long = '<a> [x](y) {"q": [1, `Title: x` https://x.example/1 [1] "half\n' * 4_000
    assert _read(("user", f"{long}\n\nQuestion: {QUESTION}")).task == QUESTION
