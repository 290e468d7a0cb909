"""Models by role: settings, keys, LangChain and LangGraph on top, and typed errors all the way through."""

import asyncio
from typing import Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.graph import START, StateGraph
from openai import AsyncOpenAI

from aiq.core.errors import ConfigError, LimitReached, ModelError, RunAborted
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Message, ToolRequest
from aiq.core.samples import SampleKey
from aiq.core.usage import Limits, Usage
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client
from tests.cases import table
from tests.llm.endpoint import OK, USAGE, chunk, completed, error, http, streamed
from tests.sessions import make_session
from tests.settings import configured

each = table(__file__)


async def test_settings_of_the_longest_role_win(bench: Any) -> None:
    roles = {
        "judge": {"model": "big", "temperature": 0.0, "extra_body": {"top_k": 1}},
        "judge.race": {"max_tokens": 50},
        "judge.fact": {"model": "no"},
    }
    async with bench([OK], roles=roles, temperature=0.7, extra_body={"x": True}) as b:
        names = [b.models.name(role) for role in ("judge.fact_extract", "judge.race", "judger", "judge")]
        assert names == ["big", "m", "m", "big"]
        await b.ask("judge.fact_extract")
        await b.ask("judge.race")
        await b.models.chat("judge.fact_extract").ainvoke("hello")
        judge, race, chat = (g.body for g in b.endpoint.got)
        for body in (judge, chat):
            assert (body["model"], body["temperature"], body["top_k"], body["x"]) == ("big", 0.0, 1, True)
        assert (race["temperature"], race["max_completion_tokens"], race["x"]) == (0.7, 50, True)


async def test_options_of_one_call_win_over_config(bench: Any) -> None:
    async with bench([OK], temperature=0.7) as b:
        schema = {"name": "verdict", "schema": {"type": "object"}}
        await b.ask("judge.race", json_schema=schema, temperature=0.0, max_tokens=9)
        body = b.endpoint.got[0].body
        assert (body["temperature"], body["max_completion_tokens"]) == (0.0, 9)
        assert body["response_format"] == {"type": "json_schema", "json_schema": schema}
        model = b.models.chat("aiq.planner")
        assert model is b.models.chat("aiq.planner")
        with pytest.raises(RuntimeError, match="synchronous model calls are not supported"):
            model.invoke("hello")
        assert len(b.endpoint.got) == 1


async def test_a_reply_has_its_tool_calls_and_usage_and_goes_back_as_a_message(bench: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"name": "x"}'}}
    price = {"m": {"input": 1, "output": 1}}
    async with bench([error(503), http(200, completed(None, tool_calls=[call])), OK], prices=price) as b:
        tool: Any = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
        messages = [Message(role="user", content="hello")]
        reply = await b.models.complete("a.b", messages, tools=[tool])
        assert reply.tool_calls == (ToolRequest(id="c1", name="look_up", arguments='{"name": "x"}'),)
        assert (reply.text, reply.finish_reason) == ("", "stop")
        assert reply.usage == Usage(calls=1, input_tokens=100, cached_tokens=40, output_tokens=20, cost_usd=1.2e-4)
        result = Message(role="tool", content="found", tool_call_id="c1")
        assert (await b.models.complete("a.b", [*messages, reply.message, result])).text == "hello"
        assert b.endpoint.got[0].body["tools"] == [tool]
        assert "tools" not in b.endpoint.got[-1].body
        assert b.endpoint.got[-1].body["messages"] == [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "found", "tool_call_id": "c1"},
        ]


