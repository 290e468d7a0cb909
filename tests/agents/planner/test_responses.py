"""Answers of data tools, in all the shapes that servers use."""

import json
from typing import Any

import pytest

from aiq.agents.planner.responses import DataPage, ResponseReader, merge_documents
from aiq.agents.planner.settings import FieldSettings
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from tests.agents.planner.conftest import document
from tests.settings import configured

READER = ResponseReader(configured(FieldSettings))


def read(answer: Any, arguments: Any = None, page: int = 0, sources: Any = ()) -> DataPage:
    content = answer if isinstance(answer, str) else json.dumps(answer)
    return READER.read("t", ToolResult(content=content, sources=sources), arguments or {}, page)


ROW = {"id": "a", "title": "A"}


@pytest.mark.parametrize(
    "answer",
    [
        {"documents": [ROW]},
        {"documents": [], "results": [ROW]},
        {"aggregations": {"group_by": {"buckets": [{"key": "x", "count": 1, "samples": [ROW]}]}}},
        {"buckets": [{"key": "x", "count": 1, "samples": [ROW]}]},
        {"aggregations": {"by": {"buckets": [{"key": "x", "buckets": [{"key": "y", "count": 1, "samples": [ROW]}]}]}}},
        {"hits": {"hits": [{"_id": "a", "_source": {"title": "A"}}]}},
        [ROW],
        f"Here it is:\n{json.dumps({'documents': [ROW]})}",
        {"documents": [ROW], "results": [{"id": "b"}]},
        {"documents": [ROW, ROW]},
    ],
)
def test_documents_are_found_wherever_a_server_has_them(answer: Any) -> None:
    assert [(d.key, d.title) for d in read(answer).documents] == [("t:a", "A")]


@pytest.mark.parametrize(
    ("answer", "total", "size"),
    [
        ({"data_context": {"unique_ids_matched": 3, "documents_matched": 5}, "hits": {"total": 9}}, 3, 3),
        ({"data_context": {"documents_matched": 5}, "hits": {"total": 9}}, 5, 5),
        ({"hits": {"total": {"value": 9}}, "documents": [ROW]}, 9, 9),
        ({"hits": {"total": 8}}, 8, 8),
        ({"documents": [ROW]}, None, 1),
        ({"results": [ROW, {"id": "b"}]}, None, 2),
    ],
)
def test_the_total_is_from_the_servers_most_reliable_field(answer: Any, total: int | None, size: int) -> None:
    page = read(answer)
    assert (page.total, page.size) == (total, size)


@pytest.mark.parametrize(
    ("wrong", "arguments"),
    [
        *[({name: "x"}, {}) for name in ("pagination", "data_context", "hits", "aggregations")],
        ({"buckets": [{"key": "x", "count": float("nan")}, 1]}, {"group_by": '["domain"]'}),
    ],
)
def test_parts_of_unknown_shape_do_not_lose_documents(wrong: Any, arguments: Any) -> None:
    page = read({"documents": [ROW], **wrong}, arguments)
    assert ([d.key for d in page.documents], page.total, page.following) == (["t:a"], None, None)


def test_distinct_documents_count_before_raw_ones() -> None:
    buckets = [{"key": "AI", "count": 50, "doc_count": 60}, {"key": "Cloud", "doc_count": 40}, {"key": ["IN", 2024]}]
    answer = {"aggregations": {"group_by": {"buckets": buckets}}, "data_context": {"unique_ids_matched": 90}}
    (group,) = read(answer, {"group_by": "event_theme"}).aggregations
    assert [(b["key"], b["count"]) for b in group.buckets] == [("AI", 50), ("Cloud", 40), ("IN / 2024", 0)]
    assert (group.aggregation_type, group.field, group.total_docs, group.source_tool) == (
        "terms",
        "event_theme",
        90,
        "t",
    )


def test_a_histogram_names_its_field() -> None:
    answer = {"aggregations": {"date_histogram": {"buckets": [{"key": 1, "key_as_string": "2024", "count": 2}]}}}
    (group,) = read(answer, {"date_histogram": '{"field": "event_date", "interval": "year"}'}).aggregations
    assert (group.aggregation_type, group.field, group.buckets[0]["key"]) == ("date_histogram", "event_date", "2024")


@pytest.mark.parametrize(
    ("pagination", "following"),
    [
        ({"has_more": True, "search_after": ["P", 90], "pit_id": "x"}, {"search_after": '["P", 90]', "pit_id": "x"}),
        ({"has_more": True, "search_after": '["P"]'}, {"search_after": '["P"]'}),
        ({"has_more": False, "search_after": ["P"]}, None),
        ({"has_more": True, "search_after": None}, None),
        (None, None),
    ],
)
def test_the_next_page_is_asked_for_as_the_server_says(pagination: Any, following: Any) -> None:
    assert read({"documents": [ROW], "pagination": pagination}).following == following


def test_documents_without_an_id_are_others_on_each_page() -> None:
    answer = {"documents": [{"title": "A"}, {"title": "B"}]}
    keys = [d.key for page in (0, 1) for d in read(answer, page=page).documents]
    assert keys == ["t:doc_0_0", "t:doc_0_1", "t:doc_1_0", "t:doc_1_1"]


def test_fields_are_found_by_the_names_of_the_settings() -> None:
    row = {"ref": 7, "headline": "H", "link": "https://x.test", "event_date": "2024-01-02", "body": "B", "city": "Pune"}
    fields = configured(FieldSettings, id=["ref"])
    (document,) = ResponseReader(fields).read("t", ToolResult(content=json.dumps([row])), {}).documents
    assert document.model_dump(exclude={"read"}) == {
        "key": "t:7",
        "title": "H",
        "url": "https://x.test",
        "date": "2024-01-02",
        "text": "B\ncity: Pune",
    }


def test_a_text_has_the_documents_that_its_tool_declares() -> None:
    page = read("<Document>", sources=(Source(url="https://x.test/a", title="A", text="Text."),))
    assert [(d.key, d.url, d.text) for d in page.documents] == [("t:https://x.test/a", "https://x.test/a", "Text.")]


def test_an_answer_without_documents_is_a_note() -> None:
    assert read({"fields": ["country"]}).note == '{"fields": ["country"]}'
    assert read("Fields: country").note == "Fields: country"
    assert read({"documents": [], "data_context": {"unique_ids_matched": 0}}).note == ""


def test_json_that_was_cut_off_asks_for_a_smaller_page() -> None:
    with pytest.raises(ToolError) as raised:
        read('{"documents": [{"id": "a"\n[cut: the first 20 of 90 characters]')
    assert raised.value.kind is ToolErrorKind.TOO_LARGE


def test_documents_are_merged_without_duplicates_and_stay_read() -> None:
    known = (document("t:a"), document("t:b", read=True))
    documents = merge_documents(known, [document("t:b"), document("t:a", read=True), document("u:a")])
    assert [(d.key, d.read) for d in documents] == [("t:a", True), ("t:b", True), ("u:a", False)]
