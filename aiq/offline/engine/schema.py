"""JSON schemas: their forms, checking values, shaping values, and reading a schema from the prose of a prompt.

Prose is read leniently, since people write `{"intent": "meta" or "research", "note": text or null, ...}`, `<int>`,
comments, `string[]` and `a|b` to mean a schema. Values requested in prose may be null.
"""

import json
import re
from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from aiq.offline.engine import dates, material
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.read import Situation

Schema = Mapping[str, Any]

_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (float, int),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_PROMPT = 40_000
"""How many characters of a prompt are searched for a format."""
_NEAR, _FAR = 120, 300
"""How many characters before a list, and before an object, may announce it."""
_QUOTE = r"[\"'`“]([^\"'`“”\n]{1,60})[\"'`”]"
_TYPE = re.compile(
    r"(?P<array>(?:list|array|sequence)s?\b|(?=\w+\[\])|列表|数组)|(?P<object>(?:object|dict|dictionary|mapping)\b|对象)"
    r"|(?P<integer>int\b|integers?\b|整数)|(?P<number>(?:float|numbers?|decimal)\b|数字)"
    r"|(?P<boolean>(?:bool|booleans?|true|false)\b|布尔)"
    r"|(?P<string>(?:strings?|str|text|sentences?|words?|phrases?|markdown|url)\b|文本|字符串|一句话)",
    re.IGNORECASE,
)
"""The words for a type, in prose."""
_OPTIONS = re.compile(
    rf"(?<![\w|])[\w-]+(?:\s*\|\s*[\w-]+)+(?![\w|])|{_QUOTE}(?:\s*(?:[,/|，、]|or|或)\s*(?:or\s*)?{_QUOTE})+"
    r"|(?:(?<=one of )|(?<=one of: ))[\w-]+(?:(?:, (?:or )?| or )[\w-]+)+"
)
"""Options in prose: "a|b", "'yes' or 'no'", "one of: low, medium or high"."""
_OPTION = re.compile(rf"{_QUOTE}|\b(?!or\b|或)([\w-]+)")
_ANNOUNCED = re.compile(r"json|output|respon[ds]|return|reply|interface|format|schema|\bform\b|格式|对象|回复", re.I)
_INPUT = re.compile(r"(?:inputs?|action|arg(?:ument)?s|parameters|<tool_call>)[\"'`]?\W{0,4}$", re.I)
"""What precedes the arguments of a call: an example, but not of the reply."""
_KEY_LIST = re.compile(r"\bjson\b[^.\n{]*\b(?:keys?|fields?|properties)\b([^.\n{]*)", re.I)
_STRINGS = re.compile(r"(?:only|respond|return|reply|output)\b.{0,40}\b(?:list|array) of strings", re.I)
_KEY = r"(?:[\"'`“][^\"'`“”\n]{1,60}[\"'`”]|\w{1,60})\s*\??\s*[:：]"
_LOOSE = (
    (re.compile(r"([\[\]{}][,;]?)[ \t]*(?://|#)[^\n]*"), r"\1"),
    (re.compile(r"[,;]([ \t]*(?://|#)[^\n]*)"), r"\1,"),
    (re.compile(r"(\w+)\[\]"), r"list of \1"),
    (re.compile(r"(?<=[\[{,:\s])'([^'\"\n]{0,60})'(?=\s*[,:\]}])"), r'"\1"'),
    (re.compile(rf";\s*(?={_KEY})"), ","),
    (re.compile(r",?\s*(?:\.{3}|…)?,?\s*(?=[}\]])"), ""),
)
"""What examples have but JSON forbids: comments, which are merged into the words before them; `string[]`; single
quotes; semicolons; dots and commas at the end of a list."""
_FIELD = re.compile(
    rf"(?<=[{{,])(?P<key>\s*{_KEY})\s*(?P<value>(?:[^\[\]{{}}\"]|\"[^\"\n]*\"){{1,800}}?)?(?=\s*[\[{{}}]|\s*,\s*{_KEY})"
)
_PLAIN = r"(?:-?\d+(?:\.\d+)?|true|false|null)"
_ITEM = re.compile(
    rf"(?<=\": )\[\s*(?!(?:{_PLAIN}|\"[^\"\n]*\")\s*[,\]])(?P<value>(?:[^\[\]{{}}\"]|\"[^\"\n]*\")+?)\s*"
    r"(?:,[^\[\]{}]*)?\]"
)
_TRUTH = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\([^()]*\)\s*)?(?:-|–|to|\.\.|and|至|到)\s*(\d+(?:\.\d+)?)")


