from aiq.offline.engine import respond
from tests.cases import table
from tests.offline.engine.conftest import ask

each = table(__file__)


@each("form")
def test_calls_and_the_final_reply_are_written_as_the_prompt_says(system: str, call: str, end: str) -> None:
    question = "Question: Who founded Brone Glass?"
    first = respond(ask(question, system=system)).text
    assert call in first
    assert "Brone Glass" in first.partition(call)[2]
    observed = "Observation: Brone Glass was founded by Edda Marrow. https://a.offline.example/brone"
    done = [{"role": "assistant", "content": first}, {"role": "user", "content": observed}]
    last = respond(ask(question, *done, system=system)).text
    assert "Edda Marrow" in last[last.index(end) :]


@each("docstring")
def test_a_docstring_describes_the_parameters(system: str) -> None:
    told = [
        {"role": "assistant", "content": "```py\nprint(look_up(phrases=['Brone Glass founder']))\n```"},
        {"role": "user", "content": "Observation: Brone Glass https://a.offline.example/brone The story of its ..."},
    ]
    reply = respond(ask("Question: Who founded Brone Glass of Harl?", *told, system=system))
    assert "get_document(location='https://a.offline.example/brone')" in reply.text


def test_prose_about_tools_is_not_a_dialect() -> None:
    text = respond(ask("Which tools did Edda Marrow use?", system="You answer questions on tools and actions.")).text
    assert "Action" not in text
