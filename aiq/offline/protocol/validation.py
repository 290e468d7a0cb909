"""Checks requests against `requests.toml` and reports errors with the public API's messages, parameters and codes.

A table in the file has a line for each field: its name (! if required) and its form. A form is a list of types (a|b,
string by default) or another table, bounds (least..most; of a list, its length), "of" the form of its members, and
  {x y}   the strings that are allowed             /pattern/  of a string    +x  a string only other models accept
  values  an object's values have the form "of"    listed     a string is a list of one    joined  a list is its text
Lines for other marks: *like TABLE (has its fields too), *ignored (fields without effect), *unsupported (fields that are
rejected, as ignoring them would mislead), *needs TYPE (fields required for this `type`), *default (of `type`), *open
(unknown fields are ignored), *nulls (null does not mean left out).
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic_core import from_json

_TABLES: dict[str, str] = tomllib.loads(Path(__file__).with_name("requests.toml").read_text(encoding="utf-8"))

_FORM = re.compile(
    r"(?P<type>(?!of )[a-z_|]*) ?(?:(?P<least>-?\d*)\.\.(?P<most>-?\d*))? ?(?:/(?P<pattern>\S+)/)?"
    r"(?:\{(?P<enum>[^}]*)\})?(?P<elsewhere>(?: \+\w+)*) ?(?:of (?P<items>.*))?"
)
_TYPES_OF = {"": "string", "listed": "string|array", "joined": "string|array", "values": "object"}

_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
_TYPES |= {list: "array", dict: "object", type(None): "null"}

_NOUNS = {"integer": "an integer", "number": "a decimal", "array": "an array", "object": "an object", "null": "null"}

_KIND = {"type", "anyOf", "enum", "const", "$ref"}
"""A strict schema must have one of these keywords."""

_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that a strict schema may not have."""


class ApiError(ValueError):
    """An answer in OpenAI's error shape. `param` is where the error is, such as `messages[0].role`."""

    def __init__(self, message: str, param: str = "", code: str | None = None, status: int = 400) -> None:
        self.message, self.param, self.status = message, param, status
        kind = {422: "server_error", 429: "requests", 500: "server_error"}.get(status, "invalid_request_error")
        self.body = {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


def not_among(path: str, value: object, allowed: list[str]) -> ApiError:
    choices = re.sub(", ([^,]+)$", r", and \1", ", ".join(map(repr, allowed)))
    return ApiError(f"Invalid value: '{value}'. Supported values are: {choices}.", path, "invalid_value")


def read_json(body: bytes) -> dict[str, Any]:
    """The object in the body. Raises ApiError if there is none; NaN and lone surrogates are not valid JSON."""
    try:
        values = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}. The API expects a JSON payload."
        raise ApiError(message) from None
    if not isinstance(values, dict):
        raise ApiError("Invalid body: expected a JSON object.")
    return values


@cache
def _parse_form(spec: str) -> dict[str, Any]:
    """Parse a form from the file: `types` and, if given, `table`, `least`, `most`, `pattern`, `enum` ..."""
    match = _FORM.fullmatch(spec)
    form: dict[str, Any] = {key: part for key, part in (match.groupdict() if match else {}).items() if part}
    kind = form.get("type", "")
    form |= {bound: int(form[bound]) for bound in ("least", "most") if bound in form}
    form |= {key: form[key].replace("+", "").split() for key in ("enum", "elsewhere") if key in form}
    types = "object" if kind in _TABLES else _TYPES_OF.get(kind, kind)
    return form | {"type": kind, "types": types.split("|")}


