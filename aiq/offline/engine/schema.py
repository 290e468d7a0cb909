"""JSON schemas: references resolved, values checked, a schema read out of a JSON example in the prompt's prose.

The reading is lenient, for people write `{"intent": "meta" or "research", "note": text or null, ...}`, `<int>`,
comments, `string[]` and `a|b` where they mean a schema. What prose asks for may be null.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from aiq.offline.engine.read import Situation

Schema = Mapping[str, Any]

_DEEPEST = 12
"""References followed one after another."""
_PROMPT, _LONGEST = 40_000, 8_000
"""Characters of a prompt in which a format is looked for, and of an example."""
_NEAR, _FAR = 120, 300
"""Characters before a list, and before an object, in which it is announced."""
_TYPES = {
    "array": r"(?:list|array|sequence)s?\b|列表|数组",
    "object": r"(?:object|dict|dictionary|mapping)\b|对象",
    "integer": r"int\b|integers?\b|整数",
    "number": r"(?:float|numbers?|decimal)\b|数字",
    "boolean": r"(?:bool|booleans?|true|false)\b|布尔",
    "string": r"(?:strings?|str|text|sentences?|words?|phrases?|markdown|url)\b|文本|字符串|一句话",
}
"""The words for a type, in prose."""
_EXAMPLE = re.compile(r"\{\s*(?:[\"'`“][^\"'`“”\n]{1,60}[\"'`”]|\w+\??)\s*[:：]|\[\s*(?=[\"'“{])")
_ANNOUNCED = re.compile(r"json|output|respon[ds]|return|reply|interface|format|schema|\bform\b|格式|对象|回复", re.I)
_INPUT = re.compile(r"(?:inputs?|action|arg(?:ument)?s|parameters|<tool_call>)[\"'`]?\W{0,4}$", re.I)
"""What stands before the arguments of a call: an example, but not of the reply."""
_MARK = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|[\[\]{},]")
_KEY = re.compile(r"\s*(?:[\"'`“]([^\"'`“”\n]{1,60})[\"'`”]|(\w{1,60}))\s*\??\s*[:：]")
_COMMENT = re.compile(r"[,;][ \t]*((?://|#)[^\n]*|(?<=;)(?=\n))")
_STRINGS = re.compile(r"(?:only|respond|return|reply|output)\b.{0,40}\b(?:list|array) of strings", re.I)
_NAMED = re.compile(r"\bjson\b[^.\n{]*\b(?:keys?|fields?|properties)\b([^.\n{]*)", re.I)
_QUOTED = re.compile(r"[\"'`“]([^\"'`“”\n]{1,60})[\"'`”]")


def asked_schema(situation: Situation) -> Schema | None:
    """The JSON schema of the reply: of `response_format`, or read from the instructions; None where prose is wanted."""
    asked = situation.request.response_format or {}
    if situation.request.json_schema is not None:
        return situation.request.json_schema
    shown = from_prose(situation.instructions[:_PROMPT].replace(situation.task or "\0", ""))
    return shown or (_object({"answer": {"type": "string"}}) if asked.get("type") == "json_object" else None)


def resolve(schema: Schema, root: Schema) -> dict[str, Any]:
    """A schema without `$ref` and `allOf` at its top; an unknown reference allows anything. A pattern that lists
    words, `^(meta|research)$`, becomes an enum."""
    found = dict(schema) if isinstance(schema, Mapping) else {}  # `true` allows anything
    for _ in range(_DEEPEST):
        parts = found.pop("allOf", [])
        if reference := found.pop("$ref", None):
            at: Any = root
            for part in re.findall(r"[^#/]+", reference):
                at = at.get(part, {})
            parts = [at, *parts]
        for part in parts:
            found = {**part, **found} if isinstance(part, Mapping) else found
    options = re.fullmatch(r"\^\(?(?:\?:)?([\w -]+(?:\|[\w -]+)+)\)?\$", str(found.get("pattern", "")))
    return {"enum": options[1].split("|"), **found} if options else found


def branches(schema: Schema, root: Schema) -> list[dict[str, Any]]:
    """The forms that a resolved schema allows, each of one type; what stands beside `anyOf` holds for each."""
    if choice := schema.get("anyOf") or schema.get("oneOf"):
        beside = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "default", "type")}
        return [form for part in choice for form in branches(resolve({**beside, **part}, root), root)]
    options = schema.get("enum", [])
    shape = "object" if "properties" in schema else "array" if "items" in schema else "string"
    kinds = schema.get("type") or ([*dict.fromkeys(map(_type, options))] or shape)
    forms = [{**schema, "type": kind} for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return [{**f, "enum": [o for o in options if o is not None]} if options else f for f in forms]


def fits(value: Any, schema: Schema, root: Schema) -> bool:
    """Whether a value meets a schema, in type, options, bounds, pattern and required keys."""
    return any(_fits(value, form, root) for form in branches(resolve(schema, root), root))


def _fits(value: Any, form: Schema, root: Schema) -> bool:
    kind = form["type"]
    if kind != _type(value) and (kind, _type(value)) != ("number", "integer"):
        return False
    if value is None or value not in form.get("enum", [value]):
        return value is None
    size = value if kind in ("integer", "number") else len(value) if kind in ("string", "array") else 0
    bound = {"string": "Length", "array": "Items"}.get(kind, "imum")
    if not form.get(f"min{bound}", size) <= size <= form.get(f"max{bound}", size):
        return False
    if kind == "array":
        return all(fits(item, form.get("items") or {"type": _type(item)}, root) for item in value)
    if kind == "object":
        known = form.get("properties", {}).items()
        return value.keys() >= set(form.get("required", ())) and all(
            fits(value[k], p, root) for k, p in known if k in value
        )
    return kind != "string" or re.search(form.get("pattern", ""), value) is not None


def _type(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


# a schema in prose


def from_prose(text: str) -> Schema | None:
    """The schema that the last JSON example of a prompt shows, or the quoted keys that it names, or the list of strings
    that it wants; None where it asks for no JSON."""
    text = _COMMENT.sub(r" \1,", text)
    found: Schema | None = None
    end = 0
    for match in _EXAMPLE.finditer(text):
        start = match.start()
        before = text[max(0, start - (_NEAR if text[start] == "[" else _FAR)) : start]
        if start < end or not _ANNOUNCED.search(before):
            continue
        _, size = _pieces(text[start : start + _LONGEST])
        end = start + size
        if size and not _INPUT.search(before) and text[end : end + 1] != "(":  # a Markdown link
            found = _shown(text[start:end])
    named = _NAMED.search(text)
    if found is None and named and (keys := _QUOTED.findall(re.sub(r"\([^)]*\)", "", named[1]))):
        found = _object({key: _said(re.split(rf"{re.escape(key)}\W", named[1])[1].split(")")[0]) for key in keys})
    return found or ({"type": "array", "items": {"type": "string"}} if _STRINGS.search(text) else None)


def _pieces(text: str) -> tuple[list[str], int]:
    """What the commas between the first bracket and its partner part, and where that ends; 0 if it stays open."""
    depth, at = 0, 1
    found: list[str] = []
    for mark in _MARK.finditer(text):
        depth += (mark.group() in ("[", "{")) - (mark.group() in ("]", "}"))
        if depth == 0 or (depth == 1 and mark.group() == ","):
            found.append(text[at : mark.start()])
            at = mark.end()
        if depth == 0:
            return [piece for piece in found if piece.strip()], at
    return [], 0


def _shown(text: str) -> dict[str, Any]:
    """The schema of a value as an example shows it; an example that is itself a JSON schema stays one."""
    text = text.strip()
    pieces, end = _pieces(text) if text[:1] in ("{", "[") else ([], 0)
    if not end:
        return _said(text)
    if text[0] == "[":
        return {"type": ["array", "null"], "items": _shown(pieces[0]) if pieces else {"type": "string"}}
    told: dict[str, str] = {}
    for piece in pieces:
        if key := _KEY.match(piece):
            told[key[1] or key[2]] = piece[key.end() :]
        elif told:  # a comma within the words for a value
            told[next(reversed(told))] += f",{piece}"
    is_schema = "properties" in told and "type" in told
    whole: dict[str, Any] = json.loads(text) if is_schema else _object({k: _shown(said) for k, said in told.items()})
    return whole


def _object(properties: Mapping[str, Schema]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _said(text: str) -> dict[str, Any]:
    """What words say of a value: "one short sentence or null", `"a" | "b"`, "list of strings", "integer 1-5"."""
    quoted = re.fullmatch(r"([\"'])((?:(?!\1).)*)\1", text)
    bare = (quoted[2] if quoted else text).strip("<> ")
    plain = quoted and not re.search(r"[|<]", text)
    found = sorted(
        (m.start(), kind) for kind, words in _TYPES.items() if (m := re.search(rf"(?<!\w)(?:{words})", bare))
    )
    kinds = [kind for _, kind in found if not plain or re.fullmatch(_TYPES[kind], bare)]
    if re.fullmatch(r"-?\d+(?:\.\d+)?", bare):
        return {"type": ["number" if "." in bare else "integer", "null"]}
    options = [
        option for option in stated_options(bare) if not re.fullmatch("|".join(["null", *_TYPES.values()]), option)
    ]
    told = {"description": bare, **({"enum": options} if len(options) > 1 and not plain else {})}
    if kinds[:1] == ["array"] or "[]" in bare:
        return {"type": ["array", "null"], "items": {"type": (*kinds[1:], "string")[0]}, "description": bare}
    return {**told, "type": [(*kinds, "string")[0] if "enum" not in told else "string", "null"]}


def stated_options(text: str) -> list[str]:
    """The options that a description states: "'yes' or 'no'", "one of: low, medium, high", "a|b"."""
    if piped := re.search(r"(?<![\w|])[\w-]+(?:\s*\|\s*[\w-]+)+(?![\w|])", text):
        return re.findall(r"[\w-]+", piped.group())
    between = r"\s*(?:[,/|，、]|or|或)\s*(?:or\s*)?"
    if quoted := re.search(rf"{_QUOTED.pattern}(?:{between}{_QUOTED.pattern})+", text):
        return _QUOTED.findall(quoted.group())
    listed = re.search(r"\bone of:?\s+([\w-]+(?:, [\w-]+)*,? or [\w-]+|[\w-]+(?:, [\w-]+)+)", text)
    return re.findall(r"[\w-]+", re.sub(r"\bor\b", " ", listed[1])) if listed else []
