"""The plain assistant: short, from what it is given, in the shape asked for."""

import json

import pytest

from aiq.offline.chat import ChatMessage, ChatReply, ChatRequest, FunctionSpec, ToolSpec
from aiq.offline.roles import assistant

SEARCH = (ToolSpec(function=FunctionSpec(name="web_search_tool")),)
TEXT = "The mayor of Tessmark is Ilan Corvey."
PAGE = f'<Document href="https://w.test/t">\n<title>\nTessmark\n</title>\n{TEXT}\n</Document>'


def reply(*said: tuple[str, str], **fields: object) -> ChatReply:
    messages = [ChatMessage(role=role, content=content) for role, content in said]
    return assistant.reply(ChatRequest.model_validate({"model": "m", "messages": messages, **fields}))


@pytest.mark.parametrize("greeting", ["Hello!", "hi there", "thanks", "你好"])
def test_greetings(greeting: str) -> None:
    assert 0 < len(reply(("user", greeting)).text) < 40


def test_answers_from_the_text_in_front_of_the_question() -> None:
    text = "Tessmark is a port. The mayor of Tessmark is Ilan Corvey. Who is the mayor of Tessmark?"
    assert reply(("user", text)).text.startswith("Ilan Corvey.")


def test_says_so_when_nothing_answers() -> None:
    assert "Nothing in this conversation answers" in reply(("user", "Who is the mayor of Tessmark?")).text


def test_searches_once_and_answers_from_what_it_found() -> None:
    question = ("user", "Who is the mayor of Tessmark?")
    (call,) = reply(question, tools=SEARCH).tool_calls
    assert call.function.name == "web_search_tool"
    answer = reply(question, ("tool", PAGE), tools=SEARCH)
    assert answer.tool_calls == ()
    assert "Ilan Corvey" in answer.text


def test_does_not_search_for_a_greeting() -> None:
    assert reply(("user", "Hello!"), tools=SEARCH).tool_calls == ()


def test_fills_the_schema_asked_for() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    value = json.loads(reply(("user", "Who is the mayor of Tessmark?"), response_format=wanted).text)
    assert isinstance(value["answer"], str)
