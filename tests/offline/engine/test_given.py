"""What the prompts of a workflow provide: references by number, outlines, actions, answers of others."""

import re

import pytest

from aiq.offline.engine import given, respond
from tests.cases import table
from tests.offline.engine.conftest import ask, called, tool

each = table(__file__)

SEARCH = tool("lookup", "Looks a phrase up on the web.", "q")
MILL, WEIR = "https://a.offline.example/mill", "https://b.offline.example/weir"
RESULTS = (
    f"<result>\n### History\nVorn Mill was built by Ada Kestrel in 1871 ({MILL}). "
    f"Vorn Mill burned down in 1902 ({MILL}).\n"
    f"The weir of Vorn was dug in 1869 ({WEIR}).\n</result>\n"
    f"<result>\n### Owners\nThe present owner of Vorn Mill is Bo Larn ({WEIR}).\n</result>"
)
TASK = "<task>\nWrite a report on Vorn Mill: its history, and its owners.\n</task>"
CITE = "Cite as in [1], by the numbers of the list. Do not write a list of sources at the end."


@each("references")
def test_a_reference_list_is_told_apart_from_results(text: str, numbers: dict[str, list[str]]) -> None:
    found = given.references(text)
    assert {str(n): [source.key, source.title, str(source.day)] for n, source in found.items()} == numbers


@each("headings")
def test_an_outline_is_nothing_but_headings(text: str, lines: list[str]) -> None:
    assert list(given.headings(text)) == lines


@each("answered")
def test_results_answer_in_their_first_words(label: str, text: str, said: list[str] | None, rest: str) -> None:
    found, left = given.answered(label, text)
    assert (found and list(found), left.strip()) == (said, rest)


@each("cited")
def test_statements_are_cited_by_the_given_numbers(listed: str, marks: dict[str, str]) -> None:
    text = respond(ask(f"{listed}\n\n{RESULTS}\n\n{TASK}", system=CITE)).text
    for statement, mark in marks.items():
        assert f"{statement}{mark}." in text
    assert "http" not in text


def test_headings_are_written_as_the_outline_shows_them() -> None:
    outline = "<outline>\n## Summary\n## Findings\n### History\n### Owners\n## Limits\n</outline>"
    listed = f"<references>\n[1] Vorn Mill - {MILL}\n[2] The weir - {WEIR}\n</references>"
    text = respond(ask(f"{listed}\n\n{outline}\n\n{RESULTS}\n\n{TASK}", system=CITE)).text
    assert re.findall(r"(?m)^#.*$", text) == ["## Summary", "## Findings", "### History", "### Owners", "## Limits"]
    history, owners = text.split("### History")[1].split("### Owners")
    assert "burned down in 1902 [1]." in history
    assert "Bo Larn [2]." in owners
    assert "## Findings\n\n### History" in text


def test_a_section_without_evidence_says_so_in_the_prompt_s_words() -> None:
    outline = "<outline>\n### History\n### Visitors\n</outline>"
    system = f'{CITE} Where the results do not suffice, say "Not enough to go by" there.'
    text = respond(ask(f"{outline}\n\n{RESULTS}\n\n{TASK}", system=system)).text
    assert text.split("### Visitors")[1].strip() == "Not enough to go by."


@each("step")
def test_the_next_step_is_stated_in_words(system: str, done: str) -> None:
    task = "<task>\nIn what city was the founder of Tarn Glass born?\n</task>"
    hop = (
        "<observation>\nTarn Glass was founded by Edda Marrow in 1904 (https://a.offline.example/tarn).\n</observation>"
    )
    last = "<observation>\nEdda Marrow was born in Tilt (https://a.offline.example/edda).\n</observation>"
    tried = "<action>\nSearch for: Tarn Glass founder\n</action>"
    first, second, third = (
        respond(ask(f"{before}\n\n{task}", system=system)).text
        for before in ("", f"{tried}\n{hop}", f"{tried}\n{hop}\n{last}")
    )
    assert re.fullmatch(r"Search for: .*Tarn Glass.*", first)
    assert re.fullmatch(r"Search for: .*Edda Marrow.*", second)
    assert third == done


