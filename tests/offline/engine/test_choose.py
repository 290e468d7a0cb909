import json
from typing import Any

import pytest

from aiq.offline.chat import ChatReply, ToolSpec
from aiq.offline.engine import respond
from aiq.offline.engine.tools import understand
from tests.cases import table
from tests.offline.engine.conftest import ask, called, tool

each = table(__file__)

SEARCH = tool("lookup", "Looks a phrase up on the web and gives the best pages.", "q")
FETCH = tool("open_link", "Opens a page and gives its text.", "href")
FINISH = tool("final_answer", "Ends the work with the final answer.", "answer")
NOTE = tool("think", "Write down your reasoning.", "thought")
HIT = {
    "link": "https://a.offline.example/vorn",
    "headline": "Vorn Mill",
    "body": "Vorn Mill was built by Ada Kestrel in 1904.",
}

SAVE = tool("write_file", "Writes a text to a file.", "file_path", "content")
EDIT = tool("edit_file", "Replaces a part of a file.", "file_path", "old", "new")
DIG = tool("dig", "Search the web", "needle")
RECIPES = tool("search_recipes", "Searches recipes for dishes.", "query")
TOOLS = {
    spec["function"]["name"]: spec
    for spec in (
        SEARCH,
        NOTE,
        DIG,
        RECIPES,
        tool("search_news", "Searches articles of newspapers.", "query"),
    )
}
REPORT = "Write a report on mills of the Orl valley: their builders, their present use, and their upkeep."


@each("kind")
def test_the_kind_of_a_tool_follows_from_its_description_and_parameters(
    name: str, description: str, parameters: dict[str, str], kind: str
) -> None:
    needed = {key: {"type": "string", "description": said} for key, said in parameters.items()}
    assert understand(ToolSpec.model_validate(tool(name, description, *needed, **needed))).kind == kind


def arguments(reply: ChatReply) -> dict[str, object]:
    return reply.tool_calls[0].function.parsed


@each("chosen")
def test_the_best_fitting_tool_is_called_with_its_arguments(
    task: str, tools: list[str], name: str | None, value: str
) -> None:
    calls = respond(ask(task, tools=tuple(TOOLS[tool] for tool in tools))).tool_calls
    assert [call.function.name for call in calls] == [name] * (name is not None)
    for call in calls:
        (given,) = call.function.parsed.values()
        assert value in given


def test_thanks_do_not_get_the_answer_again() -> None:
    told = (*called(("dig", {"needle": "Vorn Mill"}, [HIT])), {"role": "assistant", "content": "Ada Kestrel."})
    reply = respond(ask("Who built Vorn Mill?", *told, {"role": "user", "content": "Thanks!"}, tools=(DIG,)))
    assert not reply.tool_calls
    assert len(reply.text.split()) < 10
    assert "Kestrel" not in reply.text


def test_a_store_that_returned_nothing_is_left_for_another() -> None:
    told = called(("search_recipes", {"query": "sesame recipes"}, "[]"))
    reply = respond(ask("Which recipes use sesame?", *told, tools=(RECIPES, DIG)))
    assert [call.function.name for call in reply.tool_calls] == ["dig"]


def test_arguments_are_typed_as_the_schema_says() -> None:
    search = tool(
        "find_pages",
        "Finds pages.",
        "terms",
        "mode",
        terms={"type": "array", "items": {"type": "string"}},
        mode={"enum": ["fast", "slow"], "type": "string"},
        limit={"type": "integer"},
    )
    given = arguments(respond(ask("Who built Vorn Mill?", tools=(search,))))
    assert isinstance(given["terms"], list)
    assert "Vorn Mill" in given["terms"][0]
    assert given["mode"] == "fast"
    assert "limit" not in given


def test_the_search_ends_once_the_answer_is_found() -> None:
    told = called(("lookup", {"q": "Vorn Mill"}, [HIT]))
    reply = respond(ask("Who built Vorn Mill?", *told, tools=(SEARCH,), system="Cite your sources."))
    assert not reply.tool_calls
    assert "Ada Kestrel" in reply.text
    assert HIT["link"] in reply.text


@pytest.mark.parametrize("name", ["vector_store_search", "search_notes", "memory_search", "find_todos"])
def test_results_from_a_store_of_notes_are_evidence(name: str) -> None:
    told = called((name, {"query": "Vorn Mill"}, [HIT]))
    reply = respond(ask("Who built Vorn Mill?", *told, tools=(tool(name, "Searches for passages.", "query"),)))
    assert "Ada Kestrel" in reply.text


@pytest.mark.parametrize("name", ["think", "write_file", "edit_file", "save_memo", "write_todos"])
def test_notes_and_files_of_its_own_are_not_evidence(name: str) -> None:
    told = called((name, {"text": "I guess."}, "Vorn Mill was built by Bo Larn in 1904."))
    assert "Bo Larn" not in respond(ask("Who built Vorn Mill?", *told)).text


@each("file")
def test_a_file_is_written_if_the_prompt_orders_it(order: str, saved: bool) -> None:
    page = "<page>Vorn Mill was built by Ada Kestrel in 1904.</page> Who built Vorn Mill?"
    reply = respond(ask(page, system=f"You answer questions. {order}", tools=(EDIT, SAVE)))
    assert [call.function.name for call in reply.tool_calls] == ["write_file"] * saved
    if saved:
        assert arguments(reply)["file_path"] == "/answer.md"
        assert "Ada Kestrel" in str(arguments(reply)["content"])


