"""The JSON schemas that requests bring: which of them the public API refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.protocol.errors import ApiError

_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that a strict schema may not have."""

_KIND = ("type", "anyOf", "enum", "const", "$ref")
"""Keywords one of which a strict schema must have."""

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
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
    known = names and all(name in _TYPES for name in names)
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
