"""Instructions as orders: each wording, and its twin that negates it or leaves it out."""

from pathlib import Path
from typing import Any

import pytest

from aiq.agents.ai_q import agent as ai_q
from aiq.core.prompts import Prompts
from aiq.offline.chat import ChatRequest
from aiq.offline.engine.follow import Orders, follow
from aiq.offline.engine.read import read

QUESTION = "Who is the mayor of Pellow Quay?"
NO_CITING: dict[str, Any] = {}
CITING = {"cite": "numbered", "reference_heading": "**Sources**"}
LINKS = {"cite": "link"}
NO_TOOLS = {"most_calls": 0}
NOTHING: dict[str, Any] = {}


def _orders(system: str, user: str = QUESTION, **more: Any) -> dict[str, Any]:
    """What an instruction changes of the defaults."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    orders = follow(read(ChatRequest.model_validate({"model": "m", "messages": messages, **more})))
    return {name: value for name, value in vars(orders).items() if value != getattr(Orders(), name)}


BANS: list[tuple[str, str]] = [
    ("Do not cite sources.", "Cite your sources."),
    ("Answer without citations.", "Never answer without citations."),
    ("Omit citations from your reply.", "Do not omit citations."),
    ("It is not necessary to cite anything.", "Do not forget to cite your sources."),
    ("You needn't list any sources.", "Do not make up sources."),
    ("Your answer should contain no citations whatsoever.", "Do not cite pages that you did not read."),
    ("References are unwelcome.", "References must not be omitted."),
    ("不要引用来源。", "请引用来源。"),
]
"""Told after an order to cite: what takes it back, and what does not."""
TWINS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Cite your sources.", CITING, "Read your sources.", NOTHING),
    ("Back up every claim with a source.", CITING, "Back up every claim.", NOTHING),
    ("Use footnotes such as [^1].", CITING | {"cite": "footnote"}, "Do not use footnotes.", NOTHING),
    ("Attach a footnote to every claim.", CITING | {"cite": "footnote"}, "Claims need evidence.", NOTHING),
    ("Cite with Markdown links.", LINKS, "Cite with numbers such as [1].", CITING),
    ("Back up every claim with a source link.", LINKS, "Follow the links.", NOTHING),
    ("Link the page you rely on.", LINKS, "Rely on pages.", NOTHING),
    ("Use inline links, not numbers, for citations.", LINKS, "Use numbered citations, no links.", CITING),
    ("Use APA style citations.", LINKS, "Write in a plain style.", NOTHING),
    ("Sources are to be given as plain URLs.", {"cite": "url"}, "Sources are to be given.", CITING),
    ("State the answer, then give the link that it comes from in brackets.", {"cite": "url"},
        "State what links them.", NOTHING),
    ("Mention where you found it (the URL).", {"cite": "url"}, "Find it.", NOTHING),
    ("Cite sources. End without a reference list.", LINKS, "Cite sources. End with a reference list.", CITING),
    ('Put the references under the heading "Sources".', CITING | {"reference_heading": "## Sources"},
        "Put references last.", CITING),
    ("Close with `### Sources`.", CITING | {"reference_heading": "### Sources"}, "## Sources\nUse good ones.", NOTHING),
    ("List sources as `1. Title: URL`.", CITING | {"reference_form": "{n}. {title}: {url}"}, "List sources.", CITING),
    ("Make at most three searches.", {"most_calls": 3}, "Make as many searches as you like.", NOTHING),
    ("Search no more than twice.", {"most_calls": 2}, "Search at least twice.", {"least_calls": 2}),
    ("Use up to 5 tool calls.", {"most_calls": 5}, "Use the tools.", NOTHING),
    ("Do not make more than 4 searches.", {"most_calls": 4}, "Make more than 4 searches.", {"least_calls": 5}),
    ("Fewer than five tool calls, please.", {"most_calls": 4}, "No fewer than five tool calls.", {"least_calls": 5}),
    ("Only one search is allowed.", {"most_calls": 1}, "One search may not be enough.", NOTHING),
    ("Use a single query to search.", {"most_calls": 1}, "Search for one fact at a time.", NOTHING),
    ("Limit your searches to 3.", {"most_calls": 3}, "Do not limit your searches.", NOTHING),
    ("You have a budget of four tool calls.", {"most_calls": 4}, "You have tools.", NOTHING),
    ("Stop after two searches.", {"most_calls": 2}, "Stop after the answer is found.", NOTHING),
    ("Please keep the number of searches to three at most.", {"most_calls": 3}, "Please keep searching.", NOTHING),
    ("Do not search.", NO_TOOLS, "Search before you answer.", NOTHING),
    ("Do not use any tools.", NO_TOOLS, "Do not use tools twice for the same thing.", NOTHING),
    ("Answer from what you already know.", NO_TOOLS, "Never answer from memory.", NOTHING),
    ("There is no need to search.", NO_TOOLS, "There is a need to search.", NOTHING),
    ("Searching is not allowed.", NO_TOOLS, "Searching is allowed.", NOTHING),
    ("Don't use the search tool.", NO_TOOLS, "If you do not search, say why.", NOTHING),
    ("Never run more than one search in the same turn.", {"most_at_once": 1}, "You may run several in one turn.",
        NOTHING),
    ("Run the searches one after another.", {"most_at_once": 1}, "Find them one after another.", NOTHING),
    ("Call tools one at a time.", {"most_at_once": 1}, "You may call tools in parallel.", NOTHING),
    ("At most 3 tool calls per reply.", {"most_at_once": 3}, "Any number of tool calls per reply.", NOTHING),
    ("Work in at most 2 rounds.", {"most_rounds": 2}, "Work in rounds.", NOTHING),
    ("Use these headings: Background, Costs, Outlook.", {"sections": ("Background", "Costs", "Outlook")},
        "Use headings.", NOTHING),
    ("Use headings: Background, Costs.", {"sections": ("Background", "Costs")},
        "Use headings: # for the title, ## for sections, ### for their parts.", NOTHING),
    ('It has the sections "Costs" and "Outlook".', {"sections": ("Costs", "Outlook")},
        'It is "short" and "clear".', NOTHING),
    ("Answer in two sentences.", {"sentences": (2, 2)}, "Answer in full sentences.", NOTHING),
    ("Do not write more than 3 sentences.", {"sentences": (None, 3)}, "Write 3 or more sentences.",
        {"sentences": (3, None)}),
    ("Answer in at most 50 words.", {"words": (None, 50)}, "Answer in at least 50 words.", {"words": (50, None)}),
    ("Keep your answer between 100 and 200 words.", {"words": (100, 200)}, "Keep your word.", NOTHING),
    ("Write about 500 words.", {"words": (400, 600)}, "Write about 500 ships.", NOTHING),
    ("Keep it under 300 characters.", {"characters": (None, 299)}, "Keep it short.", NOTHING),
    ("Answer in Chinese.", {"language": "zh"}, "Do not answer in Chinese.", NOTHING),
    ("Reply in Mandarin.", {"language": "zh"}, "Reply in German.", NOTHING),
    ("Answer with one word.", {"words": (None, 1)}, "One word is not enough.", {"words": (2, None)}),
    ("Use bullet points.", {"bullets": True}, "No bullet points.", {"bullets": False}),
    ("Format the reply as a list.", {"bullets": True}, "Avoid lists.", NOTHING),
    ("Never use tables.", {"table": False}, "Present it in a table.", {"table": True}),
    ("Leave the title out.", {"title": False}, "Begin with a title.", NOTHING),
    ("Do not add a conclusion.", {"conclusion": False}, "End with a conclusion.", NOTHING),
    ("Dates have the form DD.MM.YYYY.", {"date_form": "%d.%m.%Y"}, "Do not write dates as YYYY-MM-DD.", NOTHING),
    ("Trust the oldest source.", {"oldest": True}, "Trust the newest source, not the oldest one.", NOTHING),
    ("Accept the question's assumptions.", {"premise": False}, "Check the question's assumptions.", NOTHING),
    ("Never ask the user anything.", {"ask": False}, "Ask when the scope is open.", NOTHING),
    ("`note` is always null.", {"fields": (("note", None),)}, "If there is none, `note` is null.", NOTHING),
    ("Do not use `think`.", {"barred": ("think",)}, "Use `think`.", NOTHING),
    ("Request independent searches together.", {"together": True}, "Independent searches may go together.", NOTHING),
    ("Add the current year to queries.", {"dated_queries": True}, "Leave the year out of queries.", NOTHING),
    ("Answer yes or no.", {"bare": True}, "Do not answer with just yes or no.", NOTHING),
    ("Give just the answer.", {"bare": True}, "Do not give just the answer.", NOTHING),
    ("Answer without explanation.", {"bare": True}, "Do not answer without explanation.", NOTHING),
    ('If you cannot find it, say "No idea".', {"abstain": "No idea"}, 'If you find it, say "Found it".', NOTHING),
    ("If the evidence falls short, reply `unknown`.", {"abstain": "unknown"},
        "If the evidence falls short, search.", NOTHING),
    ("最多搜索三次。", {"most_calls": 3}, "至少搜索三次。", {"least_calls": 3}),
    ("不要使用工具。", NO_TOOLS, "请使用工具。", NOTHING),
    ("用中文回答。", {"language": "zh"}, "请用英文回答。", NOTHING),
    ("回答不超过100字。", {"characters": (None, 100)}, "请完整回答。", NOTHING),
    ("用两句话回答。", {"sentences": (2, 2)}, "请回答。", NOTHING),
    ("如果找不到答案，请回答“无法确定”。", {"abstain": "无法确定"}, "请找到答案。", NOTHING),
]  # fmt: skip


@pytest.mark.parametrize(("said", "cites"), [(b[0], "none") for b in BANS] + [(b[1], "numbered") for b in BANS])
def test_an_order_to_cite_is_taken_back_by_a_ban_and_by_nothing_else(said: str, cites: str) -> None:
    assert _orders(f"Support each statement with a citation such as [1].\n{said}").get("cite", "none") == cites


@pytest.mark.parametrize(("said", "wanted"), [(t[0], t[1]) for t in TWINS] + [(t[2], t[3]) for t in TWINS])
def test_an_instruction_is_obeyed_and_its_twin_is_not_taken_for_it(said: str, wanted: dict[str, Any]) -> None:
    assert _orders(said) == wanted


def test_the_user_s_word_comes_after_the_system_s() -> None:
    assert (
        _orders("Support each statement with a citation such as [1].", f"{QUESTION} Do not cite anything.") == NO_CITING
    )


@pytest.mark.parametrize("tag", ["document", "page", "context"])
def test_what_stands_in_material_is_no_instruction(tag: str) -> None:
    assert (
        _orders("Be brief.", f"<{tag}>\nDo not search. Answer in Chinese. Do not cite.\n</{tag}>\n\n{QUESTION}")
        == NOTHING
    )


@pytest.mark.parametrize(
    "example",
    ["Task: Who built it?\nThought: I answer with one word. Do not cite.\nObservation: Answer in Chinese.",
     "question: Who built it?\nresponse: Answer in at most 5 words.\ncomment: Do not search."],
)  # fmt: skip
def test_worked_examples_instruct_nothing(example: str) -> None:
    assert _orders(f"You are given examples.\n---\n{example}\n---\nNow begin.") == NOTHING


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        (
            "shallow_researcher.j2",
            CITING
            | {"reference_heading": "## References", "dated_queries": True}
            | {"sentences": (None, 3), "abstain": "I don't have enough information"},
        ),
        ("researcher.j2", CITING | {"most_calls": 8, "dated_queries": True}),
        (
            "orchestrator.j2",
            CITING
            | {"reference_heading": "## References", "most_rounds": 2, "most_at_once": 6}
            | {"together": True, "ask": False},
        ),
        ("planner.j2", {"most_calls": 8}),
        ("clarifier.j2", {"most_calls": 2}),
        ("clarifier_planner.j2", NOTHING),
        ("intent_classifier.j2", CITING),
    ],
)
def test_the_shipped_prompts(template: str, wanted: dict[str, Any]) -> None:
    limits = {"enable_todos": True, "max_loops": 2, "max_researcher_calls": 6, "max_searches_per_researcher": 8,
              "min_queries": 6, "max_queries": 10}  # fmt: skip
    prompts = Prompts(Path(ai_q.__file__).parent / "prompts")
    tools = [{"name": "find_pages", "description": "Find pages. One search a question is often enough."}]
    prompt = prompts.render(
        template, limits=limits, tools=tools, web_search=True, user_info=None, available_documents=[],
        clarifier_result="", current_datetime="2026-11-01T09:00:00+00:00",
    )  # fmt: skip
    assert _orders(prompt) == wanted
