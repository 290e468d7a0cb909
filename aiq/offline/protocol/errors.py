"""What is wrong with a request, in the words, parameters and codes of the public OpenAI API."""

import re
import tomllib
from collections.abc import Mapping, Sequence
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