def test_no_query_is_sent_twice_and_the_search_ends() -> None:
    results: list[tuple[str, dict[str, object], object]] = []
    for _ in range(15):
        reply = respond(ask("Who built Vorn Mill?", *called(*results), tools=(SEARCH,)))
        if not reply.tool_calls:
            break
        results += [("lookup", call.function.parsed, "[]") for call in reply.tool_calls]
    queries = [json.dumps(result[1]) for result in results]
    assert not reply.tool_calls, "the search never ends"
    assert len(set(queries)) == len(queries)


@each("limit")
def test_a_limit_on_calls_is_kept(instruction: str, most: int) -> None:
    results: list[tuple[str, dict[str, object], object]] = []
    for _ in range(5):
        reply = respond(ask("Who built Vorn Mill?", *called(*results), tools=(SEARCH,), system=instruction))
        results += [("lookup", call.function.parsed, "[]") for call in reply.tool_calls]
    assert len(results) <= most


def test_a_forced_tool_is_called_with_the_answer() -> None:
    done = called(("lookup", {"q": "Vorn Mill"}, [HIT]))
    reply = respond(ask("Who built Vorn Mill?", *done, tools=(SEARCH, FINISH), tool_choice="required"))
    assert reply.tool_calls[0].function.name == "final_answer"
    assert "Ada Kestrel" in str(arguments(reply)["answer"])


@each("choice")
def test_the_tool_choice_of_the_request_is_kept(tools: list[str], choice: Any, names: list[str]) -> None:
    reply = respond(ask("Who built Vorn Mill?", tools=tuple(TOOLS[tool] for tool in tools), tool_choice=choice))
    assert [call.function.name for call in reply.tool_calls] == names


def test_a_page_that_the_user_names_is_opened() -> None:
    reply = respond(ask("What does https://a.offline.example/vorn say of the mill?", tools=(SEARCH, FETCH)))
    assert arguments(reply) == {"href": "https://a.offline.example/vorn"}


@pytest.mark.parametrize(
    "body", ["The story of Vorn Mill ...", "Vorn Mill was built by Ida Quill in 1840, who then ..."]
)
def test_a_truncated_text_is_opened_even_if_it_answers(body: str) -> None:
    teaser = [{"link": HIT["link"], "headline": "Vorn Mill and who built it", "body": body}]
    done = called(("lookup", {"q": "Vorn Mill builder"}, teaser))
    reply = respond(ask("Who built Vorn Mill?", *done, tools=(SEARCH, FETCH)))
    assert arguments(reply) == {"href": HIT["link"]}


def test_open_tasks_are_searched_facet_by_facet() -> None:
    reply = respond(ask(REPORT, tools=(SEARCH,)))
    queries = [str(call.function.parsed["q"]) for call in reply.tool_calls]
    assert len(queries) > 1
    assert all("Orl valley" in query for query in queries)


def test_sub_agents_plan_then_research_then_the_report_is_written() -> None:
    task = tool(
        "task",
        "Gives a task to a subagent.\n\n- planner: Plans the research.\n- searcher: Searches and gives findings.",
        "description",
        "subagent_type",
    )
    first = respond(ask(REPORT, tools=(task,)))
    assert arguments(first)["subagent_type"] == "planner"
    assert REPORT in str(arguments(first)["description"])
    plan = {"sections": ["Builders", "Present use"], "queries": ["Orl valley mills builders", "Orl valley mills use"]}
    planned = called(("task", arguments(first), plan))
    second = respond(ask(REPORT, *planned, tools=(task,)))
    assert {call.function.parsed["subagent_type"] for call in second.tool_calls} == {"searcher"}
    assert "Orl valley mills builders" in str(arguments(second)["description"])


def test_a_draft_and_a_note_are_written_after_each_round_but_the_last() -> None:
    helper = tool("delegate", "Gives work to a researcher: a sub-agent that searches.", "brief")
    tools = (helper, SAVE, tool("jot", "A scratchpad for your thoughts.", "thought"))
    system = (
        "You lead researchers. Delegate in at most 2 rounds.\nAfter every round, save what you can say by now in "
        "`/notes/so-far.md` with `write_file`, and note with `jot` what is missing. Cite as in [1]."
    )
    first = respond(ask(REPORT, tools=tools, system=system))
    assert {call.function.name for call in first.tool_calls} == {"delegate"}
    found = (
        "The mills of the Orl valley grind barley [1].\n\n**Sources**\n[1] Orl mills - https://a.offline.example/orl"
    )
    told = called(("delegate", arguments(first), found))
    draft, note = respond(ask(REPORT, *told, tools=tools, system=system)).tool_calls
    assert (draft.function.name, draft.function.parsed["file_path"]) == ("write_file", "/notes/so-far.md")
    assert "grind barley [1]" in str(draft.function.parsed["content"])
    assert note.function.name == "jot"
    told += called(("write_file", draft.function.parsed, "Saved."), ("jot", note.function.parsed, "Noted."))
    second = respond(ask(REPORT, *told, tools=tools, system=system))
    assert {call.function.name for call in second.tool_calls} == {"delegate"}
    told += called(("delegate", arguments(second), found))
    last = respond(ask(REPORT, *told, tools=tools, system=system))
    assert (last.tool_calls, "grind barley [1]" in last.text) == ((), True)
