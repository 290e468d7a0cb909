"""What is wrong with a request, in the words, parameters and codes of the public OpenAI API."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, from_json

_EXPECTED = {
    "string_type": "a string",
    "literal_error": "a string",
    "int_type": "an integer",
    "float_type": "a decimal",
    "bool_type": "a boolean",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
}
_GOT = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    str: "a string",
    list: "an array",
    dict: "an object",
}
_WORDS = {
    "missing": ("missing_required_parameter", "Missing required parameter: '{param}'."),
    "extra_forbidden": ("unknown_parameter", "Unknown parameter: '{param}'."),
    "greater_than_equal": (
        "{number}_below_min_value",
        "Invalid '{param}': {number} below minimum value. Expected a value >= {bound}, but got {value} instead.",
    ),
    "less_than_equal": (
        "{number}_above_max_value",
        "Invalid '{param}': {number} above maximum value. Expected a value <= {bound}, but got {value} instead.",
    ),
    "too_short": (
        "empty_array",
        "Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    ),
    "too_long": (
        "array_above_max_length",
        "Invalid '{param}': array too long. Expected an array with maximum length {max_length}, "
        "but got an array with length {length} instead.",
    ),
    "string_too_long": (
        "string_above_max_length",
        "Invalid '{param}': string too long. Expected a string with maximum length {max_length}, "
        "but got a string with length {length} instead.",
    ),
    "string_pattern_mismatch": (
        "invalid_value",
        "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern '{pattern}'.",
    ),
}
"""Code and message by pydantic's type of error; `{param}` is filled in last."""


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
    code, message = _WORDS["missing"]
    return ApiError(message, param, code)


def wrong_type(param: str, expected: str, value: object) -> ApiError:
    """For a value of another type than `expected` ("a string")."""
    got = _GOT.get(type(value))
    return ApiError(f"Invalid type for '{{param}}': expected {expected}, but got {got} instead.", param, "invalid_type")


def not_among(param: str, value: object, supported: Sequence[str]) -> ApiError:
    """For a value that is none of those allowed."""
    *names, last = (f"'{name}'" for name in supported)
    listed = f"{', '.join(names)}{',' if len(names) > 1 else ''} and {last}" if names else last
    return ApiError(f"Invalid value: '{value}'. Supported values are: {listed}.", param, "invalid_value")


class Body(BaseModel):
    """A request or a part of one: strict types, no unknown fields, and null means left out, as clients write it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    unsupported: ClassVar[tuple[str, ...]] = ()
    """Fields of the public API that are refused where they ask for something, because to ignore them would mislead."""
    unknown: ClassVar[str] = "Unrecognized request argument supplied: {param}"
    """What the endpoint says of a field that there is not."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        return {k: v for k, v in values.items() if v is not None} if isinstance(values, dict) else values


B = TypeVar("B", bound=Body)

Anything = Annotated[Any, "accepted, without effect here"]
"""The type of fields that the public API documents and that change nothing here."""


def read_json(body: bytes) -> dict[str, Any]:
    """The body's object. Raises ApiError 400 where it is none; NaN and half characters are no JSON."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}. The API expects a JSON payload."
        raise ApiError(message) from None
    if not isinstance(values, dict):
        raise ApiError(f"Invalid body: expected a JSON object, but got {_GOT[type(values)]} instead.")
    return values


def read_body(model: type[B], values: Mapping[str, Any]) -> B:
    """The request as `model` has it. Raises ApiError 400 for the first thing that is wrong."""
    if not values.get("model"):
        raise ApiError("you must provide a model parameter")
    for name in model.unsupported:
        if values.get(name):
            message = "Unsupported parameter: '{param}' is not supported with this model."
            raise ApiError(message, name, "unsupported_parameter")
    try:
        return model.model_validate({name: values[name] for name in values if name not in model.unsupported})
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
    if kind in _EXPECTED:
        return wrong_type(path, _EXPECTED[kind], value)
    code, words = _WORDS.get(kind, ("invalid_value", "Invalid '{param}'."))
    if kind == "extra_forbidden" and "." not in path:
        words = unknown
    bound = context.get("ge", context.get("le", 0))
    number = "decimal" if isinstance(bound, float) else "integer"
    length = len(value) if isinstance(value, str | list) else 0
    message = words.format(param="{param}", value=value, number=number, bound=int(bound), length=length, **context)
    return ApiError(message, path, code.format(number=number))
