"""Why a text is no answer, and what cut a report off, by what the endpoint said of each reply."""

from typing import Any

import pytest

from aiq.core.replies import Said, read_reply, why_cut_off, why_no_answer


def said(content: Any = None, finish: str = "stop", **message: Any) -> Said:
    return read_reply("a.writer", {"role": "assistant", "content": content, **message}, finish)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said("", "content_filter"), "the endpoint's filter cut the reply off (finish_reason content_filter)"),
        (said("", "length"), "the token limit (llm.max_tokens, or the endpoint's own) cut the reply off"),
        (said(None, "length", reasoning_content="I think"), "(finish_reason length) after its thoughts"),
        (said(None, reasoning_content="I think"), "the model sent no answer after its thoughts"),
        (said("<think>Hm.</think>"), "the model sent no answer after its thoughts"),
        (said(None, refusal="I cannot help"), "the model refused: 'I cannot help'"),
        (said(None), "content is null"),
        (said(" \n"), "content is blank"),
        (said([{"type": "text", "text": ""}]), "content is blank"),
        (said(None, "tool_calls", tool_calls=[{"id": "1"}]), "the model called tools and said nothing"),
    ],
)
def test_an_empty_answer_says_why(reply: Said, why: str) -> None:
    found = why_no_answer(" ", [said("before"), reply])
    assert found is not None
    assert found.startswith("the text is empty (a.writer: ")
    assert why in found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<think>Let me see and", "the text ends within the model's thoughts"),
        ('{"name": "search", "arguments": {"q": "x"}}', "the model wrote a tool call as text"),
        ("The answer is Ransen, and", None),
    ],
)
def test_a_text_that_is_no_answer_says_why(text: str, why: str | None) -> None:
    found = why_no_answer(text, [said(text, "length")])
    assert (found is None) == (why is None)
    assert why is None or (why in str(found) and "finish_reason length" in str(found))


def test_a_refusal_is_no_answer() -> None:
    found = why_no_answer("I cannot help", [said(None, refusal="I cannot help"), said("thanks")])
    assert found == "a.writer: the model refused: 'I cannot help'"
    assert why_no_answer("I cannot help", [said("I cannot help")]) is None


CUT, WHOLE = said("The mayor of Orlune is Ransen [1], and", "length"), said("The mayor of Orlune is Ransen [1].")
LONG = said("word " * 50 + "the end of all", "MAX_TOKENS")


@pytest.mark.parametrize(
    ("report", "replies", "cut"),
    [
        pytest.param(CUT.text, [CUT], True, id="the reply itself"),
        pytest.param(f"# Title\n\n{CUT.text}\n\n## References\n[1] x", [CUT], True, id="with more around it"),
        pytest.param("Ransen [2], and", [CUT], True, id="taken out of the reply"),
        pytest.param(f"<think>Hm</think>{CUT.text}", [CUT], True, id="thoughts"),
        pytest.param(LONG.text, [LONG], True, id="another endpoint's word for it"),
        pytest.param(WHOLE.text, [CUT, WHOLE], False, id="written anew"),
        pytest.param(f"{CUT.text} has been since May.", [CUT, said("has been since May.")], False, id="continued"),
        pytest.param(f"{CUT.text} has", [CUT, said("has", "length")], True, id="continued and cut again"),
        pytest.param(CUT.text, [CUT, said("Ransen")], True, id="a later word that is in it"),
        pytest.param(WHOLE.text, [WHOLE, said("Ransen", "length")], False, id="a later question for its last word"),
        pytest.param("Something else.", [CUT], False, id="of no reply"),
        pytest.param("Ransen.", [CUT], False, id="taken out of its middle"),
        pytest.param("The answer is", [said("The answer is", "content_filter")], True, id="filtered"),
        pytest.param("", [said("", "length")], False, id="nothing"),
        pytest.param("A report from a file.", [], False, id="no model was asked"),
    ],
)
def test_a_report_is_cut_off_if_the_reply_it_ends_with_was(report: str, replies: list[Said], cut: bool) -> None:
    assert (why_cut_off(report, replies) is not None) == cut
