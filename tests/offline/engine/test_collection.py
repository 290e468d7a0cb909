"""Tools that filter, count and page: the calls to them, and what their answers say, for schemas of many kinds."""

import json
from typing import Any

from aiq.offline.engine import counts, respond
from tests.cases import table
from tests.offline.engine.conftest import ask, called, tool

each = table(__file__)


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def optional(spec: dict[str, Any]) -> dict[str, Any]:
    spec["function"]["parameters"]["required"] = []
    return spec


TOOLS = {
    "orders": optional(
        tool(
            "query_orders",
            "Filters and counts a shop's orders. Fields: region, channel, product_line, ordered_on, amount.",
            where={"type": "object", "description": 'field and value, e.g. {"channel": "web"}'},
            between={"type": "object", "description": 'field and {"gte": ..., "lte": ...}'},
            facet={"type": "array", "items": text(), "description": "fields to count by"},
            interval=text(enum=["day", "week", "month", "quarter", "year"], description="periods of ordered_on"),
            cursor=text(),
        )
    ),
    "species": optional(
        tool(
            "find_specimens",
            "Find specimens of a museum by words or by fields.",
            query=text(description="words of the label"),
            filters=text(description='JSON, such as {"order": "Diptera"}'),
            group_by=text(description="a field, or several with commas"),
        )
    ),
}
COLUMNS = {
    "columns": [
        {"name": "region", "values": ["North", "South", "Baltic"]},
        {"name": "channel", "values": ["web", "phone", "shop"]},
        {"name": "product_line", "values": ["Kettles", "Lamps", "Data Loggers"]},
    ]
}
DESCRIBE = tool("list_columns", "Lists the columns of the orders with their values.")


@each("asked")
def test_values_in_a_question_go_to_the_parameters_that_can_express_them(task: str, arguments: dict[str, Any]) -> None:
    known = called(("list_columns", {}, COLUMNS))
    (call,) = respond(ask(task, *known, tools=(TOOLS["orders"], DESCRIBE))).tool_calls
    assert call.function.name == "query_orders"
    assert call.function.parsed == arguments


def test_a_list_is_asked_for_in_the_largest_pages() -> None:
    paged = TOOLS["orders"]["function"]
    limit = {"type": "integer", "description": "rows of a page, at most 200"}
    properties = {**paged["parameters"]["properties"], "limit": limit}
    orders = {**TOOLS["orders"], "function": {**paged, "parameters": {**paged["parameters"], "properties": properties}}}
    known = called(("list_columns", {}, COLUMNS))
    (call,) = respond(ask("List all orders from the Baltic region.", *known, tools=(orders, DESCRIBE))).tool_calls
    assert call.function.parsed["limit"] == 200


def test_a_tool_that_lists_the_fields_is_called_first_and_once() -> None:
    task = "How many orders came from the Baltic region?"
    (first,) = respond(ask(task, tools=(TOOLS["orders"], DESCRIBE))).tool_calls
    assert first.function.name == "list_columns"
    (second,) = respond(ask(task, *called(("list_columns", {}, COLUMNS)), tools=(TOOLS["orders"], DESCRIBE))).tool_calls
    assert second.function.name == "query_orders"


@each("counted")
def test_numbers_in_an_answer_are_stated_with_their_values(
    task: str, arguments: dict[str, Any], answer: Any, said: str
) -> None:
    told = called(("list_columns", {}, COLUMNS), ("query_orders", arguments, answer))
    reply = respond(ask(task, *told, tools=(TOOLS["orders"], DESCRIBE)))
    assert not reply.tool_calls
    assert said in reply.text


@each("other")
def test_numbers_of_other_things_are_not_stated(task: str, arguments: dict[str, Any], answer: Any) -> None:
    told = called(("list_columns", {}, COLUMNS), ("query_orders", arguments, answer))
    text = respond(ask(task, *told, tools=(TOOLS["orders"], DESCRIBE), tool_choice="none")).text
    assert not {"12", "30", "42"} & {*text.replace(".", " ").replace(",", " ").split()}


@each("told")
def test_numbers_in_a_prompt_are_stated(task: str, data: list[str], said: str) -> None:
    blocks = "\n".join(f"<data>\n{block}\n</data>" for block in data)
    assert said in respond(ask(f"{blocks}\n\n<question>\n{task}\n</question>", system="Write a short report.")).text


@each("tables")
def test_tables_are_recognised_by_their_form(answer: Any, tables: list[list[Any]]) -> None:
    found = counts.tables_in_text(answer) if isinstance(answer, str) else counts.tables(answer)
    assert [[one.field, dict(one.rows), one.total] for one in found] == tables


def test_web_pages_are_not_a_collection() -> None:
    hits = [
        {"url": f"https://a.offline.example/{n}", "title": f"Mill {n}", "source": "web", "content": f"Mill {n} is old."}
        for n in (1, 2)
    ]
    search = tool("web_search", "Searches the web.", "query")
    told = called(("web_search", {"query": "mills"}, hits))
    assert "- Mill 1" not in respond(ask("Which mills are old? List all of them.", *told, tools=(search,))).text


PLAN = {
    "type": "object",
    "properties": {
        "next": {"type": "string", "enum": ["use_workers", "use_tools", "write_up"]},
        "workers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"worker": {"type": "string", "enum": ["splitter", "reader", "author"]}},
                "required": ["worker"],
            },
        },
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "function": {"type": "string", "enum": ["query_orders", "list_columns"]},
                    "args": {"type": "object"},
                },
                "required": ["function", "args"],
            },
        },
    },
    "required": ["next", "workers", "calls"],
}
WORKERS = [
    {"name": "splitter", "description": "Makes sub-questions of the question.", "parameters": {}},
    {"name": "reader", "description": "Reads all documents that match.", "parameters": {}},
    {"name": "author", "description": "Writes the report.", "parameters": {}},
]


@each("plan")
def test_a_plan_calls_what_the_state_of_the_work_requires(
    state: list[str], made: list[list[Any]], workers: list[str], calls: list[list[Any]], action: str
) -> None:
    offered = [*WORKERS, TOOLS["orders"]["function"], DESCRIBE["function"]]
    parts = [f"<definition>\n{json.dumps(one)}\n</definition>" for one in offered]
    parts += [f"<call>\n{json.dumps({'tool': name, 'arguments': given})}\n</call>" for name, given in made]
    parts += [f"<answer>\n{json.dumps(COLUMNS)}\n</answer>"] * bool(made)
    parts += ["State:", *(f"- {line}" for line in state), ""]
    parts += ["<question>\nHow many web orders are there in each region?\n</question>"]
    form = {"type": "json_schema", "json_schema": {"name": "plan", "schema": PLAN}}
    reply = respond(ask("\n".join(parts), system="Plan the next step of the work.", response_format=form))
    plan = json.loads(reply.text)
    assert [one["worker"] for one in plan["workers"]] == workers
    assert [[one["function"], one["args"]] for one in plan["calls"]] == calls
    assert plan["next"] == action
