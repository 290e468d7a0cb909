"""Which part of a reply is the answer: no thoughts, no tool calls written as text, and why a report was cut off."""

import time
from typing import Any

import pytest

from aiq.core.replies import (
    RawReply,
    ends_in_thought,
    is_tool_call,
    read_reply,
    why_cut_off,
    why_no_answer,
    without_thoughts,
)

CLOSED = [
    ("<think>The user asks [1].\n\nLet me see</think>\n\nX", "X"),
    ("<THINK>a</THINK>X", "X"),
    ("<thinking>\na\n\nb</thinking>\n\nX", "X"),
    ("<thought>\na</thought>\nX", "X"),
    ('<think type="x">a</think>X', "X"),
    ("<seed:think>a</seed:think>X", "X"),
    ("[THINK]a[/THINK]X", "X"),
    ("◁think▷a◁/think▷X", "X"),
    ("<|begin_of_thought|>a<|end_of_thought|>X", "X"),
    ("<think>a ```\nunclosed code</think>X", "X"),
    ("X [1].\n\n<reasoning>b\n\nc</reasoning>\n\nY", "X [1].\n\n\n\nY"),
    ("The mayor <think>is he?</think> is X", "The mayor is X"),
    ("<think>a</think>", ""),
    ("<think>\n\n</think>\n\nX", "X"),
    ("Let me see</think>\n\nX", "X"),
    ("Let me see.\n</think>X", "X"),
    ("I look it up. </think> X", "X"),
    ("a</think>b</think>X", "X"),
]
NAMED = [
    "no tags",
    "R1 writes `<think>` first and `</think>` last",
    "R1 writes <think> and </think> around it",
    "R1 ends with </think> and goes on",
    "A <think> tag",
    "R1 is of 2025 [1].\n\n<think> tags surround what it thinks.",
    "<think> and </think> surround what it thinks [1].",
    'It says "<think>" first and "</think>" last [1].',
    "R1 is of 2025 [1].\n\nWhat it thinks ends with </think>\nand its answer follows.",
    "R1 is of 2025 [1].\n\n- R1: </think>\n- Kimi: another",
    "| model | tag |\n| --- | --- |\n| R1 | </think> |",
    "It looks so:\n\n```\n<think>a</think>\n```\n\nX",
    "[Thinking](https://x.test) about [think] tanks",
]
UNFINISHED = ["<think>The user asks about it. Let me see and", "X\n<think>b", "<think>a</think>X\n\n<Reasoning>\nb"]


@pytest.mark.parametrize(("reply", "answer"), CLOSED)
def test_closed_thoughts_are_removed(reply: str, answer: str) -> None:
    assert without_thoughts(reply) == answer
    assert not ends_in_thought(reply)


@pytest.mark.parametrize("text", NAMED)
def test_text_that_mentions_tags_is_unchanged(text: str) -> None:
    assert without_thoughts(text) == text
    assert not ends_in_thought(text)


@pytest.mark.parametrize("text", UNFINISHED)
def test_an_unclosed_thought_is_detected(text: str) -> None:
    assert ends_in_thought(text)
    assert ends_in_thought(without_thoughts(text))


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>\n", "`<think>", "```\n", "<think \n", "x <think> and </think>\n"]
)
def test_repeated_tags_are_read_quickly(piece: str) -> None:
    start = time.process_time()
    without_thoughts(piece * 10_000)
    assert time.process_time() - start < 2


