"""Structured answers: an object is read however a model wraps it."""

import pytest
from pydantic import BaseModel, Field

from aiq.agents.toolkit.structured import read_object, schema_of


class Answer(BaseModel):
    year: int
    note: str = Field(default="", max_length=9)


@pytest.mark.parametrize(
    ("reply", "year"),
    [
        ('{"year": 1}', 1),
        ('```json\n{"year": 2}\n```', 2),
        ('So {"x": {"year": 9}} and then {"year": 3}. Anything else?', 3),
        ('{"year": "many"}\n```\n{"year": 4}\n```', 4),
        ('{"year": 5, "note": "too long a note"} or {"year": 6}', 6),
        ('{ {"year": 7}', 7),
        ('{"year": 8} {"year": 9, "note": "whole"} {"year": 10, "note": "later"}', 9),
        ('{"year": 11, "year": 12, "note": "x"}', 11),
        ('{"year": null, "year": 13}', 13),
        ('{"x":' * 1500 + ' {"year": 14}', 14),
        ("[1, 2]", None),
        ('{"year": 8', None),
        ("", None),
    ],
)
def test_of_the_objects_that_validate_the_fullest_is_read(reply: str, year: int | None) -> None:
    found = read_object(reply, Answer)
    assert (found.year if found else None) == year


def test_a_schema_requires_every_field_and_no_other() -> None:
    schema = schema_of(Answer)
    assert (schema["name"], schema["strict"]) == ("answer", True)
    inner = schema["schema"]
    assert isinstance(inner, dict)
    assert (inner["required"], inner["additionalProperties"]) == (["year", "note"], False)
