"""What is wrong with a request or a schema in it, in the words, parameters and codes of the public OpenAI API."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, from_json

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("errors.toml").read_text(encoding="utf-8"))
_TYPES, _MESSAGES, _CODES = _WORDS["types"], _WORDS["messages"], _WORDS["codes"]


@dataclass(eq=False)
class ApiError(ValueError):
    """An answer in OpenAI's error shape. `param` is where the fault is, such as `messages[0].role`.

    The message may name it as `{param}`. A validator raises it with the path that leads on from the validator's place.
    """

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400
    kind: str = "invalid_request_error"

    @property
    def body(self) -> dict[str, Any]:
        message = self.message.replace("{param}", self.param or "")
        return {"error": {"message": message, "type": self.kind, "param": self.param, "code": self.code}}


def missing(param: str) -> ApiError:
    """For a field that must be there."""
    return ApiError(_MESSAGES["missing"], param, _CODES["missing"])


def wrong_type(param: str, expected: str, value: object) -> ApiError:
    """For a value of another type than `expected` ("a string")."""
    got = _TYPES[type(value).__name__]
    return ApiError(f"Invalid type for '{{param}}': expected {expected}, but got {got} instead.", param, "invalid_type")


def not_among(param: str, value: object, supported: Sequence[str]) -> ApiError:
    """For a value that is none of those allowed."""
    *names, last = (f"'{name}'" for name in supported)
    listed = f"{', '.join(names)}{',' if len(names) > 1 else ''} and {last}" if names else last
    return ApiError(f"Invalid value: '{value}'. Supported values are: {listed}.", param, "invalid_value")


class Body(BaseModel):
    """A request or a part of one: strict types, no unknown fields, and null means left out, as clients write it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    unsupported: ClassVar[Sequence[str]] = ()
    """Fields of the public API that are refused where they ask for something, because to ignore them would mislead."""
    ignored: ClassVar[Sequence[str]] = ()
    """Fields of the public API that have no effect here."""
    unknown: ClassVar[str] = "Unrecognized request argument supplied: {param}"
    """What the endpoint says of a field that there is not."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        for name in filter(values.get, cls.unsupported):
            message = "Unsupported parameter: '{param}' is not supported with this model."
            raise ApiError(message, name, "unsupported_parameter")
        dropped = {*cls.unsupported, *cls.ignored}
        return {name: value for name, value in values.items() if value is not None and name not in dropped}


B = TypeVar("B", bound=Body)


def read_json(body: bytes) -> dict[str, Any]:
    """The body's object. Raises ApiError 400 where it is none; NaN and half characters are no JSON."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}. The API expects a JSON payload."
        raise ApiError(message) from None
    if not isinstance(values, dict):
        raise ApiError(f"Invalid body: expected a JSON object, but got {_TYPES[type(values).__name__]} instead.")
    return values


def read_body(model: type[B], values: Mapping[str, Any]) -> B:
    """The request as `model` has it. Raises ApiError 400 for the first thing that is wrong."""
    if not values.get("model"):
        raise ApiError("you must provide a model parameter")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _explained(error.errors(include_url=False)[0], model.unknown) from None


def _explained(error: ErrorDetails, unknown: str) -> ApiError:
    """Pydantic's error as the public API words it."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).removeprefix(".")
    own = context.get("error")
    if isinstance(own, ApiError):
        dot = "." if path and own.param and own.param[0] != "[" else ""
        return replace(own, param=f"{path}{dot}{own.param or ''}" or None)
    if kind == "literal_error" and isinstance(value, str):
        return not_among(path, value, re.findall("'(.*?)'", context["expected"]))
    if kind in _TYPES:
        return wrong_type(path, _TYPES[kind], value)
    words = unknown if kind == "extra_forbidden" and "." not in path else _MESSAGES.get(kind, "Invalid '{param}'.")
    bound = context.get("ge", context.get("le", 0))
    number = "decimal" if isinstance(bound, float) else "integer"
    length = len(value) if isinstance(value, str | list) else 0
    message = words.format(param="{param}", value=value, number=number, bound=int(bound), length=length, **context)
    return ApiError(message, path, _CODES.get(kind, "invalid_value").format(number=number))


_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that a strict schema may not have."""

_KIND = ("type", "anyOf", "enum", "const", "$ref")
"""Keywords one of which a strict schema must have."""

_SCHEMA_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_OBJECTS = ("properties", "$defs", "definitions")
_ARRAYS = ("required", "anyOf", "oneOf", "allOf", "enum")


def check_schema(schema: Mapping[str, Any], what: str, param: str, code: str | None, *, strict: bool) -> None:
    """Raises ApiError 400 unless it is an object's schema and, if strict, closed and without optional properties.

    `what` is whose schema it is: "function 'f'", "response_format 'verdict'".
    """
    start, kind = f"Invalid schema for {what}:", schema.get("type")
    if kind != "object" and (schema or strict):
        raise ApiError(
            f"{start} schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'.", param, code
        )
    for where, part in _parts(schema, ()):
        fault = _fault(part) or (_laxity(part) if strict and isinstance(part, dict) else None)
        if fault:
            raise ApiError(f"{start} In context={where}, {fault}", param, code)


def _fault(schema: Any) -> str | None:
    """Why this is no schema."""
    if not isinstance(schema, dict):
        return None if isinstance(schema, bool) else f"{schema!r} is not of type 'object', 'boolean'."
    for keywords, kind, noun in ((_OBJECTS, dict, "an object"), (_ARRAYS, list, "an array")):
        for keyword in keywords:
            if not isinstance(schema.get(keyword, kind()), kind):
                return f"'{keyword}' is not {noun}."
    types = schema.get("type", "object")
    names = types if isinstance(types, list) else [types]
    known = names and all(name in _SCHEMA_TYPES for name in names)
    return None if known else f"{types!r} is not valid under any of the given schemas."


def _laxity(schema: Mapping[str, Any]) -> str | None:
    """Why this schema is not strict."""
    if banned := [keyword for keyword in _NOT_STRICT if keyword in schema]:
        return f"'{banned[0]}' is not permitted."
    if not any(keyword in schema for keyword in _KIND):
        return "schema must have a 'type' key."
    properties = schema.get("properties", {})
    if (properties or schema.get("type") == "object") and schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    if optional := [name for name in properties if name not in schema.get("required", ())]:
        wanted = "'required' is required to be supplied and to be an array including every key in properties."
        return f"{wanted} Missing '{optional[0]}'."
    return None


def _parts(schema: Any, where: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schema and every schema within it, each with its place."""
    yield where, schema
    if isinstance(schema, dict):
        for keyword in _OBJECTS:
            for name, part in schema.get(keyword, {}).items():
                yield from _parts(part, (*where, keyword, name))
        if "items" in schema:
            yield from _parts(schema["items"], (*where, "items"))
        for number, part in enumerate(schema.get("anyOf", ())):
            yield from _parts(part, (*where, "anyOf", str(number)))
