import pytest

from aiq.offline.engine import respond
from tests.offline.engine.conftest import Ask

LISTED = (
    "You can use these tools:\n\nlook_up: searches the web for a phrase\nopen_page: opens a page by its address\n\n"
)
DEFINED = '''Tools are Python functions:
```python
def look_up(phrases: list[str]) -> str:
    """Searches the web."""
```
'''
FORMS = [
    (
        f"{LISTED}Write:\nThought: ...\nAction: one of the tools\nAction Input: its input\nObservation: ...\n"
        "Final Answer: ...",
        "Action: look_up\nAction Input: ",
        "Final Answer: ",
    ),
    (
        f'{LISTED}Write:\nAction:\n{{"action": "tool", "action_input": "input"}}\n'
        'and at the end the action "Final Answer".',
        '{"action": "look_up", "action_input": {"input": ',
        '{"action": "Final Answer", "action_input": ',
    ),
    (f"{LISTED}Write Action: tool[input] and in the end Finish[answer].", "Action: look_up[", "Finish["),
    (
        f'{LISTED}Write:\nAction:\n{{"name": "tool", "arguments": {{"x": "y"}}}}\nand end with `final_answer`.',
        '{"name": "look_up", "arguments": {"input": ',
        '{"name": "final_answer", "arguments": {"answer": ',
    ),
    (
        'Tools:\n{"type": "function", "function": {"name": "look_up", "description": "Searches the web.", '
        '"parameters": {"type": "object", "properties": {"phrase": {"type": "string"}}}}}\n'
        "Write a call between <tool_call> and </tool_call>.",
        '<tool_call>\n{"name": "look_up", "arguments": {"phrase": ',
        "",
    ),
    (f"{DEFINED}Write code in ```py blocks and end with final_answer(...).", "look_up(phrases=['", "final_answer("),
]


@pytest.mark.parametrize(("system", "call", "end"), FORMS)
def test_calls_and_the_end_are_written_as_the_prompt_says(ask: Ask, system: str, call: str, end: str) -> None:
    question = "Question: Who founded Brone Glass?"
    first = respond(ask(question, system=system)).text
    assert call in first
    assert "Brone Glass" in first.partition(call)[2]
    observed = "Observation: Brone Glass was founded by Edda Marrow. https://a.offline.example/brone"
    done = [{"role": "assistant", "content": first}, {"role": "user", "content": observed}]
    last = respond(ask(question, *done, system=system)).text
    assert "Edda Marrow" in last[last.index(end) :]


def test_a_docstring_says_what_a_parameter_holds(ask: Ask) -> None:
    system = '''Tools are Python functions:
```python
def look_up(phrases: array) -> string:
    """Look things up on the web.

    Args:
        phrases: What to look up.
    """

def get_document(location: string) -> string:
    """Get the full text of a hit.

    Args:
        location: The address of the hit.
    """
```
Write code in ```py blocks and end with final_answer(...).'''
    told = [{"role": "assistant", "content": "```py\nprint(look_up(phrases=['Brone Glass founder']))\n```"}]
    told += [
        {"role": "user", "content": "Observation: Brone Glass https://a.offline.example/brone The story of its ..."}
    ]
    reply = respond(ask("Question: Who founded Brone Glass of Harl?", *told, system=system))
    assert "get_document(location='https://a.offline.example/brone')" in reply.text


def test_prose_about_tools_is_no_dialect(ask: Ask) -> None:
    text = respond(ask("Which tools did Edda Marrow use?", system="You answer questions on tools and actions.")).text
    assert "Action" not in text
