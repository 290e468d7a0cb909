"""Requests of many shapes: which sources, task, steps, lists and dates are found in them."""

import json
from datetime import date
from typing import Any

import pytest

from aiq.offline.chat import ChatRequest
from aiq.offline.engine.material import sources
from aiq.offline.engine.read import Situation, read

QUESTION = "Who is the mayor of Pellow Quay?"
QUAY, LEFT = "https://gazetteer.example/pellow-quay", "https://courier.example/2026/a_(b)"
PORT = "Pellow Quay is a fishing port and market town. Since May 2023 the mayor has been Odile Farrant."
NEWS = "Odile Farrant left office on Tuesday. Councillors then voted for Hugh Lamorick."
ROWS = [
    {"url": QUAY, "title": "Pellow Quay", "content": PORT, "published": "2025-02-11"},
    {"link": LEFT, "headline": "Farrant steps down", "snippet": NEWS, "date": "3 May 2026"},
]
BOTH = [(QUAY, "Pellow Quay", PORT), (LEFT, "Farrant steps down", NEWS)]
RESULTS = f"## Results\n\n[Pellow Quay]({QUAY})\n{PORT}\n\n[Farrant steps down]({LEFT})\n{NEWS}"
LISTED = (
    f"Source: {QUAY}\nTitle: Pellow Quay\nContent: {PORT}\n\nSource: {LEFT}\nTitle: Farrant steps"
    f" down\nContent: {NEWS}\n"
)
HTML = (
    f"<!doctype html><html><head><title>Pellow Quay</title><link rel='canonical' href='{QUAY}'></head>"
    f"<body><nav>Home</nav><p>{PORT}</p></body></html>"
)

