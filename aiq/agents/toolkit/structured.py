"""Structured replies: ask for a JSON object, and read it however the model wrapped it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

ModelT = TypeVar("ModelT", bound=BaseModel)

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def schema_of(model: type[BaseModel], name: str) -> Mapping[str, JsonValue]:
    """The `json_schema` of a completion: every field required, as strict structured output wants it."""
    schema = model.model_json_schema()
    schema["required"] = list(schema.get("properties", {}))
    schema["additionalProperties"] = False
    return {"name": name, "strict": True, "schema": schema}


def parse(text: str, model: type[ModelT], key: str) -> ModelT | None:
    """The first reading of `text` that validates; None where there is none.

    Tried in turn: the whole text, code fences, an object that holds `key`, the first object.
    """
    for candidate in _candidates(text, key):
        try:
            return model.model_validate(candidate)
        except ValidationError:
            continue  # the next reading may be the right one
    return None


def _candidates(text: str, key: str) -> Iterator[dict[str, Any]]:
    for whole in (text, *_FENCED.findall(text)):
        value = _load(whole)
        if isinstance(value, dict):
            yield value
    objects = list(objects_in(text))
    yield from (value for value in objects if key in value)
    yield from objects[:1]


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects that start anywhere in the text, outer ones first."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            if isinstance(value, dict):
                yield value
        position = text.find("{", end)
