"""What is wrong with a request, in the words, parameters and codes of the public OpenAI API."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError, from_json

_EXPECTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a decimal",
    "bool_type": "a boolean",
    "list_type": "an array",
    "tuple_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_GOT = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array", dict: "an object"}
_BOUNDS = {
    "greater_than_equal": ("ge", "below minimum", ">=", "below_min_value"),
    "less_than_equal": ("le", "above maximum", "<=", "above_max_value"),
}


class ApiError(Exception):
    """An answer in OpenAI's error shape. `param` names the field at fault, such as `messages[0].role`."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def invalid(param: str | None, message: str, code: str | None = "invalid_value") -> ApiError:
    """A 400."""
    return ApiError(400, message, param=param, code=code)


def missing(param: str) -> ApiError:
    """A 400 for a field that must be there."""
    return invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")


def wrong_type(param: str, expected: str, value: object) -> ApiError:
    """A 400 for a value of another type than `expected` ("a string")."""
    message = f"Invalid type for '{param}': expected {expected}, but got {_got(value)} instead."
    return invalid(param, message, "invalid_type")


def not_among(param: str, value: object, supported: Sequence[str]) -> ApiError:
    """A 400 for a value that is none of those allowed."""
    return invalid(param, f"Invalid value: '{value}'. Supported values are: {listed(supported)}.")


def listed(names: Sequence[str]) -> str:
    """`'a', 'b', and 'c'`, as the public API lists values."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return ", ".join(quoted[:-1]) + f", and {quoted[-1]}"


class Body(BaseModel):
    """A request or a part of one: strict types, no unknown fields, and null means left out, as clients write it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    unsupported: ClassVar[tuple[str, ...]] = ()
    """Fields of the public API that are refused where they ask for something, because to ignore them would mislead."""
    unknown: ClassVar[str] = "Unrecognized request argument supplied: {}"
    """What the endpoint says of a field that there is not."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, values: Any) -> Any:
        if isinstance(values, dict):
            return {name: value for name, value in values.items() if value is not None}
        return values


B = TypeVar("B", bound=Body)


def either(expected: str, *kinds: type) -> BeforeValidator:
    """Of a field that takes several types: one error for all of them (`expected one of a string or ...`)."""

    def check(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise PydanticCustomError("either", "{expected}", {"expected": expected})
        return value

    return BeforeValidator(check)


Anything = Annotated[Any, "accepted, without effect here"]
"""The type of fields that the public API documents and that change nothing here."""


def read_json(body: bytes) -> dict[str, Any]:
    """The body's object. Raises ApiError 400 where it is none; NaN and half characters are no JSON."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}. The API expects a JSON payload."
        raise invalid(None, message, None) from None
    if not isinstance(values, dict):
        raise invalid(None, f"Invalid body: expected a JSON object, but got {_got(values)} instead.", None)
    return values


def read_body(model: type[B], values: Mapping[str, Any]) -> B:
    """The request as `model` has it. Raises ApiError 400 for the first thing that is wrong."""
    if not values.get("model"):
        raise invalid(None, "you must provide a model parameter", None)
    for name in model.unsupported:
        if values.get(name):
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise invalid(name, message, "unsupported_parameter")
    try:
        return model.model_validate({name: values[name] for name in values if name not in model.unsupported})
    except ValidationError as error:
        raise _explained(error.errors(include_url=False)[0], model.unknown) from None


def _explained(error: ErrorDetails, unknown: str) -> ApiError:
    """Pydantic's error as the public API words it."""
    param, kind, context = _path(error["loc"]), error["type"], error.get("ctx", {})
    if kind == "missing":
        return missing(param)
    if kind == "extra_forbidden":
        message = unknown.format(param) if len(error["loc"]) == 1 else f"Unknown parameter: '{param}'."
        return invalid(param, message, "unknown_parameter")
    expected = context.get("expected") if kind == "either" else _EXPECTED.get(kind)
    if kind == "literal_error":
        if isinstance(error["input"], str):
            return not_among(param, error["input"], re.findall(r"'([^']*)'", context["expected"]))
        expected = "a string"
    if expected is not None:
        return wrong_type(param, expected, error["input"])
    return _out_of_bounds(error, param, context)


def _out_of_bounds(error: ErrorDetails, param: str, context: Mapping[str, Any]) -> ApiError:
    kind, value = error["type"], error["input"]
    if kind in _BOUNDS:
        name, where, sign, code = _BOUNDS[kind]
        bound = context[name]
        number = "decimal" if isinstance(bound, float) else "integer"
        wanted = f"Expected a value {sign} {int(bound)}, but got {value} instead."
        return invalid(param, f"Invalid '{param}': {number} {where} value. {wanted}", f"{number}_{code}")
    if kind == "too_short" and not value:
        wanted = f"Expected an array with minimum length {context['min_length']}, but got an empty array instead."
        return invalid(param, f"Invalid '{param}': empty array. {wanted}", "empty_array")
    if kind in ("too_long", "string_too_long"):
        noun, most = ("an array", "array") if kind == "too_long" else ("a string", "string")
        wanted = f"Expected {noun} with maximum length {context['max_length']}, but got {noun} with length {len(value)}"
        return invalid(param, f"Invalid '{param}': {most} too long. {wanted} instead.", f"{most}_above_max_length")
    if kind == "string_pattern_mismatch":
        wanted = f"Expected a string that matches the pattern '{context['pattern']}'."
        return invalid(param, f"Invalid '{param}': string does not match pattern. {wanted}")
    return invalid(param, f"Invalid '{param}': {error['msg']}.")


def _path(location: Sequence[str | int]) -> str:
    """`("messages", 0, "role")` as `messages[0].role`."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return path.removeprefix(".")


def _got(value: object) -> str:
    return "null" if value is None else _GOT.get(type(value), type(value).__name__)