CALLS = [
    '<tool_call>\n{"name": "web_search_tool", "arguments": {"query": "Ormark Kilns founder"}}\n</tool_call>',
    '{"name": "web_search_tool", "parameters": {"query": "Ormark Kilns founder"}}',
    '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"q": 1}}]',
    '{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {}}',
    '{"name": "a", "parameters": {}}; {"name": "b", "parameters": {}}',
    '{"type": "function", "function": {"name": "x", "arguments": "{\\"q\\": 1}"}}',
    '"web_search_tool", "arguments": {"query": "x"}}\n</tool_call>',
    '{"name": "web_search_tool", "argum',
    '{"name": "web_sea',
    "<tool_call>",
    "</tool_call>",
    "<tool_ca",
    '<tool_call>\n{"name": "web_search_tool", "arguments": {"query": "Ormark',
    '[TOOL_CALLS] [{"name": "x", "arguments": {}}]',
    '[TOOL_CALLS]web_search[ARGS]{"q": 1}',
    '<|python_tag|>{"name": "x", "parameters": {}}',
    '<|python_tag|>brave_search.call(query="x")',
    '<function=web_search_tool>{"query": "x"}</function>',
    "<function=web>\n<parameter=query>\nfoo\n</parameter>\n</function>",
    "<tool_call>\n<function=web>\n<parameter=query>\nfoo\n</parameter>\n</function>\n</tool_call>",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>x\n```json\n{"q":1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.x:0<|tool_call_argument_begin|>{"q":1}<|tool_call_end|><|tool_calls_section_end|>',
    '```json\n{"name": "web_search_tool", "arguments": {"query": "x"}}\n```',
    '```tool_code\nprint(search(query="x"))\n```',
    '```\n<tool_call>{"name": "x"}</tool_call>\n```',
    'Let me search for that.\n<tool_call>{"name": "x", "arguments": {}}</tool_call>',
    'web_search_tool(query="x")',
    '[web_search_tool(query="x"), b(c=1)]',
    'Action: search\nAction Input: {"q": 1}',
    "Thought: I need it.\nAction: search\nAction Input: x\nObservation:",
    "{'name': 'x', 'arguments': {'q': 'y'}}",
    '<function_calls><invoke name="x"><parameter name="q">v</parameter></invoke></function_calls>',
    '{"tool": "search", "query": "x"}',
    '{"action": "Search", "action_input": "x"}',
    '{"tool": "search", "query": "osl',
    'Let me search <tool_call>{"name": "x", "arguments": {}}</tool_call>',
    '{"arguments": {"query": "x"}}',
    '<tools>{"name": "x", "arguments": {}}</tools>',
    '{"tool_calls": [{"name": "x"}]}',
    '<functioncall> {"name": "x", "arguments": {}}',
    '{"name": "web_search_tool"}',
    "<start_function_call>call:x{q:<escape>a<escape>}<end_function_call>",
    '<tool_call>{"name": "x", "arguments": {"q": 1}}</tool_call>\n<tool_call>{"name": "x", "arguments": {"q": 2}}',
]
ANSWERS = [
    "The answer is Ransen.",
    "",
    "Ransen",
    '{"name": "John", "age": 5}',
    "<tool_call>{}</tool_call>\nThe answer is Ransen [1].",
    "Use `<tool_call>` tags.",
    'A call looks like this:\n\n```json\n{"name": "x", "arguments": {}}\n```\n\nand so on.',
    'The founder is Ransen [1].\n<tool_call>{"name": "x"}</tool_call>',
    '{"answer": "Ransen"}',
    'The API takes "parameters": {"a": 1}',
    "<tooltip>x</tooltip>",
    "[1] The first.",
    '{"name": "a", "parameters": {}}\n\nThe answer is Ransen.',
    "f(x) is 3",
    "Python (the language) is older (1991).",
    "function(s) of it",
    "[Tools](https://x.test) are",
    '{"name": "Marie Curie"}',
    '```json\n{"name": "Oslo"}\n```',
    '[{"tool": "LangGraph", "license": "MIT"}, {"tool": "CrewAI", "license": "MIT"}]',
    '{"function": "Ribosomes make proteins", "found_in": "cells"}',
    '{"model": "Llama-3", "parameters": "70B"}',
    '{"model": "bert", "parameters": {"lr": 0.1}}',
    '{"name": "GPT-3", "parameters": 175000000000}',
    '{"claim": "x", "arguments": ["for", "against"]}',
    '{"claim": "x", "arguments": ["for", "agai',
    '{"name": "Oslo", "population": 7',
    '```python\nprint("Hello, world!")\n```',
    "Qwen writes calls between <tool_call> tags, and Llama has <|python_tag|> before them.",
    "Qwen uses <tool_call>.",
    'Write <parameter name="x"> into the file.',
    "[TOOL_CALLS] is the token of Mistral's models.",
    "<table><tr><td>a</td></tr></table>",
    "Thought: x\nAction: a\nAction Input: b\nObservation: c\nFinal Answer: Ransen",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_tool_call_is_recognized(text: str) -> None:
    assert is_tool_call(text)


@pytest.mark.parametrize("text", [*ANSWERS, "# A report\n\n" + "words " * 99 + '<tool_call>{"name": "x"}</tool_call>'])
def test_an_answer_is_not_taken_for_a_tool_call(text: str) -> None:
    assert not is_tool_call(text)


@pytest.mark.parametrize(
    "piece", ["<tool", '{"name": ', "[", '"a", ', '{"name": "a", "arguments": {}}', "a(b=", "<a_", "~~~"]
)
def test_repeated_calls_are_read_quickly(piece: str) -> None:
    start = time.process_time()
    is_tool_call(piece * 10_000)
    assert time.process_time() - start < 2


def said(content: Any = None, finish: str = "stop", **message: Any) -> RawReply:
    return read_reply("a.writer", {"role": "assistant", "content": content, **message}, finish)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said("", "content_filter"), "the endpoint's filter cut the reply off (finish_reason content_filter)"),
        (said("", "content_filter: RECITATION"), "the endpoint's filter cut the reply off"),
        (said("", "PROHIBITED_CONTENT"), "the endpoint's filter cut the reply off"),
        (said("", "length"), "the token limit (llm.max_tokens, or the endpoint's own) cut the reply off"),
        (said(None, "length", reasoning_content="I think"), "(finish_reason length) after its thoughts"),
        (said(None, reasoning_content="I think"), "the model sent no answer after its thoughts"),
        (said("<think>Hm.</think>"), "the model sent no answer after its thoughts"),
        (said(None, refusal="I cannot help"), "the model refused: 'I cannot help'"),
        (said(None), "content is null"),
        (said(" \n"), "content is blank"),
        (said(None, "tool_calls", tool_calls=[{"id": "1"}]), "the model called tools and said nothing"),
    ],
)
def test_an_empty_answer_has_a_reason(reply: RawReply, why: str) -> None:
    reason = why_no_answer(" ", [said("before"), reply])
    assert reason is not None
    assert reason.startswith("the text is empty (a.writer: ")
    assert why in reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<think>Let me see and", "the text ends within the model's thoughts"),
        ('{"name": "search", "arguments": {"q": "x"}}', "the model wrote a tool call as text"),
        ("The answer is Ransen, and", None),
    ],
)
def test_a_text_that_is_not_an_answer_has_a_reason(text: str, why: str | None) -> None:
    reason = why_no_answer(text, [said(text, "length")])
    assert (reason is None) == (why is None)
    assert why is None or (why in str(reason) and "finish_reason length" in str(reason))


def test_a_refusal_is_not_an_answer() -> None:
    reason = why_no_answer("I cannot help", [said(None, refusal="I cannot help"), said("thanks")])
    assert reason == "a.writer: the model refused: 'I cannot help'"
    assert why_no_answer("I cannot help", [said("I cannot help")]) is None


CUT, WHOLE = said("The mayor of Orlune is Ransen [1], and", "length"), said("The mayor of Orlune is Ransen [1].")
LONG = said("word " * 50 + "the end of all", "MAX_TOKENS")


@pytest.mark.parametrize(
    ("report", "replies", "cut"),
    [
        pytest.param(CUT.text, [CUT], True, id="the reply itself"),
        pytest.param(f"# Title\n\n{CUT.text}\n\n## References\n[1] x", [CUT], True, id="with more text around it"),
        pytest.param("Ransen [2], and", [CUT], True, id="from the end of the reply"),
        pytest.param(f"<think>Hm</think>{CUT.text}", [CUT], True, id="thoughts"),
        pytest.param(LONG.text, [LONG], True, id="another finish_reason"),
        pytest.param(WHOLE.text, [CUT, WHOLE], False, id="rewritten"),
        pytest.param(f"{CUT.text} has been since May.", [CUT, said("has been since May.")], False, id="continued"),
        pytest.param(f"{CUT.text} has", [CUT, said("has", "length")], True, id="continued and cut again"),
        pytest.param(CUT.text, [CUT, said("Ransen")], True, id="a later reply that is part of it"),
        pytest.param(WHOLE.text, [WHOLE, said("Ransen", "length")], False, id="a later question for its last word"),
        pytest.param("Something else.", [CUT], False, id="not from a reply"),
        pytest.param("Ransen.", [CUT], False, id="from the middle of the reply"),
        pytest.param("The answer is", [said("The answer is", "content_filter")], True, id="filtered"),
        pytest.param("", [said("", "length")], False, id="nothing"),
        pytest.param("A report from a file.", [], False, id="no model was asked"),
    ],
)
def test_a_report_is_cut_off_if_the_reply_it_ends_with_was(report: str, replies: list[RawReply], cut: bool) -> None:
    assert (why_cut_off(report, replies) is not None) == cut
