"""Checks requests against `requests.toml` and says what is wrong with the public API's words, parameters and codes."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("requests.toml").read_text(encoding="utf-8"))

_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}

_NOUNS = {"integer": "an integer", "number": "a decimal", "array": "an array", "object": "an object", "null": "null"}

_KIND = {"type", "anyOf", "enum", "const", "$ref"}
"""Keywords one of which a strict schema must have."""

_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that it may not have."""


class ApiError(ValueError):
    """An answer in OpenAI's error shape. `param` is where the fault is, such as `messages[0].role`."""

    def __init__(self, message: str, param: str = "", code: str | None = None, status: int = 400) -> None:
        self.message, self.param, self.status = message, param, status
        kind = {422: "server_error", 429: "requests", 500: "server_error"}.get(status, "invalid_request_error")
        self.body = {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


def not_among(path: str, value: object, allowed: list[str]) -> ApiError:
    listed = re.sub(", ([^,]+)$", r", and \1", ", ".join(map(repr, allowed)))
    return ApiError(f"Invalid value: '{value}'. Supported values are: {listed}.", path, "invalid_value")


def read_json(body: bytes) -> dict[str, Any]:
    """The body's object. Raises ApiError where it is none; NaN and half characters are no JSON."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}. The API expects a JSON payload."
        raise ApiError(message) from None
    if not isinstance(values, dict):
        raise ApiError("Invalid body: expected a JSON object.")
    return values


def check(value: Any, form: Any, path: str = "", strict: bool = False) -> Any:
    """The value without what is not read, by a form or the name of one. Raises ApiError for the first fault.

    With `strict`, tables are schemas, which must be closed and leave nothing optional.
    """
    if isinstance(form, list):
        form = {"type": "string", "enum": form}
    elif isinstance(form, str):
        form = {"type": "object", "table": _TABLES[form]} if form in _TABLES else {"type": form}
    value = [value] if isinstance(value, str) and "listed" in form else value
    kind, kinds = _TYPES[type(value)], form["type"].split("|")
    if kind not in kinds and (kind, kinds) != ("integer", ["number"]):
        *wanted, got = (_NOUNS.get(name, f"a {name}") for name in (*kinds, kind))
        expected = f"{'one of ' if kinds[1:] else ''}{' or '.join(wanted)}"
        raise ApiError(f"Invalid type for '{path}': expected {expected}, but got {got} instead.", path, "invalid_type")
    if kind == "string":
        _check_string(value, form, path)
    if kind in ("string", "array", "integer", "number"):
        _check_size(value, kind, form, path)
    if kind == "array" and "items" in form:
        found = [check(item, form["items"], f"{path}[{i}]", strict) for i, item in enumerate(value)]
        return found if "joined" not in form else "\n".join(p.get("text", p.get("refusal", "")) for p in found)
    if "values" in form:
        return {name: check(item, form["values"], f"{path}.{name}", strict) for name, item in value.items()}
    return _fields(value, form["table"], path and f"{path}.", strict) if "table" in form else value


def _check_string(value: str, form: Mapping[str, Any], path: str) -> None:
    fault = None
    if value in form.get("elsewhere", ()):
        fault = f"Invalid content type. {value} is only supported by certain models; this one reads text only."
    elif value not in form.get("enum", [value]):
        raise not_among(path, value, form["enum"])
    elif not re.search(pattern := form.get("pattern", ""), value):
        fault = f"Invalid '{path}': expected a string that matches the pattern '{pattern}'."
    if fault:
        raise ApiError(fault, path, "invalid_value")


def _check_size(value: Any, kind: str, form: Mapping[str, Any], path: str) -> None:
    suffix = {"string": "Length", "array": "Items"}.get(kind, "imum")
    size, what = (value, "value") if suffix == "imum" else (len(value), "length")
    least, most = form.get(f"min{suffix}", size), form.get(f"max{suffix}", size)
    if least <= size <= most:
        return
    noun = "decimal" if form["type"] == "number" else kind
    side, sign, bound = ("below_min", ">=", least) if size < least else ("above_max", "<=", most)
    fault = f"{noun} {side.replace('_', ' ')}imum {what}. Expected a {what} {sign} {bound}, but got {size} instead."
    code = f"empty_{noun}" if what == "length" and size == 0 else f"{noun}_{side}_{what}"
    raise ApiError(f"Invalid '{path}': {fault}", path, code)


def _fields(value: Mapping[str, Any], table: Mapping[str, Any], at: str, strict: bool) -> dict[str, Any]:
    """An object's fields as the table has them; null mostly means left out, as clients write it."""
    found, unsupported = {}, table.get("$unsupported", ())
    passed = {*unsupported, *table.get("$ignored", ())}
    given = {name: part for name, part in value.items() if part is not None or "$nulls" in table}
    for name, part in {**table.get("$default", {}), **given}.items():
        if part and name in unsupported:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise ApiError(message, name, "unsupported_parameter")
        if name in table:
            found[name] = check(part, table[name], at + name, strict)
        elif name not in passed and "$needs" not in table:
            raise ApiError(f"Unknown parameter: '{at}{name}'.", at + name, "unknown_parameter")
    for name in (*table.get("$required", ()), *table.get("$needs", {}).get(str(found.get("type")), ())):
        if name not in found:
            raise ApiError(f"Missing required parameter: '{at}{name}'.", at + name, "missing_required_parameter")
    if strict:
        _check_strict(value, at)
    return found


def check_schema(schema: Mapping[str, Any], what: str, param: str, code: str | None = None, *, strict: bool) -> None:
    """Raises ApiError unless it is an object's schema and, if strict, closed and without optional properties.

    `what` is whose schema it is: "function 'f'", "response_format 'verdict'".
    """
    kind, fault = schema.get("type"), ""
    try:
        check(schema, "schema", strict=strict)
    except ApiError as error:
        fault = f"In context={tuple(filter(None, error.param.split('.')))}, {error.message}"
    if kind != "object" and (schema or strict):
        fault = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    if fault:
        raise ApiError(f"Invalid schema for {what}: {fault}", param, code)


def _check_strict(schema: Mapping[str, Any], at: str) -> None:
    properties, fault = schema.get("properties") or {}, None
    if banned := [keyword for keyword in _NOT_STRICT if keyword in schema]:
        fault = f"'{banned[0]}' is not permitted."
    elif not _KIND & schema.keys():
        fault = "schema must have a 'type' key."
    elif (properties or schema.get("type") == "object") and schema.get("additionalProperties") is not False:
        fault = "'additionalProperties' is required to be supplied and to be false."
    elif optional := [name for name in properties if name not in (schema.get("required") or ())]:
        wanted = "'required' is required to be supplied and to be an array including every key in properties."
        fault = f"{wanted} Missing '{optional[0]}'."
    if fault:
        raise ApiError(fault, at)
