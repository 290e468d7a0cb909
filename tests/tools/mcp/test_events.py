"""The call `analyze_events`: what arguments mean, in all the ways they are written, and what is said of mistakes."""

from typing import Any

import pytest

from aiq.core.errors import ToolError
from aiq.tools.mcp.events import AnalyzeEvents, Condition, Level, Query, query_of
from tests.tools.mcp.shipped_events import FIELDS, NESTED


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
    found = query(group_by="country, year", page_size=1000, search_after='["2024-01-01", 7]', pit_id="9")
    assert found.group_by == (Level(field="country"), Level(field="event_date", interval="year"))
    assert (found.call.page_size, found.after, found.call.pit_id) == (100, ("2024-01-01", 7), "9")
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"filters": '{"country": '}, r"filters is not valid JSON \(.*\); write it like \{\"country\": \"India\"\}"),
        ({"filters": "[1]"}, "filters is no JSON object"),
        (
            {"filters": {"contry": "India"}},
            "no field 'contry'; did you mean country[?]; there are: id, country, city, .*year",
        ),
        ({"filters": {"country": {"is": "India"}}}, "country needs a value or a list of values"),
        ({"filters": {"country": []}}, "country needs a value"),
        ({"filters": {"attendance": "many"}}, "filters: attendance is a number, not 'many'"),
        ({"filters": {"month": 13}}, "month is a date such as 2024, 2024-Q1, 2024-03 or 2024-03-09, not 13"),
        ({"range_filters": {"country": {"gte": "A"}}}, "no field 'country'.*there are: attendance, event_date"),
        ({"range_filters": {"attendance": {"from": 1}}}, "attendance needs bounds, some of gt, gte, lt, lte"),
        ({"range_filters": {"attendance": 5}}, "attendance needs bounds"),
        ({"range_filters": {"event_date": {"gte": "2024-13"}}}, "event_date is a date such as"),
        ({"group_by": "country,attendance"}, "no field 'attendance'.*there are: country, city, event_theme, organiser"),
        ({"date_histogram": "fortnight"}, "the interval 'fortnight' is none of year, quarter, month, week, day"),
        ({"date_histogram": {"field": "event_date"}}, "the interval None is none of"),
        ({"date_histogram": {"field": "country", "interval": "day"}}, "no field 'country'; there are: event_date"),
        ({"search_after": "17"}, "search_after is no JSON list"),
        ({"search_after": "[[]]"}, "search_after is none of ours"),
    ],
)
def test_mistakes_say_how_to_write_it(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolError, match=said) as error:
        query(**arguments)
    assert error.value.kind == "invalid_arguments"
