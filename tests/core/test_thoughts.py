"""Thoughts in replies: closed ones go in every spelling, wherever they are; what only names a tag stays."""

import time

import pytest

from aiq.core.thoughts import ends_in_thought, without_thoughts

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
def test_closed_thoughts_go(reply: str, answer: str) -> None:
    assert without_thoughts(reply) == answer
    assert not ends_in_thought(reply)


@pytest.mark.parametrize("text", NAMED)
def test_a_text_that_names_tags_stays(text: str) -> None:
    assert without_thoughts(text) == text
    assert not ends_in_thought(text)


@pytest.mark.parametrize("text", UNFINISHED)
def test_a_thought_without_an_end_is_seen(text: str) -> None:
    assert ends_in_thought(text)
    assert ends_in_thought(without_thoughts(text))


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>\n", "`<think>", "```\n", "<think \n", "x <think> and </think>\n"]
)
def test_a_loop_of_tags_is_read_in_time(piece: str) -> None:
    start = time.process_time()
    without_thoughts(piece * 10_000)
    assert time.process_time() - start < 2
