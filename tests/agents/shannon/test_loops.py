import pytest
from pydantic import JsonValue

from aiq.agents.shannon.loops import COMPLETE_PHRASES, SUCCESS_PHRASES
from aiq.agents.shannon.records import AgentResult, ToolOutput
from aiq.agents.shannon.rules import (
    is_task_complete,
    observations_similar,
    react_should_stop,
    truncate_observations,
)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        *((f"Now {phrase.upper()}.", True) for phrase in COMPLETE_PHRASES),
        ("not finished", True),
        ("it was abandoned", True),
        ("they condone it", True),
        ("found an answer", False),
        ("complete the task", False),
        ("", False),
    ],
)
def test_a_thought_says_that_the_task_is_done(text: str, complete: bool) -> None:
    assert is_task_complete(text) is complete


@pytest.mark.parametrize(
    ("first", "second", "similar"),
    [
        ("", "", True),
        ("a b c", "a b c", True),
        ("", "word", False),
        ("word", "", False),
        ("word", "    ", False),
        ("alpha beta gamma delta", "alpha beta gamma other", True),  # 3 of 4
        (
            "alpha beta gamma delta more five sixx",
            "alpha beta gamma delta more five sixx one two abc",
            False,
        ),  # 7 of 10
        ("alpha beta gamma delta more five sixx", "alpha beta gamma delta more five sixx one two", True),  # 7 of 9
        ("alpha beta", "alphabet beta", False),  # words, not parts of them
        ("Alpha Beta", "alpha beta", False),
        ("a b c d e", "a b c d f", False),  # short words count as not found
        ("中文 中文 中文", "中文 中文 其他", False),  # 2 of 3; more than 3 bytes each
        ("中 中 中 中", "中 中 中 国", False),  # 3 bytes are short
        ("éé éé éé éé", "éé éé éé ab", True),
        ("word" + " " * 4, "word", True),
        ("word" + " " * 5, "word", False),  # over twice as long
        ("word", "word" + " " * 4, True),
        ("word", "word" + " " * 5, False),
    ],
)
def test_similar_observations(first: str, second: str, similar: bool) -> None:
    assert observations_similar(first, second) is similar


def searched(output: JsonValue, tool: str = "web_search", success: bool = True) -> AgentResult:
    used = ToolOutput(tool=tool, success=success, output=output)
    return AgentResult(agent_id="a", response="", tool_outputs=(used,))


ONE, TWO = "one two three four five", "abc def ghi jkl mno pqr"


@pytest.mark.parametrize(
    ("observations", "thoughts", "results", "stops"),
    [
        *((["x", f"y {phrase.upper()} z", "more of it"], ["t"], [], True) for phrase in SUCCESS_PHRASES),
        ([f"x {SUCCESS_PHRASES[0]}", "y", "zz", "zzzz long"], ["t"], [], False),  # of the last three
        (["it was found", "y"], [], [], False),  # no thought
        (["unsuccessful", "y"], ["t"], [], True),
        (["answer", "is"], ["t"], [], False),
        (["same words here", "same words here"], [], [], True),
        (["same words here"], [], [], False),
        ([], ["t"], [], False),
        ([ONE, TWO], ["t"], [searched("http http"), searched("http http")], True),
        ([ONE, TWO], ["t"], [searched("https://a http://b"), searched("http http")], True),
        ([ONE, TWO], ["t"], [searched("http"), searched("http http")], False),
        ([ONE, TWO], ["t"], [searched("none"), searched("none")], False),
        ([ONE, TWO], ["t"], [searched("http")], False),
        ([ONE, TWO], ["t"], [searched("x"), searched("http"), searched("http")], True),
        ([ONE, TWO], ["t"], [searched("http"), searched(["http"])], False),  # strings only
        ([ONE, TWO], ["t"], [searched("http"), searched("http", "web_fetch")], False),
        ([ONE, TWO], ["t"], [searched("http"), searched("http", success=False)], False),
        (["a" * 10, "b" * 12], ["t"], [searched("http"), searched("http")], False),  # 1.2 is outside
        (["a" * 100, "b" * 119], ["t"], [searched("http"), searched("http")], True),
        (["a" * 10, "b" * 8], ["t"], [searched("http"), searched("http")], False),
        (["a" * 100, "b" * 81], ["t"], [searched("http"), searched("http")], True),
        (["", "b"], ["t"], [searched("http"), searched("http")], False),
    ],
)
def test_a_loop_stops(observations: list[str], thoughts: list[str], results: list[AgentResult], stops: bool) -> None:
    assert react_should_stop(observations, thoughts, results, 2) is stops
    assert react_should_stop(observations, thoughts, results, 1) is False


@pytest.mark.parametrize(
    ("number", "maximum", "note", "kept"),
    [(0, 20, 0, 0), (20, 20, 0, 20), (21, 20, 2, 19), (30, 20, 11, 19), (3, 2, 2, 1), (3, 1, 3, 0)],
)
def test_observations_are_truncated_with_a_note(number: int, maximum: int, note: int, kept: int) -> None:
    observations = [str(n) for n in range(number)]
    noted = [f"[{note} older observations truncated]"] if note else []
    assert truncate_observations(observations, maximum) == noted + observations[number - kept :]
