"""The call `analyze_events`: its arguments, the query that they mean for a collection's fields, and the answer.

This is independent of the engine: each one takes a `Query` and returns an `Answer`.
"""

import json
import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.plugins import did_you_mean
from aiq.core.settings import Settings

Interval = Literal["year", "quarter", "month", "week", "day"]
_INTERVALS: tuple[Interval, ...] = get_args(Interval)
_PERIODS = ("year", "quarter", "month", "day")
_DAY = re.compile(r"([1-9]\d{3})(?:-(?:Q([1-4])|(\d\d)(?:-(\d\d)(?:[T ].*)?)?))?")
_BOUNDS = ("gt", "gte", "lt", "lte")
MOST_DOCUMENTS = 100
"""On one page."""

Scalar = str | int | float
Path = Annotated[str, Field(pattern=r"^\w[\w@-]*(\.\w[\w@-]*)*$")]
Paths = Mapping[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")], Path]


class EventFields(Settings):
    """Where a document has each field: paths such as `venue.city`; `keywords`, `numbers`, `dates` by name in calls."""

    id: Path = Field(description="path of the id; documents with the same id are counted as one event")
    title: Path = Field(description="path of the title")
    url: Path | None = Field(description="path of the address; null: addresses are doc://ID")
    text: tuple[Path, ...] = Field(min_length=1, description="paths that a full-text query searches")
    keywords: Paths = Field(description="fields to filter and group by, by name")
    numbers: Paths = Field(description="fields to filter by range, by name")
    dates: Paths = Field(min_length=1, description="dates in ISO form, by name; the first one orders the documents")

    @property
    def date(self) -> str:
        """The name of the date that orders documents and that periods (`year`, `month`, ...) refer to."""
        return next(iter(self.dates))

    @property
    def paths(self) -> dict[str, str]:
        """The fields to filter by: path by name."""
        return {"id": self.id, **self.keywords, **self.numbers, **self.dates}


class AnalyzeEvents(BaseModel):
    """Arguments of the tool; a JSON object may also come as text, and a text that is a number as one."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    query: str = Field(default="", description="full-text search: events whose text has all of these words")
    filters: Mapping[str, Any] | str | None = Field(
        default=None, description='JSON object of field and value, or list of values: {"country": "India"}'
    )
    range_filters: Mapping[str, Any] | str | None = Field(
        default=None, description='JSON object of field and bounds (gt, gte, lt, lte): {"attendance": {"gte": 500}}'
    )
    group_by: str | None = Field(
        default=None, description="count by a field, or by several, one within the other: country,year"
    )
    date_histogram: Mapping[str, Any] | str | None = Field(
        default=None,
        description='count by period: year, quarter, month, week or day, or {"field": "...", "interval": "month"}',
    )
    top_n: int = Field(default=20, ge=1, le=1000, description="most frequent buckets of the first field of group_by")
    top_n_per_group: int = Field(default=5, ge=1, le=1000, description="buckets of each further field within a bucket")
    samples_per_bucket: int = Field(default=0, ge=0, le=100, description="documents shown with each innermost bucket")
    page_size: Annotated[int, AfterValidator(lambda size: min(max(size, 1), MOST_DOCUMENTS))] = Field(
        default=10, description=f"documents of a page; brought into 1 to {MOST_DOCUMENTS}"
    )
    search_after: Sequence[Scalar] | str | None = Field(
        default=None, description="pagination.search_after of the page before, for the next page"
    )
    pit_id: str | None = Field(
        default=None, description="pagination.pit_id of the page before: what is added meanwhile is left out"
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {name: value for name, value in data.items() if value is not None} if isinstance(data, dict) else data


class Level(Record):
    """What defines the buckets: a field's values, or the periods of a date."""

    field: str
    interval: Interval | None = None


class Condition(Record):
    """A field has one of `values`, or lies within one of `spans` (bounds by `gt`, `gte`, `lt`, `lte`)."""

    field: str
    values: tuple[Scalar, ...] = ()
    spans: tuple[Mapping[str, Scalar], ...] = ()


class Query(Record):
    """A call, parsed and checked; `after`: the sort values of the previous page's last document."""

    call: AnalyzeEvents
    conditions: tuple[Condition, ...]
    group_by: tuple[Level, ...]
    histogram: Level | None
    after: tuple[Scalar, ...] | None


Document = dict[str, Any]
"""JSON. Its schema says no more, because clients check every value of a result against it."""


class Bucket(Record):
    """`count`: distinct ids; `doc_count`: documents. `buckets`: those of the next field."""

    key: Scalar
    count: int
    doc_count: int
    samples: tuple[Document, ...] = ()
    buckets: tuple["Bucket", ...] = ()


class Groups(Record):
    """`other_doc_count`: documents in none of the buckets: beyond the top ones, or without a value."""

    field: str
    interval: Interval | None = None
    buckets: tuple[Bucket, ...]
    other_doc_count: int


class Aggregations(Record):
    """Present as far as asked for."""

    group_by: Groups | None = None
    date_histogram: Groups | None = None


class DataContext(Record):
    """What the filters and the query select, whatever the page shows."""

    unique_ids_matched: int
    documents_matched: int


class Pagination(Record):
    """`search_after`: a JSON list as text, to be given back for the next page; null where there is none."""

    total_hits: int
    search_after: str | None
    pit_id: str | None
    has_more: bool
    page_size: int


class Answer(Record):
    """The structured content of a call; documents in the order of date and arrival, each with `id` and `url`."""

    documents: tuple[Document, ...]
    aggregations: Aggregations
    data_context: DataContext
    pagination: Pagination


class Engine(Protocol):
    """Answers queries over one collection."""

    fields: EventFields

    async def analyze(self, query: Query) -> Answer:
        """Raises ToolError."""

    async def bounds(self, field: str) -> tuple[Scalar | None, Scalar | None]:
        """The least and the greatest value of a number or date; None for an empty collection. Raises ToolError."""


def query_of(call: AnalyzeEvents, fields: EventFields) -> Query:
    """The query that a call means. Raises ToolError, one line that says how to write it."""
    filters = _json(call.filters, "filters", dict, '{"country": "India"}') or {}
    ranges = _json(call.range_filters, "range_filters", dict, '{"attendance": {"gte": 500}}') or {}
    after = _json(call.search_after, "search_after", list, '["2024-03-09", 17], as pagination.search_after has it')
    if after is not None and not all(isinstance(part, str | int | float) for part in after):
        raise fault("search_after is none of ours; give back pagination.search_after of the page before")
    names = [name.strip() for name in (call.group_by or "").split(",") if name.strip()]
    return Query(
        call=call,
        conditions=(
            *(_value_condition(name, value, fields) for name, value in filters.items()),
            *(_range_condition(name, value, fields) for name, value in ranges.items()),
        ),
        group_by=tuple(_level(name, fields) for name in names),
        histogram=_histogram(call.date_histogram, fields),
        after=None if after is None else tuple(after),
    )


def answer(
    query: Query,
    totals: tuple[int, int],
    page: Sequence[Document],
    after: Sequence[Scalar] | None,
    pit: str | None,
    groups: Sequence[Bucket],
    periods: Sequence[Bucket],
) -> Answer:
    """`totals`: documents and events that match; `after`: the sort values of the last document, if more follow."""
    documents, events = totals

    def make_groups(field: str, interval: Interval | None, buckets: Sequence[Bucket]) -> Groups:
        rest = documents - sum(bucket.doc_count for bucket in buckets)
        return Groups(field=field, interval=interval, buckets=tuple(buckets), other_doc_count=rest)

    names, histogram = [level.interval or level.field for level in query.group_by], query.histogram
    return Answer(
        documents=tuple(page),
        aggregations=Aggregations(
            group_by=make_groups(",".join(names), None, groups) if names else None,
            date_histogram=make_groups(histogram.field, histogram.interval, periods) if histogram else None,
        ),
        data_context=DataContext(unique_ids_matched=events, documents_matched=documents),
        pagination=Pagination(
            total_hits=documents,
            search_after=None if after is None else json.dumps(after),
            pit_id=pit,
            has_more=after is not None,
            page_size=query.call.page_size,
        ),
    )


def answer_document(document: Document, fields: EventFields) -> Document:
    """A document as answers show it, `id`, `title` and `url` first."""
    event_id = str(value_at(document, fields.id))
    url = value_at(document, fields.url) if fields.url else None
    return {"id": event_id, "title": value_at(document, fields.title), "url": url or f"doc://{event_id}", **document}


def value_at(document: JsonValue, path: str) -> JsonValue:
    """The value at a path such as `venue.city`, or at the key of that whole name if there is one; None if absent."""
    if not isinstance(document, dict) or path in document:
        return document.get(path) if isinstance(document, dict) else None
    head, _, rest = path.partition(".")
    return value_at(document.get(head), rest) if rest else None


def keyword(value: JsonValue) -> str:
    """A value in the form it is filtered and grouped by."""
    return value if isinstance(value, str) else json.dumps(value)


def fault(message: str) -> ToolError:
    """A mistake in the arguments."""
    return ToolError(ToolErrorKind.INVALID_ARGUMENTS, message)


def _json(value: Any, name: str, kind: type, example: str) -> Any:
    """A value that may be given as JSON text."""
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise fault(f"{name} is not valid JSON ({error}); write it like {example}") from None
    if value is not None and not isinstance(value, kind):
        raise fault(f"{name} is no JSON {'object' if kind is dict else 'list'}; write it like {example}")
    return value


def _check_field(name: str, names: Sequence[str], arg: str) -> str:
    if name not in names:
        raise fault(f"{arg}: there is no field {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")
    return name


def _value_condition(name: str, value: Any, fields: EventFields) -> Condition:
    """A filter by a value or several; a period (`year`: 2024) is a range of the date."""
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(item, dict | list) or item is None for item in values):
        raise fault(f"filters: {name} needs a value or a list of values, not {json.dumps(value)}")
    if name in fields.dates or (name in _PERIODS and name not in fields.paths):
        spans = tuple(dict(zip(("gte", "lte"), _days(item, f"filters: {name}"), strict=True)) for item in values)
        return Condition(field=name if name in fields.dates else fields.date, spans=spans)
    _check_field(name, [*fields.paths, *_PERIODS], "filters")
    if name in fields.numbers:
        return Condition(field=name, values=tuple(_number(item, f"filters: {name}") for item in values))
    return Condition(field=name, values=tuple(map(keyword, values)))


