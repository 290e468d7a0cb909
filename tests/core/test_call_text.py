"""Tool calls written as text, as models of many makers write them, and answers that only look like some."""

import time

import pytest

from aiq.core.call_text import is_tool_call

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
def test_a_call_is_no_answer(text: str) -> None:
    assert is_tool_call(text)


@pytest.mark.parametrize("text", [*ANSWERS, "# A report\n\n" + "words " * 99 + '<tool_call>{"name": "x"}</tool_call>'])
def test_an_answer_is_no_call(text: str) -> None:
    assert not is_tool_call(text)


@pytest.mark.parametrize("piece", ["<tool", '{"name": ', "[", '"a", ', '{"name": "a", "arguments": {}}', "a(b=", "<a_"])
def test_a_loop_is_read_in_time(piece: str) -> None:
    start = time.process_time()
    is_tool_call(piece * 10_000)
    assert time.process_time() - start < 2
