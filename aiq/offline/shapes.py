"""JSON schemas as far as requests use them: does a value fit, and a value that fits, made from a text."""

from collections.abc import Mapping
from typing import Any

from aiq.core.seeds import derive

Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def fits(schema: Schema, value: Any) -> bool:
    """Whether the value has the schema's type, enum, properties and items (references within it followed)."""
    return _fits(schema, value, schema)


def fill(schema: Schema, text: str) -> Any:
    """A value of that schema whose strings are the text; numbers and choices follow from it by hash.

    A schema without a type gives an object with the text in it.
    """
    return _fill(schema, text, schema, depth=0)


def _fits(schema: Schema, value: Any, root: Schema) -> bool:
    schema = _resolve(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return any(_fits(option, value, root) for option in options)
    if "const" in schema:
        return bool(value == schema["const"])
    if "enum" in schema:
        return value in schema["enum"]
    if not _has_type(schema.get("type"), value):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        missing = set(schema.get("required", ())) - value.keys()
        unknown = value.keys() - known.keys() if schema.get("additionalProperties") is False else set()
        return not missing and not unknown and all(_fits(known[k], v, root) for k, v in value.items() if k in known)
    if isinstance(value, list):
        return all(_fits(schema.get("items", {}), item, root) for item in value)
    return True


def _has_type(names: str | list[str] | None, value: Any) -> bool:
    if names is None:
        return True
    allowed = [names] if isinstance(names, str) else names
    if isinstance(value, bool):
        return "boolean" in allowed
    return any(isinstance(value, _TYPES[name]) for name in allowed if name in _TYPES)


def _fill(schema: Schema, text: str, root: Schema, depth: int) -> Any:
    schema = _resolve(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return _fill(options[0], text, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][derive("enum", text) % len(schema["enum"])]
    kind = schema.get("type", "object" if depth == 0 or "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[0]
    match kind:
        case "object":
            known = schema.get("properties", {})
            if not known:
                return {"text": text}
            wanted = known if depth < 4 else {name: known[name] for name in schema.get("required", ()) if name in known}
            return {name: _fill(part, text, root, depth + 1) for name, part in wanted.items()}
        case "array":
            count = max(int(schema.get("minItems", 0)), 1 if depth < 4 else 0)
            return [_fill(schema.get("items", {}), text, root, depth + 1) for _ in range(count)]
        case "integer" | "number":
            return _number(schema, text)
        case "boolean":
            return bool(derive("boolean", text) % 2)
        case "null":
            return None
        case _:
            return text[: int(schema["maxLength"])] if "maxLength" in schema else text


def _number(schema: Schema, text: str) -> int:
    low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 10))
    return low + derive("number", text) % (max(high, low) - low + 1)


def _resolve(schema: Schema, root: Schema) -> Schema:
    """Follows `$ref` within the document (`#/$defs/Name`)."""
    for _ in range(16):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        found: Any = root
        for part in reference[2:].split("/"):
            found = found.get(part, {}) if isinstance(found, Mapping) else {}
        schema = found
    return {}