def _range_condition(name: str, bounds: Any, fields: EventFields) -> Condition:
    """A filter by range; a date's bound may be a year, a quarter or a month, which then counts as a whole."""
    if name in _PERIODS and name not in fields.numbers:
        name = fields.date
    _check_field(name, [*fields.numbers, *fields.dates], "range_filters")
    if not isinstance(bounds, dict) or not bounds or not set(bounds) <= {*_BOUNDS}:
        raise fault(f'range_filters: {name} needs bounds, some of {", ".join(_BOUNDS)}, as {{"gte": ...}}')
    arg = f"range_filters: {name}"
    if name in fields.numbers:
        return Condition(field=name, spans=({op: _number(value, arg) for op, value in bounds.items()},))
    return Condition(field=name, spans=({op: _days(bounds[op], arg)[op in ("gt", "lte")] for op in bounds},))


def _number(value: Any, arg: str) -> float:
    try:
        number = float("" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        raise fault(f"{arg} is a number, not {value!r}")
    return number


def _days(value: Any, arg: str) -> tuple[str, str]:
    """The first and last day of a year, quarter, month or day."""
    match = _DAY.fullmatch(str(value).strip())
    year, quarter, month, day = match.groups() if match else ("", None, None, None)
    first = int(month or (3 * int(quarter) - 2 if quarter else 1))
    last = int(month or (first + 2 if quarter else 12))
    end = monthrange(int(year), last)[1] if match and 1 <= last <= 12 else 0
    if int(day or 1) not in range(1, end + 1):
        raise fault(f"{arg} is a date such as 2024, 2024-Q1, 2024-03 or 2024-03-09, not {value!r}")
    return f"{year}-{first:02}-{day or '01'}", f"{year}-{last:02}-{day or end}"


def _level(name: str, fields: EventFields) -> Level:
    if name in _INTERVALS and name not in fields.keywords:
        return Level(field=fields.date, interval=name)
    return Level(field=_check_field(name, [*fields.keywords, *_INTERVALS], "group_by"))


def _histogram(value: Mapping[str, Any] | str | None, fields: EventFields) -> Level | None:
    """A bare interval applies to the first date."""
    if isinstance(value, str) and re.fullmatch(r"\s*\w+\s*", value):
        value = {"interval": value.strip()}
    example = '"month", or {"field": "FIELD", "interval": "month"}'
    histogram = _json(value, "date_histogram", dict, example)
    if histogram is None:
        return None
    interval = histogram.get("interval", histogram.get("calendar_interval"))
    if interval not in _INTERVALS:
        raise fault(f"date_histogram: the interval {interval!r} is none of {', '.join(_INTERVALS)}; write {example}")
    field = _check_field(str(histogram.get("field", fields.date)), list(fields.dates), "date_histogram")
    return Level(field=field, interval=interval)