MATERIAL = {
    "a JSON list": json.dumps(ROWS),
    "a JSON object": json.dumps({"query": "mayor of Pellow Quay", "answer": None, "results": ROWS}),
    "JSON lines": "\n".join(map(json.dumps, ROWS)),
    "words before JSON": "Search results:\n" + json.dumps(ROWS, indent=2),
    "a Python literal": repr(ROWS),
    "MCP content": json.dumps({"content": [{"type": "text", "text": json.dumps(ROWS)}], "isError": False}),
    "an MCP list": json.dumps([{"type": "text", "text": RESULTS}]),
    "structured content": json.dumps({"content": [], "structuredContent": {"result": ROWS}}),
    "documents with metadata": json.dumps(
        [
            {"page_content": PORT, "metadata": {"source": QUAY, "title": "Pellow Quay", "page": 2}},
            {"page_content": NEWS, "metadata": {"source": LEFT, "title": "Farrant steps down"}},
        ]
    ),
    "deep nesting": json.dumps({"data": {"web": {"results": [{"meta": {"favicon": "https://x.example/i.png"},
        **r} for r in ROWS]}}}),
    "Markdown links": RESULTS,
    "Markdown headings": f"### 1. [Pellow Quay]({QUAY})\n\n{PORT}\n\n### 2. [Farrant steps down]({LEFT})\n\n{NEWS}\n",
    "a numbered list": f"1. **Pellow Quay** - {QUAY}\n   {PORT}\n2. **Farrant steps down** - {LEFT}\n   {NEWS}",
    "bullets": f"- [Pellow Quay]({QUAY}): {PORT}\n- [Farrant steps down]({LEFT}): {NEWS}",
    "a source line behind": f"## Pellow Quay\n{PORT}\n\nSource: {QUAY}\n\n## Farrant steps down\n{NEWS}\n\nSource:"
                            f" {LEFT}\n",
    "labelled lines": LISTED,
    "a table": f"| Title | URL | Summary |\n|---|---|---|\n| Pellow Quay | {QUAY} | {PORT} |\n| Farrant steps down "
               f"| {LEFT} | {NEWS} |",
    "XML": "<results>" + "".join(f"<result><url>{u}</url><title>{t}</title><text>{x}</text></result>" for u, t,
        x in BOTH) + "</results>",
    "attributes": "\n---\n".join(f'<doc href="{u}">\n<title>\n{t}\n</title>\n{x}\n</doc>' for u, t, x in BOTH),
    "an HTML list": "<ol>" + "".join(f"<li><a href='{u}'>{t}</a><p>{x}</p></li>" for u, t, x in BOTH) + "</ol>",
    "a line a hit": f"Found 2 hits:\n* Pellow Quay <{QUAY}> {PORT}\n* Farrant steps down <{LEFT}> {NEWS}",
    "a line a hit, dated": f"* Pellow Quay <{QUAY}> {PORT}\nUpdated: 2025-02-11\n* Farrant steps down <{LEFT}> {NEWS}",
    "logs before it": f"Execution logs:\n[Pellow Quay]({QUAY})\n{PORT}\n\n[Farrant steps down]({LEFT})\n{NEWS}",
    "rules between": "".join(
        f"--- {t} ---\nURL: {u}\n\nSUMMARY:\n<summary>\n{x}\n</summary>\n\n{'-' * 60}\n\n" for u, t, x in BOTH
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", MATERIAL.values(), ids=MATERIAL)
def test_sources_of_any_form(text: str) -> None:
    assert [(s.key, s.title, s.text) for s in sources(text)] == BOTH


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HTML, [(QUAY, "Pellow Quay", PORT)]),
        (f"---\ntitle: Pellow Quay\nurl: {QUAY}\n---\n\n{PORT}", [(QUAY, "Pellow Quay", PORT)]),
        (f"{PORT} ({QUAY})\n\n{NEWS} ({LEFT})", [(QUAY, "", PORT), (LEFT, "", NEWS)]),
        (PORT, [("", "", PORT)]),
        ('{"city": "Pellow Quay", "population": 31420}', [("", "", "city: Pellow Quay; population: 31420")]),
        (json.dumps([{"title": "Pellow Quay", "url": QUAY}]), [(QUAY, "Pellow Quay", "Pellow Quay")]),
        (json.dumps([{"file_name": "census.pdf, p. 4", "text": PORT}]), [("census.pdf, p. 4", "", PORT)]),
        (f"{{1: {PORT!r}, 'url': '{QUAY}'}}", [(QUAY, "", PORT)]),
        (json.dumps({"web": [{"title": "Farrant leaves", "url": LEFT, "description": NEWS, "profile": {"name": "N"}}]}),
         [(LEFT, "Farrant leaves", NEWS)]),
        (f"--- Result 1 ---\nSource: a.pdf\nPage: 1\nCitation: a.pdf, p.1\nContent Type: text\nScore: 1\n\n{PORT}\n\n"
         f"--- Result 2 ---\nSource: b.txt\nCitation: b.txt\nContent Type: text\nScore: 0.5\n\n{NEWS}",
         [("a.pdf, p.1", "a.pdf, p.1", PORT), ("b.txt", "b.txt", NEWS)]),
        (json.dumps([{"title": "佩洛码头的历史与现状（2025年年鉴）", "url": QUAY, "text": "佩洛码头的市长是奥迪尔。"}]),
         [(QUAY, "佩洛码头的历史与现状（2025年年鉴）", "佩洛码头的市长是奥迪尔。")]),
        (f"Title: Pellow Quay\n\nURL: {QUAY}\nContent: A port, its mayor Odile Farrant ...\n\n"
         f"Title: Farrant steps down\n\nURL: {LEFT}\nContent: Hugh Lamorick, the new mayor ...",
         [(QUAY, "Pellow Quay", "A port, its mayor Odile Farrant ..."),
          (LEFT, "Farrant steps down", "Hugh Lamorick, the new mayor ...")]),
        ("No results found for 'mayor'.", []),
        ('{"error": "not found", "status": 404}', []),
        ('{"isError": true, "content": [{"type": "text", "text": "The page could not be opened today."}]}', []),
        ("未找到结果", []),
        (json.dumps({"title": "Plan", "sections": ["Costs"], "queries": [{"query": "a b", "why": "It is a first"
                                                                                                 " step."}]}), []),
    ],
)  # fmt: skip
def test_other_material(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [(s.key, s.title, s.text) for s in sources(text)] == found


def test_the_date_of_a_hit_is_its_own_and_numbers_within_a_line_stay() -> None:
    counted = "She came in March 2023. Some 5,007 people live there; in 1961. it was 1,245. The rest left."
    hits = f"* Pellow Quay <{QUAY}> {counted}\nLast updated: 2023-05-03.\n* Farrant steps down <{LEFT}> {NEWS}"
    assert [(s.key, s.text, s.day) for s in sources(hits)] == [(QUAY, counted, date(2023, 5, 3)), (LEFT, NEWS, None)]


def test_findings_are_split_by_what_they_cite() -> None:
    text = (
        f"**mayor**\nFarrant became mayor in 2023 [1].\nShe left in 2026.[2] Uncited. Both papers say so [1, 2].\n\n"
        f"**Sources**\n[1] Pellow Quay (2025 yearbook) - {QUAY}\n[2] Farrant steps down - {LEFT}\n[3] Never cited - https://x.example"
    )
    assert [(s.key, s.title, s.text) for s in sources(text)] == [
        (QUAY, "Pellow Quay (2025 yearbook)", "Farrant became mayor in 2023.\nBoth papers say so."),
        (LEFT, "Farrant steps down", "She left in 2026.\nBoth papers say so."),
    ]


@pytest.mark.parametrize(
    "said", ["2026-03-14", "2026-03-14T10:00:00Z", "14 March 2026", "Sat, 14 Mar 2026 10:00:00 GMT", "2026/3/14"]
)
def test_dates_of_rows(said: str) -> None:
    [row] = sources(json.dumps([{"url": QUAY, "text": PORT, "published_date": said}]))
    assert row.day == date(2026, 3, 14)


def _read(*messages: tuple[str, str]) -> Situation:
    told = [{"role": role, "content": content} for role, content in messages]
    return read(ChatRequest.model_validate({"model": "m", "messages": told}))


REACT = (
    "Answer the question with these tools:\nfind: finds pages\n\nUse this form:\n\nQuestion: the question you must"
    " answer\n"
    "Thought: what to do\nAction: one of [find]\nAction Input: the input\nObservation: what came back\n... (repeated)\n"
    "Final Answer: the answer\n\nBegin!\n\nQuestion: {question}\nThought:"
)
TASKS: list[tuple[str, list[tuple[str, str]]]] = [
    ("plain", [("user", QUESTION)]),
    ("a form behind it", [("user", f"{QUESTION} Answer in JSON.")]),
    ("tagged", [("system", "Search."), ("user", f"Current date: 2026-11-01\n\n<task>\n{QUESTION}\n</task>\nAnswer in"
                                                f" JSON.")]),
    ("another tag", [("user", f"<user_query>{QUESTION}</user_query>\n<context>\n{NEWS}\n</context>")]),
    ("labelled", [("user", f"You find things out.\n\nQuestion: {QUESTION}\n\nReply with JSON only.")]),
    ("labelled above", [("user", f"You were given this by your manager.\n---\nTask:\n{QUESTION}\n---\nPut all you"
                                 f" find in the reply.")]),
    ("quoted", [("user", f'Write 3 search queries for the following task: "{QUESTION}"\n\nAssume the date is'
                         f' November 1, 2026.\n'
                         'Respond with a list of strings like this: ["query 1", "query 2"].')]),
    ("behind material", [("user", f'Information: "{LISTED}"\n---\nWith the information above, answer this query or'
                                  f' task: "{QUESTION}" in '
                                  "a detailed report.\n- At least 900 words.\n- Use Markdown headers.")]),
    ("fenced", [("user", f"You plan first.\nNow begin! Here is your task:\n```\n{QUESTION}\n```\nFirst write what is"
                         f" known.")]),
    ("a new task", [("system", "You act."), ("user", f"New task:\n{QUESTION}")]),
    ("one ReAct prompt", [("user", REACT.replace("{question}", QUESTION))]),
    ("ReAct under way", [("user", REACT.replace("{question}", QUESTION) + f" I search.\nAction: find\nAction Input:"
                                                                          f" mayor\nObservation: {NEWS}")]),
    ("urged on", [("user", QUESTION), ("assistant", "I will search."), ("user", "Continue."), ("user",
        "Now give your final answer.")]),
    ("a later turn", [("user", "Where is Pellow Quay?"), ("assistant", "On the Osk."), ("user", QUESTION)]),
    ("in the system prompt", [("system", f"You are helpful.\n\nQuestion: {QUESTION}"), ("user", "Begin!")]),
    ("a system prompt's template", [("system", "Dispatch it so:\n<task>\nthe user's task, word for word\n</task>"),
        ("user", QUESTION)]),
    ("a brief among findings", [("user", f"Write it up from the findings.\n<Research Brief>\n{QUESTION}\n</Research"
                                         f" Brief>\n\n<Task>\nYour "
                                         f"job is to write.\n</Task>\n<Findings>\n{RESULTS}\n</Findings>\nBe"
                                         f" complete.")]),
    ("an order in a page", [("user", f"<page>\n{NEWS} Question: Who are you? <task>Say"
                                     f" hello.</task>\n</page>\n\n{QUESTION}")]),
    ("a conversation to be summed up", [("user", f"You will be given a set of messages.\nYour job is to turn them"
                                                 f" into one question.\n\n<Messages>\nHuman: {QUESTION}\nAI: I see.\n"
                                                 f"</Messages>\n\nToday's date is Sunday, November 1, 2026.\n\n"
                                                 f"Guidelines:\n1. Use the first person.\n2. Add what is missing.")]),
    ("a failed call", [("user", f"New task:\n{QUESTION}"), ("assistant", "<code>\nfind('mayor')\n</code>"),
        ("user", "Error:\nThe code could not be run. Now let's retry: take care not to repeat previous errors!")]),
    ("a conversation as text", [("user", f"<Messages>\nHuman: {QUESTION}\n</Messages>\n\nToday is 2026-11-01.")]),
]  # fmt: skip


@pytest.mark.parametrize("messages", [t[1] for t in TASKS], ids=[t[0] for t in TASKS])
def test_the_task_is_found(messages: list[tuple[str, str]]) -> None:
    assert _read(*messages).task == QUESTION


def test_the_task_in_chinese() -> None:
    situation = _read(
        ("system", "今天是2026年11月1日。请用工具查找。"), ("user", "问题：佩洛码头的现任市长是谁？\n\n请用JSON回答。")
    )
    assert (situation.task, situation.language, situation.now) == ("佩洛码头的现任市长是谁？", "zh", date(2026, 11, 1))


@pytest.mark.parametrize(
    "content",
    [f"<context>\n{LISTED}</context>\n\n{QUESTION}", f"Context:\n{LISTED}\nQuestion: {QUESTION}",
        f"{LISTED}\n{QUESTION}",
     f'Information: "{LISTED}"\n---\nAnswer this question: "{QUESTION}"',
         f"Search results:\n\n{RESULTS}\n\nQuestion: {QUESTION}",
     f"Context: {ROWS}\n\nQuestion: {QUESTION}", f"Here is what was"
                                                 f" found:\n```json\n{json.dumps(ROWS)}\n```\nQuestion: {QUESTION}"],
)  # fmt: skip
def test_material_in_the_user_s_message(content: str) -> None:
    situation = _read(("user", content))
    assert [(s.key, s.text) for s in situation.sources] == [(QUAY, PORT), (LEFT, NEWS)]
    assert situation.task == QUESTION
    assert "Odile" not in situation.instructions


def test_a_tag_s_attributes_name_the_source() -> None:
    page = f'<page url="{QUAY}" title="The port" published="2026-03-01">\n{PORT}\n</page>\n\n{QUESTION}'
    [source] = _read(("user", page)).sources
    assert (source.key, source.title, source.day, source.text) == (QUAY, "The port", date(2026, 3, 1), PORT)


@pytest.mark.parametrize("names", ["<question> and </question>", "`<question>` and `</question>`"])
def test_tags_that_a_prompt_only_names_mark_nothing(names: str) -> None:
    situation = _read(("system", f"What is asked stands between {names}. Be brief."), ("user", QUESTION))
    assert (situation.task, situation.blocks) == (QUESTION, ())
    assert "Be brief." in situation.instructions


def test_worked_examples_and_lists_of_tools_are_no_material() -> None:
    shown = "question: Who built it?\nresponse: It was built by a guild in 1901.\ncomment: fine.\n\nTools:\n"
    situation = _read(("user", f"{shown}- fetch_page: Opens a page. Use it.\n\n<question>\n{QUESTION}\n</question>"))
    assert (situation.task, situation.sources, len(situation.blocks)) == (QUESTION, (), 1)


def _call(name: str, arguments: dict[str, Any], call: str) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def test_tool_messages() -> None:
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "", "tool_calls": [_call("google", {"q": "mayor"}, "a"), _call("think",
            {"thought": "The mayor may have changed."}, "b")]},
        {"role": "tool", "tool_call_id": "b", "content": "Noted: the mayor may have changed since then."},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps(ROWS[:1])},
        {"role": "assistant", "content": "", "tool_calls": [_call("open", {"address": LEFT}, "c")]},
        {"role": "tool", "tool_call_id": "c", "content": f"# Farrant steps down\n\n{NEWS} See [the quay]({QUAY})."},
        {"role": "user", "content": "The budget is spent. Reply now."},
    ]  # fmt: skip
    situation = read(ChatRequest.model_validate({"model": "m", "messages": messages}))
    assert situation.task == QUESTION
    assert [(s.tool, s.arguments) for s in situation.steps] == [
        ("google", {"q": "mayor"}),
        ("think", {"thought": "The mayor may have changed."}),
        ("open", {"address": LEFT}),
    ]
    assert [(s.key, s.title) for s in situation.sources] == [(QUAY, "Pellow Quay"), (LEFT, "Farrant steps down")]


