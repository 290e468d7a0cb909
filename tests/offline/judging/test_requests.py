"""Judges that aiq did not write: a request is recognised by its material and form, not by its wording or sender."""

import json

from aiq.offline.chat import FunctionSpec, ToolSpec
from aiq.offline.judging import judge
from tests.cases import group, table
from tests.offline.judging.cases import ask, asked

each = table(__file__)

WHO = "Who is the mayor of Brackwater?"


@each("grader")
def test_grading_short_answers(form: str, right: str, wrong: str, unknown: str | None) -> None:
    assert right in ask(form.format(question=WHO, target="Helen Osgood", answer="Helen Osgood holds the office."))
    assert wrong in ask(form.format(question=WHO, target="Helen Osgood", answer="Marcus Teel holds the office."))
    if unknown is not None:
        assert ask(form.format(question=WHO, target="Helen Osgood", answer="I do not know.")) == unknown


@each("rule")
def test_further_statements_in_a_response_count_if_the_prompt_says_so(rule: str, credited: bool) -> None:
    answer = "Helen Osgood. However, she took office in 1780."
    prompt = f"{rule} Answer yes or no.\n\nQuestion: {WHO}\nAnswer: {answer}\nReference answer: Helen Osgood"
    assert ask(prompt) == ("yes" if credited else "no")


@each("group")
def test_statements_are_grouped_in_any_wording(order: str) -> None:
    listing = "1. Nordal has five ships.\n2. The mill is from 1871.\n3. Nordal has five ships."
    form = 'Reply with JSON only: {"groups": [[1, 2], [3]]}'
    assert json.loads(ask(f"{order}\n\n<statements>\n{listing}\n</statements>\n\n{form}")) == {"groups": [[1, 3], [2]]}


@each("clean")
def test_an_article_is_cleaned_in_any_wording(order: str) -> None:
    article = (
        "Nordal has five ships [1]. See [the fleet](https://a.example).\n\n## References\n\n[1] A - https://x.example"
    )
    assert ask(f"<article>\n{article}\n</article>\n\n{order}") == "Nordal has five ships. See the fleet."


@each("none")
def test_requests_for_anything_else_are_left_alone(told: str) -> None:
    assert judge(asked(told)) is None


def test_a_request_with_tools_is_not_for_a_judge() -> None:
    for grader in group(__file__, "grader"):
        prompt = grader["form"].format(question=WHO, target="x", answer="y")
        assert judge(asked(prompt)) is not None
        assert judge(asked(prompt, tools=(ToolSpec(function=FunctionSpec(name="search")),))) is None
