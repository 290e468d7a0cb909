"""Structured answers: an object is read however the model wraps it."""

from pydantic import BaseModel, Field

from aiq.agents.toolkit.structured import read_object, schema_of
from tests.cases import table

each = table(__file__)


class Answer(BaseModel):
    year: int
    note: str = Field(default="", max_length=9)


@each("reply")
def test_the_fullest_valid_object_is_read(reply: str, year: int | None) -> None:
    answer = read_object(reply, Answer)
    assert (answer.year if answer else None) == year


def test_a_schema_requires_every_field_and_allows_no_other() -> None:
    schema = schema_of(Answer)
    assert (schema["name"], schema["strict"]) == ("answer", True)
    inner = schema["schema"]
    assert isinstance(inner, dict)
    assert (inner["required"], inner["additionalProperties"]) == (["year", "note"], False)