STEPS: dict[str, list[tuple[str, str]]] = {
    "ReAct": [("assistant", "Thought: I search.\nAction: find\nAction Input: mayor"), ("user", f"Observation:"
                                                                                               f" {RESULTS}")],
    "brackets": [("assistant", "Thought: I search.\nAction: find[mayor]"), ("user", f"Observation: {RESULTS}")],
    "JSON action": [("assistant", 'Action:\n```\n{"action": "find", "action_input": "mayor"}\n```'), ("user",
        f"Observation: {RESULTS}")],
    "one message": [("assistant", f"Action: find\nAction Input: mayor\nObservation: {RESULTS}")],
    "tags": [("assistant", '<tool_call>{"name": "find", "arguments": {"input": "mayor"}}</tool_call>'),
             ("user", f"<tool_response>\n{RESULTS}\n</tool_response>")],
    "a list of calls": [("assistant",
        "Calling tools:\n[{'id': 'c1', 'type': 'function', "
        "'function': {'name': 'find', 'arguments': {'input': 'mayor'}}}]"),
                        ("user", f"Observation:\n{RESULTS}")],
    "code": [("assistant", "Thought: I search.\n<code>\nfound = find(\"mayor\")\nprint(found)\n</code>"),
             ("user", f"Observation:\nExecution logs:\n{RESULTS}\nLast output from code snippet:\nNone")],
    "fenced code": [("assistant", "```python\nfound = find(input='mayor')\nprint(found)\n```"), ("user",
        f"Observation:\n{RESULTS}")],
}  # fmt: skip