async def test_thoughts_and_their_signatures_go_back_with_the_results_of_tools(bench: Any) -> None:
    """DeepSeek refuses a turn without its thoughts, Gemini a call without its signature."""
    function = {"name": "look_up", "arguments": '{"name": "x"}'}
    signed = {"id": "c1", "type": "function", "function": function, "extra_content": {"google": {"signature": "s"}}}
    thought = completed(None, tool_calls=[{**signed, "index": 0}], reasoning_content="Hm.", audio=None)
    async with bench([http(200, thought), OK] * 2 + [http(200, completed("Hi", reasoning_content="Hm.")), OK]) as b:
        human, tool = Message(role="user", content="hello"), Message(role="tool", content="found", tool_call_id="c1")
        reply = await b.models.complete("a.b", [human])
        await b.models.complete("a.b", [human, reply.message, tool])
        model = b.models.chat("a.b")
        message = await model.ainvoke([HumanMessage("hello")])
        await model.ainvoke([HumanMessage("hello"), message, ToolMessage("found", tool_call_id="c1")])
        for got in (b.endpoint.got[1], b.endpoint.got[3]):
            returned = got.body["messages"][1]
            assert (returned["reasoning_content"], returned["tool_calls"]) == ("Hm.", [signed])
            assert returned.keys() == {"role", "content", "tool_calls", "reasoning_content"}
        await model.ainvoke([HumanMessage("hello"), await model.ainvoke("hello"), HumanMessage("more")])
        assert b.endpoint.got[-1].body["messages"][1] == {"role": "assistant", "content": "Hi"}


