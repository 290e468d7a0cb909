"""The JSON schemas that requests bring: which of them the public API refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.protocol.errors import invalid

Path = tuple[str, ...]

_NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "patternProperties")
"""Keywords that a strict schema may not have."""

_KIND = ("type", "anyOf", "enum", "const", "$ref")
"""Keywords one of which a strict schema must have."""

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_OBJECT, _ARRAY = ("an object", dict), ("an array", list)
_SHAPES: dict[str, tuple[str, type]] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), _OBJECT),
    **dict.fromkeys(("required", "anyOf", "oneOf", "allOf", "enum"), _ARRAY),
}


def check_schema(schema: Mapping[str, Any], what: str, param: str, code: str | None, *, strict: bool) -> None:
    """Raises ApiError 400 unless it is an object's schema and, if strict, closed and without optional properties.

    `what` is whose schema it is: "function 'f'", "response_format 'verdict'".
    """
    start = f"Invalid schema for {what}:"
    kind = schema.get("type")
    if kind != "object" and (schema or strict):
        wanted = "schema must be a JSON Schema of 'type: \"object\"', got 'type:"
        raise invalid(param, f'{start} {wanted} "{kind}"\'.', code)
    for where, part in _schemas(schema, ()):
        within = f"{start} In context={where},"
        if not isinstance(part, dict | bool):
            raise invalid(param, f"{within} {part!r} is not of type 'object', 'boolean'.", code)
        shape = part if isinstance(part, dict) else {}
        for keyword, (noun, of) in _SHAPES.items():
            if not isinstance(shape.get(keyword, of()), of):
                raise invalid(param, f"{within} '{keyword}' is not {noun}.", code)
        types = shape.get("type", "object")
        names = types if isinstance(types, list) else [types]
        if not names or not all(name in _TYPES for name in names):
            raise invalid(param, f"{within} {types!r} is not valid under any of the given schemas.", code)
        if strict:
            _check_strict(shape, within, param, code)


def _check_strict(schema: Mapping[str, Any], start: str, param: str, code: str | None) -> None:
    for keyword in _NOT_STRICT:
        if keyword in schema:
            raise invalid(param, f"{start} '{keyword}' is not permitted.", code)
    if not any(keyword in schema for keyword in _KIND):
        raise invalid(param, f"{start} schema must have a 'type' key.", code)
    properties = schema.get("properties", {})
    if schema.get("type") != "object" and not properties:
        return
    if schema.get("additionalProperties") is not False:
        raise invalid(param, f"{start} 'additionalProperties' is required to be supplied and to be false.", code)
    missing = [name for name in properties if name not in schema.get("required", ())]
    if missing:
        wanted = "'required' is required to be supplied and to be an array including every key in properties."
        raise invalid(param, f"{start} {wanted} Missing '{missing[0]}'.", code)


def _schemas(schema: Any, where: Path) -> Iterator[tuple[Path, Any]]:
    """The schema and all that stands in the place of one within it, each with its place."""
    yield where, schema
    if not isinstance(schema, dict):
        return
    for keyword in ("properties", "$defs", "definitions"):
        for name, part in schema.get(keyword, {}).items():
            yield from _schemas(part, (*where, keyword, name))
    if "items" in schema:
        yield from _schemas(schema["items"], (*where, "items"))
    for number, part in enumerate(schema.get("anyOf", ())):
        yield from _schemas(part, (*where, "anyOf", str(number)))