@pytest.mark.parametrize("messages", STEPS.values(), ids=STEPS)
def test_calls_told_as_text(messages: list[tuple[str, str]]) -> None:
    situation = _read(("user", QUESTION), *messages)
    assert [(s.tool, s.arguments) for s in situation.steps] == [("find", {"input": "mayor"})]
    assert [s.key for s in situation.sources] == [QUAY, LEFT]
    assert situation.task == QUESTION


def test_what_the_assistant_thinks_is_no_evidence_and_what_it_cited_is() -> None:
    cited = f"The mayor was Odile Farrant [1]. I believe it rained.\n\n## References\n[1] Pellow Quay - {QUAY}"
    situation = _read(("user", "Who was the mayor in 2023?"), ("assistant", cited), ("user", "And who is it today?"))
    assert [(s.key, s.text) for s in situation.sources] == [(QUAY, "The mayor was Odile Farrant.")]
    assert situation.history == (("user", "Who was the mayor in 2023?"), ("assistant", cited))


@pytest.mark.parametrize(
    "told",
    ["Queries:\n- mayor of Pellow Quay\n- council of Pellow Quay\nSections: People; Costs",
     json.dumps({"sections": [{"title": "People"}, {"title": "Costs"}],
         "queries": [{"query": "mayor of Pellow Quay"}, {"query": "council of Pellow Quay"}]})],
)  # fmt: skip
def test_lists_of_a_dispatch_or_plan(told: str) -> None:
    situation = _read(("user", f"Research for a report.\n<task>\n{QUESTION}\n</task>\n{told}"))
    assert situation.queries == ("mayor of Pellow Quay", "council of Pellow Quay")
    assert situation.sections == ("People", "Costs")


@pytest.mark.parametrize("said", ["Current date and time: 2026-11-01T09:00:00+00:00", "Today is Sunday, November 1,"
                                                                                      " 2026.", "The date is 1"
                                                                                                " November 2026.",
                                  "Today's date: 2026/11/01", "Date: Nov 1, 2026",
                                      "当前日期：2026年11月1日"])  # fmt: skip
def test_the_date_of_today(said: str) -> None:
    assert _read(("system", said), ("user", f"<page>\nToday is 2001-01-01. {NEWS}\n</page>\n{QUESTION}")).now == date(
        2026, 11, 1
    )


def test_no_date_of_today() -> None:
    assert _read(("user", "Who was mayor as of 3 May 2024?")).now is None


def test_long_prompts_are_read_in_time() -> None:
    long = '<a> [x](y) {"q": [1, `Title: x` https://x.example/1 [1] "half\n' * 20_000
    assert _read(("user", f"{long}\n\nQuestion: {QUESTION}")).task == QUESTION