async def test_a_stock_client_belongs_to_its_role_and_its_calls_are_counted(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-1")
    roles = {"a.b": {"model": "big", "temperature": 0.5, "max_tokens": 50, "extra_body": {"top_k": 1}}}
    parts = streamed(chunk(content="he"), chunk(content="llo"), chunk("stop"), chunk(usage=USAGE))
    limits = configured(Limits, sample_model_calls=4)
    async with bench([error(503), OK, parts, OK], roles=roles, api_key_env="TEST_KEY", limits=limits) as b:
        client = b.session.openai("a.b")
        assert type(client) is AsyncOpenAI
        request: Any = {"model": b.session.models.name("a.b"), "messages": [{"role": "user", "content": "hello"}]}
        answer = await client.chat.completions.create(**request)
        assert (answer.choices[0].message.content, answer.usage and answer.usage.prompt_tokens) == ("hello", 100)
        async with client:  # an agent that closes its client does not affect the others
            stream = await client.chat.completions.create(**request, stream=True)
        assert "".join([event.choices[0].delta.content or "" async for event in stream]) == "hello"
        await client.chat.completions.create(**request, temperature=0.9, max_tokens=9, seed=1)
        with pytest.raises(LimitReached, match=r"limits\.sample_model_calls=4"):
            await client.chat.completions.create(**request)
        usage = b.session.usage.by_role()["a.b"]
        assert (usage.calls, usage.output_tokens) == (4, 60)  # the refused send is a call, and costs nothing
        first, *_, last = b.endpoint.got
        assert (first.headers["authorization"], first.headers["x-aiq-role"]) == ("Bearer sk-1", "a.b")
        assert (first.body["model"], first.body["temperature"], first.body["top_k"]) == ("big", 0.5, 1)
        assert (first.body["max_completion_tokens"], first.body["seed"]) == (50, b.session.seed())
        assert (last.body["temperature"], last.body["max_tokens"], last.body["seed"]) == (0.9, 9, b.session.seed())
        assert "max_completion_tokens" not in last.body


async def test_a_refusal_is_what_the_model_said(bench: Any) -> None:
    async with bench([http(200, completed(None, refusal="I cannot answer in this form."))]) as b:
        assert (await b.ask("aiq.writer")).text == "I cannot answer in this form."


async def test_closed_thoughts_are_not_what_the_model_said(bench: Any) -> None:
    async with bench([http(200, completed("<thinking>Hm.</thinking>\n\nYes."))]) as b:
        assert (await b.ask("judge.race")).text == "Yes."
        assert b.session.replies[0].text == "<thinking>Hm.</thinking>\n\nYes."


async def test_chat_model_calls_tools_and_streams(bench: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"name": "x"}'}}
    parts = streamed(chunk(content="he"), chunk(content="llo"), chunk("stop"), chunk(usage=USAGE))
    async with bench([http(200, completed(None, tool_calls=[call])), parts]) as b:
        message = await b.models.chat("aiq.planner").ainvoke("hello")
        assert [(t["name"], t["args"], t["id"]) for t in message.tool_calls] == [("look_up", {"name": "x"}, "c1")]
        assert "/chat/completions" in b.endpoint.got[0].path
        text = "".join([part.content async for part in b.models.chat("aiq.planner").astream("hello")])
        assert text == "hello"
        assert (b.session.usage.total().calls, b.session.usage.total().output_tokens) == (2, 40)


class State(TypedDict):
    text: str


def graph(model: Any) -> Any:
    """A model call and then three in parallel, as LangGraph runs them in tasks of its own."""

    async def ask(state: State) -> State:
        return {"text": (await model.ainvoke(state["text"])).content}

    async def fan_out(state: State) -> State:
        answers = await asyncio.gather(*(model.ainvoke(f"{state['text']} {i}") for i in range(3)))
        return {"text": " ".join(answer.content for answer in answers)}

    return StateGraph(State).add_sequence([ask, fan_out]).add_edge(START, "ask").compile()


async def test_session_is_found_inside_langgraph_and_its_limit_comes_out_unchanged(bench: Any) -> None:
    async with bench([OK], limits=configured(Limits, sample_model_calls=4)) as b:
        result = await graph(b.models.chat("aiq.planner")).ainvoke({"text": "hi"})
        assert result == {"text": "hello hello hello"}
        assert b.session.usage.by_role()["aiq.planner"].calls == 4
        with pytest.raises(LimitReached, match=r"limits\.sample_model_calls=4"):
            await graph(b.models.chat("aiq.planner")).ainvoke({"text": "hi"})
        assert len(b.endpoint.got) == 4


@pytest.mark.parametrize(("status", "kind"), [(500, ModelError), (400, ModelError), (401, RunAborted)])
async def test_typed_errors_come_out_of_langchain_unchanged(bench: Any, status: int, kind: type[Exception]) -> None:
    async with bench([error(status)]) as b:
        with pytest.raises(kind):
            await graph(b.models.chat("aiq.planner")).ainvoke({"text": "x"})
        assert len(b.endpoint.got) == (3 if status == 500 else 1)  # one layer retries, not three


async def test_two_sessions_at_once_keep_their_books_apart(bench: Any) -> None:
    async with bench([OK], delay=0.02) as b:
        other = make_session(models=b.models, key=SampleKey("s1", 2))

        async def work(session: Any, times: int) -> None:
            with session.bind():
                for i in range(times):
                    await b.models.chat("aiq.planner").ainvoke(str(i))

        await asyncio.gather(work(b.session, 3), work(other, 5))
        assert (b.session.usage.total().calls, other.usage.total().calls) == (3, 5)
        assert {g.body["seed"] for g in b.endpoint.got} == {b.session.seed(), other.seed()}


@each("variable")
async def test_a_key_that_cannot_be_used_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None, said: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    settings = configured(LlmSettings, base_url="http://127.0.0.1:9/v1", model="m", api_key_env=variable)
    async with open_client(settings, offline_port=None) as client:
        with pytest.raises(ConfigError, match=said) as caught:
            RunModels(settings, client)
    assert "sk" not in str(caught.value)


async def test_preflight_does_not_wait_for_an_unreachable_endpoint(bench: Any) -> None:
    async with bench([http(200, {"data": []})]) as b:
        await b.models.check()
        assert (b.endpoint.got[0].method, b.endpoint.got[0].path) == ("GET", "/v1/models")
        b.endpoint.script[:] = [error(404)]
        await b.models.check()
        b.endpoint.script[:] = [error(401)]  # a key that may call models but not list them
        await b.models.check()
    async with bench([OK], base_url="http://127.0.0.1:9/v1", retry={"attempts": 9}) as b:
        with pytest.raises(RunAborted, match=r"^llm\.base_url=http://127\.0\.0\.1:9/v1: cannot be reached: [^\n]*$"):
            await asyncio.wait_for(b.models.check(), 2)


@each("roles")
def test_planner_and_researcher_fall_back_to_the_orchestrators_model(roles: dict[str, Any], models: list[str]) -> None:
    settings = configured(LlmSettings, base_url="http://x/v1", model="m", roles=roles)
    names = ("aiq.orchestrator", "aiq.planner", "aiq.researcher")
    assert [settings.role(role).model or settings.model for role in names] == models
    assert settings.role("aiq.shallow_researcher").model == (roles.get("aiq") or {}).get("model")