def test_the_next_step_in_chinese() -> None:
    system = "你带领一名研究员。只用一句话说出下一步要查什么。"
    assert respond(ask("<task>\n塔恩玻璃公司的创始人是谁？\n</task>", system=system)).text.startswith("搜索：")


@pytest.mark.parametrize(
    "system", ["Do not say what the next step is.", "In the next step others will check it. Answer."]
)
def test_no_step_is_stated_if_an_answer_is_wanted(system: str) -> None:
    page = "<page>\nTarn Glass was founded by Edda Marrow in 1904.\n</page>"
    assert "Edda Marrow" in respond(ask(f"{page}\n\n<task>\nWho founded Tarn Glass?\n</task>", system=system)).text


def test_the_next_action_is_done_first_and_then_the_task_continues() -> None:
    action = "<next_action>\nSearch for: Tarn Glass works\n</next_action>"
    task = f"<task>\nIn what city was the founder of Tarn Glass born?\n\n{action}\n</task>"
    first = respond(ask(task, tools=(SEARCH,)))
    assert [call.function.parsed for call in first.tool_calls] == [{"q": "Tarn Glass works"}]
    page = [
        {
            "url": "https://a.offline.example/tarn",
            "title": "Tarn Glass",
            "text": "Tarn Glass was founded by Edda Marrow.",
        }
    ]
    second = respond(ask(task, *called(("lookup", {"q": "Tarn Glass works"}, page)), tools=(SEARCH,)))
    assert "Edda Marrow" in str(second.tool_calls[0].function.parsed["q"])


def test_earlier_thoughts_and_actions_are_not_evidence() -> None:
    said = "<thought>\nVorn Mill was built by Bo Larn in 1850.\n</thought>"
    found = "<observation>\nVorn Mill was built by Ada Kestrel in 1871.\n</observation>"
    text = respond(ask(f"{said}\n{found}\n\n<task>\nWho built Vorn Mill?\n</task>")).text
    assert "Ada Kestrel" in text
    assert "Bo Larn" not in text


@pytest.mark.parametrize(
    "lead", ["The answer is {}", "It is {} [2]", "Action result: According to the sources, it is {}"]
)
@pytest.mark.parametrize("name", ["Bo Larn", "Ada Kestrel"])
def test_the_answer_of_those_who_saw_more_counts(lead: str, name: str) -> None:
    result = f"<result>\n{lead.format(name)}. Bo Larn and Ada Kestrel worked at Vorn Mill.\n</result>"
    assert name in respond(ask(f"{result}\n\n<task>\nWho built Vorn Mill?\n</task>")).text.split(".")[0]


@each("all")
def test_everything_found_is_stated_page_by_page(system: str) -> None:
    pages = [
        {
            "url": MILL,
            "title": "Vorn Mill",
            "text": "Vorn Mill was built in 1871. It burned down in 1902. Mills are fine.",
        },
        {"url": WEIR, "title": "Weir", "text": "The weir of Vorn Mill was dug by Ada Kestrel."},
    ]
    task = "<task>\nHistory (as part of: a report on Vorn Mill)\n</task>"
    text = respond(ask(task, *called(("lookup", {"q": "Vorn Mill history"}, pages)), system=system)).text
    first, second = text.splitlines()
    assert re.fullmatch(rf".*1871\. .*1902 \({MILL}\)\.", first)
    assert second == f"The weir of Vorn Mill was dug by Ada Kestrel ({WEIR})."


@each("statements")
def test_the_statements_of_a_text_are_listed(prompt: str, lines: list[str]) -> None:
    report = (
        "## Summary\n\nVorn Mill is old and tall. Vorn Mill burned down in 1902 [1]. Ada Kestrel built Vorn Mill [2]."
        "\n\nNothing was found on its wheels."
    )
    assert (
        respond(ask(f"{prompt}\n\n<report>\n{report}\n</report>", system="You check reports.")).text.splitlines()
        == lines
    )
