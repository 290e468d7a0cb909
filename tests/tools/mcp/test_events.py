"""The call `analyze_events`: what arguments mean, in all the ways they are written, and what is said of mistakes."""

from typing import Any

import pytest

from aiq.core.errors import ToolError
from aiq.tools.mcp.events import AnalyzeEvents, Condition, Level, Query, query_of
from tests.cases import table
from tests.tools.mcp.shipped_events import FIELDS, NESTED

each = table(__file__)


def query(**arguments: Any) -> Query:
    return query_of(AnalyzeEvents(**arguments), FIELDS)


@pytest.mark.parametrize(
    ("arguments", "condition"),
    [
        ({"filters": '{"country": "India"}'}, Condition(field="country", values=("India",))),
        ({"filters": {"country": ["India", "Kenya"]}}, Condition(field="country", values=("India", "Kenya"))),
        ({"filters": {"id": "ev-1"}}, Condition(field="id", values=("ev-1",))),
        ({"filters": {"attendance": "120"}}, Condition(field="attendance", values=(120,))),
        (
            {"filters": {"year": 2024}},
            Condition(field="event_date", spans=({"gte": "2024-01-01", "lte": "2024-12-31"},)),
        ),
        (
            {"filters": {"quarter": ["2024-Q1", "2025-Q4"]}},
            Condition(
                field="event_date",
                spans=({"gte": "2024-01-01", "lte": "2024-03-31"}, {"gte": "2025-10-01", "lte": "2025-12-31"}),
            ),
        ),
        (
            {"filters": {"event_date": "2024-02"}},
            Condition(field="event_date", spans=({"gte": "2024-02-01", "lte": "2024-02-29"},)),
        ),
        (
            {"range_filters": '{"attendance": {"gte": 500, "lt": 1e3}}'},
            Condition(field="attendance", spans=({"gte": 500, "lt": 1000.0},)),
        ),
        (
            {"range_filters": {"event_date": {"gt": "2024-03", "lte": "2025"}}},
            Condition(field="event_date", spans=({"gt": "2024-03-31", "lte": "2025-12-31"},)),
        ),
        (
            {"range_filters": {"year": {"gte": "2024", "lt": "2024-03-05T10:00:00Z"}}},
            Condition(field="event_date", spans=({"gte": "2024-01-01", "lt": "2024-03-05"},)),
        ),
    ],
)
def test_filters(arguments: dict[str, Any], condition: Condition) -> None:
    assert query(**arguments).conditions == (condition,)


@pytest.mark.parametrize(
    "given", ["month", '{"field": "event_date", "interval": "month"}', {"calendar_interval": "month"}]
)
def test_a_histogram_in_all_its_spellings(given: Any) -> None:
    assert query(date_histogram=given).histogram == Level(field="event_date", interval="month")


def test_groups_and_pages() -> None:
    result = query(group_by="country, year", page_size=1000, search_after='["2024-01-01", 7]', pit_id="9")
    assert result.group_by == (Level(field="country"), Level(field="event_date", interval="year"))
    assert (result.call.page_size, result.after, result.call.pit_id) == (100, ("2024-01-01", 7), "9")
    assert (query(page_size=0).call.page_size, query().call.page_size, query(search_after="").after) == (1, 10, None)
    assert (query(page_size="500").call.page_size, query(page_size=None, query=None).call.page_size) == (100, 10)
    assert query(search_after=["a", 1]).after == ("a", 1)
    by_inspector = query(pit_id=600, query=2024).call  # the official inspector sends what looks like a number as one
    assert (by_inspector.pit_id, by_inspector.query) == ("600", "2024")


def test_a_field_of_the_collection_comes_before_a_period_of_its_name() -> None:
    fields = FIELDS.model_copy(update={"keywords": {"year": "season"}})
    found = query_of(AnalyzeEvents(filters={"year": 2024}, group_by="year"), fields)
    assert (found.conditions, found.group_by) == ((Condition(field="year", values=("2024",)),), (Level(field="year"),))
    assert query_of(AnalyzeEvents(filters={"online": True}), NESTED).conditions[0].values == ("true",)


@each("arguments")
def test_mistakes_say_how_to_write_it(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError, match=said) as error:
        query(**arguments)
    assert error.value.kind == "invalid_arguments"
