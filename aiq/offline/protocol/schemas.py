"""The JSON schemas that requests bring: which of them the public API refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.protocol.errors import invalid

Path = tuple[str, ...]

_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that a strict schema may not have."""


def check_schema(schema: Mapping[str, Any], what: str, param: str, code: str | None, *, strict: bool) -> None:
    """Raises ApiError 400 unless it is an object's schema and, if strict, closed and without optional properties.

    `what` is whose schema it is: "function 'f'", "response_format 'verdict'".
    """
    start = f"Invalid schema for {what}:"
    kind = schema.get("type")
    if kind != "object" and (schema or strict):
        raise invalid(
            param, f"{start} schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'.", code
        )
    if strict:
        for where, part in _schemas(schema, ()):
            _check_strict(part, f"{start} In context={where},", param, code)


def _check_strict(schema: Mapping[str, Any], start: str, param: str, code: str | None) -> None:
    for keyword in _NOT_STRICT:
        if keyword in schema:
            raise invalid(param, f"{start} '{keyword}' is not permitted.", code)
    properties = schema.get("properties", {})
    if schema.get("type") != "object" and not properties:
        return
    if schema.get("additionalProperties") is not False:
        raise invalid(param, f"{start} 'additionalProperties' is required to be supplied and to be false.", code)
    missing = [name for name in properties if name not in schema.get("required", ())]
    if missing:
        wanted = "'required' is required to be supplied and to be an array including every key in properties."
        raise invalid(param, f"{start} {wanted} Missing '{missing[0]}'.", code)


def _schemas(schema: Any, where: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The schema and all within it, each with its place."""
    if not isinstance(schema, Mapping):
        return
    yield where, schema
    for keyword in ("properties", "$defs", "definitions"):
        parts = schema.get(keyword)
        for name, part in parts.items() if isinstance(parts, Mapping) else ():
            yield from _schemas(part, (*where, keyword, str(name)))
    yield from _schemas(schema.get("items"), (*where, "items"))
    options = schema.get("anyOf")
    for number, part in enumerate(options if isinstance(options, list) else ()):
        yield from _schemas(part, (*where, "anyOf", str(number)))