def asked_schema(situation: Situation) -> Schema | None:
    """The JSON schema of the reply: from `response_format` or the instructions; None if prose is wanted."""
    schema = situation.request.json_schema or from_prose(situation.instructions)
    return schema or (_object({"answer": {"type": "string"}}) if situation.request.wants_json else None)


def as_schema(part: Any) -> dict[str, Any]:
    """A schema; `true`, which allows anything, becomes an empty one."""
    return dict(part) if isinstance(part, Mapping) else {}


def forms(part: Any) -> list[dict[str, Any]]:
    """The forms that a schema without references allows, each of one type; keywords beside `anyOf` apply to all. A
    constant becomes an enum."""
    schema = as_schema(part)
    for subschema in schema.pop("allOf", ()):
        schema = {**as_schema(subschema), **schema}
    if options := schema.pop("anyOf", None) or schema.pop("oneOf", None):
        return [form for option in options for form in forms({**schema, **as_schema(option)})]
    if "const" in schema:
        schema["enum"] = [schema["const"]]
    shape = "object" if "properties" in schema else "array" if "items" in schema else "string"
    kinds = schema.get("type") or [*dict.fromkeys(map(_type, schema.get("enum", ())))] or shape
    return [{**schema, "type": kind} for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def fits(value: Any, part: Schema) -> bool:
    """Whether a value matches a schema in type, options, bounds and pattern; its contents are not checked."""
    return any(_fits(value, form) for form in forms(part))


def _fits(value: Any, form: Schema) -> bool:
    kind = form["type"]
    if type(value) not in _PYTHON[kind] or value not in form.get("enum", [value]):
        return False
    suffix = {"string": "Length", "array": "Items", "integer": "imum", "number": "imum"}.get(kind)
    size = value if suffix == "imum" else len(value) if suffix else 0
    in_bounds = form.get(f"min{suffix}", size) <= size <= form.get(f"max{suffix}", size)
    return in_bounds and (kind != "string" or re.search(form.get("pattern", ""), value) is not None)


def _type(value: Any) -> str:
    return next(kind for kind, types in _PYTHON.items() if type(value) in types)


# values in a form


def convert(text: str, form: Schema) -> Any:
    """A text in the requested form: a boolean, a number, an ISO date, or text cut at the end of a word; None if it
    cannot be converted."""
    kind = form["type"]
    if text.lower() in ("null", "none"):
        return None
    if kind == "boolean":
        return _TRUTH.get(text.lower())
    if kind in ("integer", "number"):
        figure = next((quantity.value for quantity in numbers(text)), 0.5)
        return int(figure) if figure.is_integer() else figure if kind == "number" and numbers(text) else None
    is_day = form.get("format") in ("date", "date-time")
    if is_day or re.search(r"d\{4\}|YYYY", str(form)):
        days = (day for day in dates.find(text) if day.day or not is_day)
        return next(("-".join(f"{part:02d}" for part in day[:3] if part) for day in days), None)
    limit = form.get("maxLength", len(text))
    return text if len(text) <= limit else shorten(text, limit, placeholder="") or text[:limit]


def scaled(share: float, form: Schema, about: str) -> float | int:
    """A share on the scale that the schema or the description states; percent for whole numbers, else 0 to 1."""
    is_whole = form["type"] == "integer"
    bounds = _RANGE.search(about)
    low, high = bounds.groups() if bounds else (0, 100 if is_whole or "percent" in about else 1)
    low, high = float(form.get("minimum", low)), float(form.get("maximum", high))
    value = low + share * (high - low)
    return round(value) if is_whole else round(value, 3)


# a schema in prose


def from_prose(text: str) -> Schema | None:
    """The schema given by the last JSON example in a prompt, by the quoted keys that it lists, or by its request for a
    list of strings; None if it asks for no JSON."""
    text = text[:_PROMPT]
    for pattern, replacement in _LOOSE:
        text = pattern.sub(replacement, text)
    text = _ITEM.sub(lambda m: f"[{_strict_value(m['value'].split(', ')[0])}]", _FIELD.sub(_strict_field, text))
    schema: Schema | None = None
    for value, start, end in material.objects(text):
        before = text[max(0, start - (_NEAR if text[start] == "[" else _FAR)) : start]
        is_link = text[end : end + 1] == "("
        if _ANNOUNCED.search(before) and not _INPUT.search(before) and not is_link:
            schema = _example_schema(value)
    listing = _KEY_LIST.search(text)
    keys = re.findall(rf"{_QUOTE}\s*(?:\(([^)]*)\))?", listing[1]) if listing and not schema else ()
    if keys:
        return _object({key: _words_schema(f"<{note}>") for key, note in keys})
    return schema or ({"type": "array", "items": {"type": "string"}} if _STRINGS.search(text) else None)


def _strict_field(field: re.Match[str]) -> str:
    """A field of an example in strict JSON."""
    key = field["key"].strip(" \n\t\"'`“”?:：")
    return f"{json.dumps(key)}: {_strict_value(field['value']) if field['value'] else ''}"


def _strict_value(words: str) -> str:
    """A plain value of an example unchanged; words that describe a value are marked as such."""
    words = words.strip()
    literal = re.fullmatch(rf"(\"[^\"\n]*\"|{_PLAIN}(?=\s*(?://|#|$)))(?:(?<!\")\s*(?://|#).*)?", words)
    return literal[1] if literal else json.dumps(f"<{words}>")


def _example_schema(value: Any) -> dict[str, Any]:
    """The schema of a value shown in an example; an example that is itself a JSON schema is kept."""
    if isinstance(value, dict):
        is_schema = "properties" in value and "type" in value
        return value if is_schema else _object({key: _example_schema(child) for key, child in value.items()})
    if isinstance(value, list):
        return {"type": ["array", "null"], "items": _example_schema(value[0]) if value else {"type": "string"}}
    return _words_schema(value or "") if _type(value) in ("string", "null") else {"type": [_type(value), "null"]}


def _object(properties: Mapping[str, Schema]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": [*properties], "additionalProperties": False}


def _words_schema(text: str) -> dict[str, Any]:
    """What words say about a value: "<one short sentence or null>", "<list of strings>", "integer"."""
    words = text.strip("<> ")
    is_description = re.search("[<|]", text) or _TYPE.fullmatch(words)
    kinds = [str(match.lastgroup) for match in _TYPE.finditer(words) if is_description]
    kind, item_type, *_ = (*kinds, "string", "string")
    kind = "string" if stated_options(words) else kind
    schema = {"type": [kind, "null"], "description": words}
    return {**schema, "items": {"type": item_type}} if kind == "array" else schema


def stated_options(text: str) -> list[str]:
    """The options that a description states, without types: "'yes' or 'no'", "one of: low, medium, high", "a|b"."""
    match = _OPTIONS.search(text)
    options = [quoted or bare for quoted, bare in _OPTION.findall(match[0])] if match else []
    return [option for option in options if option != "null" and not _TYPE.fullmatch(option)]
