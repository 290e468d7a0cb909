"""Requests as an endpoint wants them, structured output that falls back, and replies put into OpenAI's form."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from aiq.core.errors import LimitReached, ModelError
from aiq.core.events import Recovery
from aiq.core.usage import Limits
from tests.llm.endpoint import OK, chunk, completed, error, http, streamed
from tests.settings import configured

SCHEMA = {"name": "verdict", "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}
OTHER = {"name": "other", "schema": {"type": "object"}}
WEATHER = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
CALL = {"name": "look_up", "args": {}, "id": "c1"}

QUIRKS: list[tuple[dict[str, Any], str, Any]] = [
    ({"seed": False}, "seed", None),
    ({"temperature": False}, "temperature", None),
    ({"limit_field": "max_tokens"}, "max_tokens", 50),
    ({"limit_field": "max_tokens"}, "max_completion_tokens", None),
    ({"parallel_tool_calls": False}, "parallel_tool_calls", None),
    ({"stream_usage": False}, "stream_options", None),
]
"""Quirks, a field of the request, and its value with them."""


@pytest.mark.parametrize(("quirks", "field", "value"), QUIRKS)
async def test_a_quirk_changes_one_field_of_each_request(
    bench: Any, quirks: dict[str, Any], field: str, value: Any
) -> None:
    answer = streamed(chunk(content="hello"), chunk("stop"))
    bodies = []
    for changed in ({}, quirks):
        async with bench([answer], temperature=0.5, quirks=changed) as b:
            model = b.models.chat("aiq.writer").bind_tools(
                [WEATHER], parallel_tool_calls=False, max_completion_tokens=50
            )
            _ = [part async for part in model.astream("Hi")]
            bodies.append(b.endpoint.got[0].body)
    plain, body = bodies
    assert body.get(field) == value != plain.get(field)
    varied = {"max_tokens", "max_completion_tokens", field}
    assert {k: v for k, v in body.items() if k not in varied} == {k: v for k, v in plain.items() if k not in varied}


@pytest.mark.parametrize(("structured", "sent"), [("json_object", {"type": "json_object"}), ("prose", None)])
async def test_structured_output_is_requested_as_config_says(bench: Any, structured: str, sent: Any) -> None:
    async with bench([OK], quirks={"structured": structured}) as b:
        await b.ask(json_schema=SCHEMA)
        (got,) = b.endpoint.got
        assert got.body.get("response_format") == sent
        assert json.dumps(SCHEMA["schema"]) in got.body["messages"][0]["content"]


async def test_messages_lose_a_null_and_a_name_that_are_not_accepted(bench: Any) -> None:
    turns = [HumanMessage("Hi"), AIMessage("", tool_calls=[CALL], name="writer"), ToolMessage("8", tool_call_id="c1")]
    for quirks, sent in (({}, (None, "writer")), ({"null_content": False, "message_name": False}, ("", None))):
        async with bench([OK], quirks=quirks) as b:
            await b.models.chat("aiq.writer").ainvoke(turns)
            message = b.endpoint.got[0].body["messages"][1]
            assert (message["content"], message.get("name")) == sent


REFUSED = error(400, "Unrecognized request argument supplied: response_format")
LLAMA_CPP_PYTHON = error(500, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]")


@pytest.mark.parametrize("refusal", [REFUSED, LLAMA_CPP_PYTHON, http(422, {"detail": "no"}), error(501, "no")])
async def test_structured_output_falls_back_and_stays_there(bench: Any, refusal: bytes) -> None:
    async with bench([refusal, refusal, OK], limits=configured(Limits, sample_model_calls=2)) as b:
        assert (await b.ask(json_schema=SCHEMA)).text == "hello"
        assert (await b.ask(json_schema=SCHEMA)).text == "hello"
        formats = [(got.body.get("response_format") or {}).get("type") for got in b.endpoint.got]
        assert formats == ["json_schema", "json_object", None, None]
        contents = [got.body["messages"][-1]["content"] for got in b.endpoint.got]
        assert contents[0] == "hello"
        assert contents[1] == contents[2] == contents[3]
        assert contents[1].startswith("hello\n\n")
        assert json.dumps(SCHEMA["schema"]) in contents[1]
        assert b.session.usage.total().calls == 2  # which call meets the refusals is chance
        assert [call.status for call in b.calls][2:] == [200, 200]
        (fallback,) = [e for e in b.events if isinstance(e, Recovery)]
        assert fallback.what == "structured_output"
        assert fallback.detail.startswith("aiq.planner: json_schema was refused (HTTP ")
        assert fallback.detail.endswith("); asked for as prose")
        with pytest.raises(LimitReached):
            await b.ask(json_schema=SCHEMA)


async def test_the_final_request_does_not_depend_on_who_asked_before(bench: Any) -> None:
    outcomes = []
    for order in ([SCHEMA, OTHER], [OTHER, SCHEMA]):
        async with bench([REFUSED, OK, OK]) as b:  # the first schema is refused, the other is taken
            replies = {schema["name"]: await b.ask(json_schema=schema) for schema in order}
            digests = [call.request_sha256 for call in b.calls if call.status == 200]
            outcomes.append((len(replies), len(digests), [g.body["response_format"]["type"] for g in b.endpoint.got]))
    assert outcomes == [(2, 2, ["json_schema", "json_object", "json_schema"])] * 2


async def test_a_transient_server_error_is_not_a_refusal_of_a_form(bench: Any) -> None:
    async with bench([error(500, "overloaded"), OK]) as b:
        await b.ask(json_schema=SCHEMA)
        assert [got.body["response_format"]["type"] for got in b.endpoint.got] == ["json_schema"] * 2
        assert [event.what for event in b.events if isinstance(event, Recovery)] == ["retry"]


async def test_a_request_that_is_refused_in_every_form_fails_for_what_it_is(bench: Any) -> None:
    async with bench([error(400, "the prompt is too long")]) as b:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"failed: HTTP 400: the prompt is too long \(llm"):
                await b.ask(json_schema=SCHEMA)
        assert len(b.endpoint.got) == 6
        assert not [event for event in b.events if isinstance(event, Recovery)]


FASTAPI = {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
GEMINI = [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'}}]
MISTRAL = {"object": "error", "message": FASTAPI, "type": "invalid_request_error", "param": None, "code": None}
HINTS: list[tuple[bytes, str]] = [
    (http(422, FASTAPI), r"HTTP 422: body\.seed: Extra inputs are not permitted; llm\.quirks\.seed=false sends none"),
    (http(422, MISTRAL), r"HTTP 422: body\.seed: Extra inputs are not permitted; llm\.quirks\.seed=false sends none"),
    (http(400, GEMINI), r'HTTP 400: Invalid JSON .* "seed": Cannot find field\.; llm\.quirks\.seed=false sends none'),
    (error(400, "'temperature' does not support 0.5 with this model"), r"model; llm\.quirks\.temperature=false"),
    (error(400, "Unsupported parameter: 'max_completion_tokens'"), r"tokens'; llm\.quirks\.limit_field=max_tokens"),
    (error(400, "the user reseeded his lawn"), r"his lawn \(llm\.model"),
]


@pytest.mark.parametrize(("answer", "said"), HINTS)
async def test_the_refusal_of_a_field_says_which_setting_leaves_it_out(bench: Any, answer: bytes, said: str) -> None:
    async with bench([answer], temperature=0.5, max_tokens=50) as b:
        with pytest.raises(ModelError, match=said):
            await b.ask()


def call(**changed: Any) -> dict[str, Any]:
    function = {"name": "look_up", "arguments": '{"city": "Oslo"}', **changed.pop("function", {})}
    fields = {"id": "c7", "type": "function", "function": function, **changed}
    return {name: value for name, value in fields.items() if value != "absent"}


CALLS: list[tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]]]] = [
    ([call()], [("c7", {"city": "Oslo"})]),
    ([call(function={"arguments": {"city": "Oslo"}})], [("c7", {"city": "Oslo"})]),
    ([call(function={"arguments": None})], [("c7", {})]),
    ([call(id=None), call(id=""), call(id="absent")], [(f"call-{n}", {"city": "Oslo"}) for n in (1, 2, 3)]),
    ([call(), call()], [("c7", {"city": "Oslo"}), ("c7-2", {"city": "Oslo"})]),
    ([call(id="c1")], [("c1-1", {"city": "Oslo"})]),  # as an earlier turn's
    ([call(type="absent")], [("c7", {"city": "Oslo"})]),
    ([call(id=7)], [("7", {"city": "Oslo"})]),
    ([call(function={"arguments": [1]})], [("c7", {})]),
    ([call(function={"arguments": "null"})], [("c7", {})]),
    ([call(function={"arguments": '"{\\"city\\": \\"Oslo\\"}"'})], [("c7", {"city": "Oslo"})]),
    ([call(function={"name": None})], [("c7", {"city": "Oslo"})]),
]
"""Tool calls as an endpoint writes them, and id and arguments of each as agents see it."""


@pytest.mark.parametrize(("wrote", "seen"), CALLS)
async def test_tool_calls_have_ids_of_their_own_and_arguments_in_json(
    bench: Any, wrote: list[dict[str, Any]], seen: list[tuple[str, dict[str, Any]]]
) -> None:
    turns = [HumanMessage("Hi"), AIMessage("", tool_calls=[CALL]), ToolMessage("8", tool_call_id="c1")]
    async with bench([http(200, completed(None, tool_calls=wrote))]) as b:
        reply = await b.models.chat("aiq.writer").ainvoke(turns)
        assert [(parsed["id"], parsed["args"]) for parsed in reply.tool_calls] == seen
        assert [parsed["id"] for parsed in b.calls[0].reply["tool_calls"]] == [name for name, _ in seen]


CONTENTS: list[tuple[Any, str]] = [
    ([{"type": "text", "text": "The answer "}, {"type": "text", "text": "is Ransen."}], "The answer is Ransen."),
    (
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": "Ransen"}],
        "Ransen",
    ),
    ({"type": "text", "text": "Ransen"}, "Ransen"),
    ({"verdict": "correct"}, '{"verdict": "correct"}'),
    ([], ""),
]


@pytest.mark.parametrize(("content", "text"), CONTENTS)
async def test_content_is_text(bench: Any, content: Any, text: str) -> None:
    async with bench([http(200, completed(content))]) as b:
        assert (await b.ask("judge.race")).text == text


@pytest.mark.parametrize("changed", [{"message": "hello"}, {"message": {"tool_calls": ["look_up"]}}, {"message": None}])
async def test_a_reply_that_is_not_a_message_is_requested_again(bench: Any, changed: dict[str, Any]) -> None:
    answer = completed()
    answer["choices"][0] |= changed
    async with bench([http(200, answer), OK]) as b:
        assert (await b.ask()).text == "hello"


async def test_a_reply_without_its_models_name_or_with_numbers_for_words_is_read(bench: Any) -> None:
    answer = completed(None, finish=3, refusal={"why": "no"})  # type: ignore[arg-type]
    del answer["model"]
    async with bench([http(200, answer)]) as b:
        reply = await b.ask()
        assert (reply.text, reply.model, reply.finish_reason) == ('{"why": "no"}', "m", "3")