@cache
def _parse_table(name: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Parse a table from the file: the form of each field, and the words of each mark, with required fields as "!"."""
    fields: dict[str, str] = {}
    marks: dict[str, list[str]] = {}
    for line in _TABLES[name].strip().splitlines():
        head, _, rest = line.partition(" ")
        if head == "*needs":
            kind, _, rest = rest.partition(" ")
            marks |= {"*open": [], f"*needs {kind}": rest.split()}
        elif head == "*like":
            fields, marks = dict(_parse_table(rest)[0]), dict(_parse_table(rest)[1])
        elif head[0] == "*":
            marks[head] = marks.get(head, []) + rest.split()
        else:
            fields[head.rstrip("!")] = rest
            marks["!"] = marks.get("!", []) + [head[:-1]] * head.endswith("!")
    return fields, marks


def check(value: Any, told: str, path: str = "", strict: bool = False) -> Any:
    """The value without ignored fields, checked against a form of `requests.toml`. Raises ApiError for the first fault.

    With `strict`, tables are schemas, which must be closed and have no optional properties.
    """
    form = _parse_form(told)
    value = [value] if isinstance(value, str) and form["type"] == "listed" else value
    kind, kinds = _TYPES[type(value)], form["types"]
    if kind not in kinds and (kind, kinds) != ("integer", ["number"]):
        *allowed, got = (_NOUNS.get(name, f"a {name}") for name in (*kinds, kind))
        expected = f"{'one of ' if kinds[1:] else ''}{' or '.join(allowed)}"
        raise ApiError(f"Invalid type for '{path}': expected {expected}, but got {got} instead.", path, "invalid_type")
    if kind == "string":
        _check_string(value, form, path)
    if kind in ("array", "integer", "number") or kinds == ["string"]:
        _check_size(value, kind, form, path)
    if kind == "array" and "items" in form:
        items = [check(item, form["items"], f"{path}[{i}]", strict) for i, item in enumerate(value)]
        return items if form["type"] != "joined" else "\n".join(p.get("text", p.get("refusal", "")) for p in items)
    if form["type"] == "values":
        return {name: check(item, form["items"], f"{path}.{name}", strict) for name, item in value.items()}
    return _check_fields(value, form["type"], path and f"{path}.", strict) if form["type"] in _TABLES else value


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
    size, what = (len(value), "length") if kind in ("string", "array") else (value, "value")
    least, most = form.get("least", size), form.get("most", size)
    if least <= size <= most:
        return
    noun = "decimal" if form["types"] == ["number"] else kind
    side, sign, bound = ("below_min", ">=", least) if size < least else ("above_max", "<=", most)
    fault = f"{noun} {side.replace('_', ' ')}imum {what}. Expected a {what} {sign} {bound}, but got {size} instead."
    code = f"empty_{noun}" if what == "length" and size == 0 else f"{noun}_{side}_{what}"
    raise ApiError(f"Invalid '{path}': {fault}", path, code)


def _check_fields(value: Mapping[str, Any], name: str, base: str, strict: bool) -> dict[str, Any]:
    """The fields of an object that its table lists; null usually counts as left out, since clients use it that way."""
    table, marks = _parse_table(name)
    fields, unsupported = {}, marks.get("*unsupported", ())
    ignored = {*unsupported, *marks.get("*ignored", ())}
    present = {name: part for name, part in value.items() if part is not None or "*nulls" in marks}
    for name, part in {**dict(zip(("type",), marks.get("*default", ()), strict=False)), **present}.items():
        if part and name in unsupported:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise ApiError(message, name, "unsupported_parameter")
        if name in table:
            fields[name] = check(part, table[name], base + name, strict)
        elif name not in ignored and "*open" not in marks:
            raise ApiError(f"Unknown parameter: '{base}{name}'.", base + name, "unknown_parameter")
    for name in (*marks.get("!", ()), *marks.get(f"*needs {fields.get('type')}", ())):
        if name not in fields:
            raise ApiError(f"Missing required parameter: '{base}{name}'.", base + name, "missing_required_parameter")
    if strict:
        _check_strict(value, base)
    return fields


def check_schema(schema: Mapping[str, Any], what: str, param: str, code: str | None = None, *, strict: bool) -> None:
    """Raises ApiError unless it is the schema of an object and, if strict, closed and without optional properties.

    `what` says whose schema it is: "function 'f'", "response_format 'verdict'".
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


def _check_strict(schema: Mapping[str, Any], path: str) -> None:
    properties, fault = schema.get("properties") or {}, None
    if banned := [keyword for keyword in _NOT_STRICT if keyword in schema]:
        fault = f"'{banned[0]}' is not permitted."
    elif not _KIND & schema.keys():
        fault = "schema must have a 'type' key."
    elif (properties or schema.get("type") == "object") and schema.get("additionalProperties") is not False:
        fault = "'additionalProperties' is required to be supplied and to be false."
    elif optional := [name for name in properties if name not in (schema.get("required") or ())]:
        rule = "'required' is required to be supplied and to be an array including every key in properties."
        fault = f"{rule} Missing '{optional[0]}'."
    if fault:
        raise ApiError(fault, path)
