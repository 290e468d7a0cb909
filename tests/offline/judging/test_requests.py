"""Judges that aiq did not write: the request is known by its material and its form, not by its words or sender."""

import json
from typing import Any

import pytest

from aiq.offline.chat import ChatMessage, ChatRequest, FunctionSpec, ToolSpec
from aiq.offline.judging import judge
from tests.offline.judging.cases import ask, asked

WHO = "Who is the mayor of Brackwater?"
GRADER = """Assign one of the grades CORRECT, INCORRECT, NOT_ATTEMPTED. An example:
Question: How many rivers cross Orl?
Gold target: 3
Predicted answer: Three.

Here is the new example.
```
Question: {question}
Gold target: {target}
Predicted answer: {answer}
```

Grade the predicted answer as one of:
A: CORRECT
B: INCORRECT
C: NOT_ATTEMPTED

Just return the letter."""
LETTER = """You are assessing a submitted answer. Here is the data:
[BEGIN DATA]
***
[Task]: {question}
***
[Submission]: {answer}
***
[Criterion]: {target}
***
[END DATA]
Reply with 'GRADE: $LETTER', either "C" for correct answers, or "I" for incorrect answers."""
LINES = """Judge whether the [response] to the [question] is correct by the [correct_answer].

[question]: {question}

[response]: {answer}

[correct_answer]: {target}

Your judgement must be in this form:

reasoning: <why>

correct: Answer 'yes' if the response matches the correct answer, 'no' otherwise."""
JSON = """Decide if the answer is right. Reply in JSON: {{"is_correct": true, "explanation": "..."}}

<query>{question}</query>
<model_answer>{answer}</model_answer>
<ground_truth>{target}</ground_truth>"""


TIGHT = """Assign one of the grades ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"].
Question: {question}
Gold target: {target}
Predicted answer: {answer}
Grade the predicted answer as one of:
A: CORRECT
B: INCORRECT
C: NOT_ATTEMPTED"""
PLAIN = """Question: {question}
Answer: {answer}
Reference answer: {target}
Is the answer correct? Reply yes or no."""


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        (GRADER, "A", "B"),
        (LETTER, "GRADE: C", "GRADE: I"),
        (LINES, "correct: yes", "correct: no"),
        (JSON, "true", "false"),
        (TIGHT, "A", "B"),
        (PLAIN, "yes", "no"),
    ],
    ids=["letters", "grade", "lines", "json", "tight", "plain"],
)
def test_graders_of_short_answers(form: str, right: str, wrong: str) -> None:
    assert right in ask(form.format(question=WHO, target="Helen Osgood", answer="Helen Osgood holds the office."))
    assert wrong in ask(form.format(question=WHO, target="Helen Osgood", answer="Marcus Teel holds the office."))


def test_an_answer_that_is_none() -> None:
    assert ask(GRADER.format(question=WHO, target="Helen Osgood", answer="I do not know.")) == "C"


@pytest.mark.parametrize(
    ("rule", "credited"),
    [
        ("Every further statement must be true as well.", False),
        ("Anything else it says, as far as it matters, has to be correct too.", False),
        ("All other details of the response should be accurate.", False),
        ("Other details may be wrong; they do no harm.", True),
        ("Be generous: anything else it says is forgiven.", True),
    ],
)
def test_what_else_a_response_says_counts_where_the_prompt_wants_it(rule: str, credited: bool) -> None:
    answer = "Helen Osgood. However, she took office in 1780."
    prompt = f"{rule} Answer yes or no.\n\nQuestion: {WHO}\nAnswer: {answer}\nReference answer: Helen Osgood"
    assert ask(prompt) == ("yes" if credited else "no")


@pytest.mark.parametrize(
    "order",
    [
        "Find the entries that are repetitions of one another.",
        "Put those together that state an identical fact.",
        "Which of these say the same?",
        "哪些陈述的意思相同？",
    ],
)
def test_statements_are_grouped_however_it_is_asked_for(order: str) -> None:
    listed = "1. Nordal has five ships.\n2. The mill is from 1871.\n3. Nordal has five ships."
    form = 'Reply with JSON only: {"groups": [[1, 2], [3]]}'
    assert json.loads(ask(f"{order}\n\n<statements>\n{listed}\n</statements>\n\n{form}")) == {"groups": [[1, 3], [2]]}


@pytest.mark.parametrize(
    "order",
    [
        "Copy the report, minus everything that shows its sources.",
        "Give it back without its references.",
        "Return the full text with all citation marks removed: strip every citation.",
        "请返回去除引用后的全文。",
    ],
)
def test_an_article_is_cleaned_however_it_is_asked_for(order: str) -> None:
    article = (
        "Nordal has five ships [1]. See [the fleet](https://a.example).\n\n## References\n\n[1] A - https://x.example"
    )
    assert ask(f"<article>\n{article}\n</article>\n\n{order}") == "Nordal has five ships. See the fleet."


@pytest.mark.parametrize(
    "request_",
    [
        asked("Who is the mayor of Brackwater?"),
        asked("Write a report on tidal energy. Cite your sources, and compare and evaluate the companies."),
        asked('<question>Who wrote it?</question>\nClassify it. Reply with JSON: {"intent": "...", "score": 0.5}'),
        asked("<article>The mill is from 1871 [1].</article>\nWho built the mill? Add a citation."),
        asked("<article>The mill is from 1871 [1].</article>\nWrite a summary of the article without citations."),
        asked("<article>The mill is from 1871 [1].</article>\nWho built the mill? Reply without citations."),
        asked("<statements>\n1. Nordal has five ships.\n</statements>\nSort them by subject."),
        asked("Summarise the document in one sentence.\n<document>Nordal has five ships.</document>"),
    ],
)
def test_what_is_no_judgement_is_left_alone(request_: ChatRequest) -> None:
    assert judge(request_) is None


def test_who_may_call_tools_is_no_judge() -> None:
    fields: dict[str, Any] = {"model": "m", "tools": (ToolSpec(function=FunctionSpec(name="search")),)}
    message = ChatMessage(role="user", content=JSON.format(question=WHO, target="x", answer="y"))
    assert judge(ChatRequest(messages=(message,), **fields)) is None
