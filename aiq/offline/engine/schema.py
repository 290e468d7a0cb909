"""JSON schemas: references resolved, values checked, a schema read out of a JSON example or a list of keys in prose.

The reading is lenient, for people write `{"intent": "meta" or "research", "note": text or null, ...}`, `<int>`,
comments, `string[]` and `a|b` where they mean a schema.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aiq.offline.engine.read import Situation

Schema = Mapping[str, Any]

_DEEPEST = 12
"""References followed within each other, and brackets within brackets; what goes deeper is cut."""
_PROMPT = 40_000
"""Characters of a prompt in which a format is looked for."""
_LONGEST, _MOST_FAILED = 20_000, 40
"""Characters of an example at most; brackets tried that open none."""
_TYPES = {
    "string": r"strings?|str|text|sentences?|words?|phrases?|markdown|url|文本|字符串|一句话",
    "integer": r"int|integers?|整数",
    "number": r"float|numbers?|double|decimal|数字",
    "boolean": r"bool|booleans?|true|false|yes/no|布尔",
    "array": r"lists?|arrays?|sequence|列表|数组",
    "object": r"objects?|dict|dictionary|mapping|map|对象",
    "null": r"null|none|nil|空",
}
_TYPE_WORDS = {kind: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for kind, words in _TYPES.items()}
_LIST_OF = re.compile(
    r"(?:list|array|sequence)s? of (?P<a>\w+)|(?:list|array)\s*[<\[](?P<b>\w+)|(?P<c>\w+)\s*\[\]", re.I
)
_OPTION = re.compile(r"[\"'`“]([^\"'`“”\n]{1,60})[\"'`”]")
_KEY = re.compile(r"\s*(?:\"([^\"\n]{1,60})\"|'([^'\n]{1,60})'|`([^`\n]{1,60})`|([A-Za-z_]\w{0,60}))\s*(\?)?\s*[:：=]")
_BLANK = re.compile(r"(?:[\s,;…]|\.{3}|//[^\n]*|#[^\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|“([^”\n]*)”|'((?:[^'\\\n]|\\.)*)'(?=\s*(?:[,}\]|\n]|or\b|$))")
_CUE = re.compile(
    r"json|\boutput|\brespond|\breturn|\breply|\binterface\b|\bobject\b|\bformat\b|\bschema\b|\bform\b|\blist\b|\barray\b|\bstructure|格式|对象|列表",
    re.I,
)
_NOT_REPLY = re.compile(r"Action Input\s*[:：]\s*$|<tool_call>\s*$|\barg(?:ument)?s?\"?\s*[:：]\s*$", re.IGNORECASE)
_KEY_LINE = re.compile(
    r"^\s*(?:[-*•]|\d+[.)])\s*(?:\*\*)?[`\"']?(?P<key>[A-Za-z_][\w]*)[`\"']?(?:\*\*)?\s*(?:\((?P<type>[^)\n]*)\))?\s*(?:\*\*)?\s*[:：–—-]\s+(?P<text>.+)$",
    re.MULTILINE,
)
_KEYS_NAMED = re.compile(r"\b(?:keys?|fields?|properties)\b[^.\n{]*|(?:字段|键)[^。\n{]*", re.IGNORECASE)


class Prose(str):
    """A value that the example describes instead of giving."""


def asked_schema(situation: Situation) -> Schema | None:
    """The JSON schema of the reply: of `response_format`, or read from a JSON example in the prose; else None.

    A free string of `response_format` takes the options and the description that the prose gives for the same key.
    """
    told = "\n\n".join(m.text for m in situation.request.messages if m.role not in ("assistant", "tool"))
    prose = from_prose(situation.instructions[:_PROMPT]) or from_prose(told[:_PROMPT])
    given = situation.request.json_schema
    if given is None:
        is_json = (situation.request.response_format or {}).get("type") == "json_object"
        return prose or ({"type": "object", "properties": {"answer": {"type": "string"}}} if is_json else None)
    properties = {}
    for name, wanted in (given.get("properties") or {}).items():
        shown = ((prose or {}).get("properties") or {}).get(name, {})
        whole = resolve(wanted, given)
        free = {form["type"] for form in branches(whole, given)} <= {"string", "null"} and "enum" not in whole
        took = {
            k: shown[k] for k in ("enum", "description") if shown.get(k) and k not in whole and (free or k != "enum")
        }
        properties[name] = {**wanted, **took}
    return {**given, "properties": properties} if properties else given


def resolve(schema: Schema, root: Schema) -> dict[str, Any]:
    """A schema without `$ref` and `allOf` at its top, nullable forms as a `type` list or `anyOf`; what it refers to
    is looked up in the root. An unknown reference allows anything."""
    found = dict(schema)
    for _ in range(_DEEPEST):
        if reference := found.pop("$ref", None):
            at: Any = root
            for part in str(reference).lstrip("#").strip("/").split("/"):
                at = at.get(part.replace("~1", "/").replace("~0", "~"), {}) if part and isinstance(at, Mapping) else at
            found = {**(at if isinstance(at, Mapping) else {}), **found}
        elif parts := found.pop("allOf", None):
            for part in parts:
                part = resolve(part, root)
                found["properties"] = {**part.get("properties", {}), **found.get("properties", {})}
                found["required"] = [*part.get("required", ()), *found.get("required", ())]
                found = {**part, **{k: v for k, v in found.items() if v or k not in part}}
        else:
            break
    if found.pop("nullable", False):
        found["type"] = [found.get("type", "string"), "null"]
    options = re.fullmatch(r"\^\(?(?:\?:)?([\w -]+(?:\|[\w -]+)+)\)?\$", str(found.get("pattern", "")))
    if options and "enum" not in found:
        found["enum"] = options[1].split("|")
    return found


def branches(schema: Schema, root: Schema) -> list[dict[str, Any]]:
    """The forms that a resolved schema allows, each of one type; what stands beside `anyOf` holds for each."""
    choice = schema.get("anyOf") or schema.get("oneOf")
    if choice:
        beside = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "default", "type")}
        return [form for part in choice for form in branches(resolve({**beside, **part}, root), root)]
    kind = schema.get("type")
    if isinstance(kind, list):
        enum = schema.get("enum")
        forms = [{**schema, "type": one} for one in kind]
        return [{**f, "enum": [e for e in enum if e is not None]} if enum and f["type"] != "null" else f for f in forms]
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
        if schema.get("enum") and not all(isinstance(e, str) for e in schema["enum"]):
            kind = {bool: "boolean", int: "integer", float: "number"}.get(type(schema["enum"][0]), "string")
    return [{**schema, "type": kind}]


def fits(value: Any, schema: Schema, root: Schema) -> bool:
    """Whether a value meets a schema, in type, options, bounds, pattern and required keys."""
    whole = resolve(schema, root)
    if value is None and None in whole.get("enum", ()):
        return True
    return any(_fits(value, form, root) for form in branches(whole, root))


def _fits(value: Any, form: Schema, root: Schema) -> bool:
    python = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    kind = form["type"]
    if kind in ("integer", "number"):
        right = isinstance(value, int if kind == "integer" else int | float) and not isinstance(value, bool)
    else:
        right = isinstance(value, python.get(kind, object))
    if not right or ("const" in form and value != form["const"]) or ("enum" in form and value not in form["enum"]):
        return False
    if kind in ("integer", "number"):
        above = value >= form.get("minimum", value) and value > form.get("exclusiveMinimum", value - 1)
        return bool(above and value <= form.get("maximum", value) and value < form.get("exclusiveMaximum", value + 1))
    if kind == "string":
        size = form.get("minLength", 0) <= len(value) <= form.get("maxLength", len(value))
        return bool(size and re.search(form.get("pattern", ""), value))
    if kind == "array":
        size = form.get("minItems", 0) <= len(value) <= form.get("maxItems", len(value))
        return bool(size and all(fits(item, form.get("items") or {"type": _any(item)}, root) for item in value))
    if kind == "object":
        known = form.get("properties", {})
        return set(form.get("required", ())) <= set(value) and all(
            fits(v, known[k], root) for k, v in value.items() if k in known
        )
    return True


def _any(value: Any) -> str:
    return {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}.get(type(value), "number")


def from_prose(text: str) -> Schema | None:
    """The schema that the last JSON example of a prompt shows, or a list of keys; None where it asks for no JSON.

    What lines of the prompt say of a key ("- `title` (string): ...") becomes its description.
    """
    found: Schema | None = None
    end = 0
    failed = 0
    for match in re.finditer(r"[\[{]", text):
        start = match.start()
        before = text[max(0, start - 300) : start]
        if start < end or not _CUE.search(before) or _NOT_REPLY.search(before):
            continue
        parsed = _Reader(text[start : start + _LONGEST]).read()
        if parsed is not None and _is_example(parsed[0]):
            found, end = _with_examples(_as_schema(parsed[0]), found), start + parsed[1]
        failed += parsed is None
        if failed > _MOST_FAILED:
            break
    lines = {m["key"]: (m["type"] or "", m["text"]) for m in _KEY_LINE.finditer(text)}
    if found is None and re.search(r"json", text, re.I):
        keys = {key: Prose(" ".join(line)) for key, line in lines.items() if re.search(r"\w", line[0])}
        found = _as_schema(keys or _named_keys(text)) if keys or _named_keys(text) else None
        if found and re.search(r"(?:list|array) of (?:json )?objects", text, re.I):
            found = {"type": "array", "items": found}
    if found is None and re.search(
        r"(?:only|respond|return|reply|output)\b.{0,40}\b(?:list|array) of strings", text, re.I
    ):
        found = {"type": "array", "items": {"type": "string"}}
    return _described(found, lines) if found else None


def _named_keys(text: str) -> dict[str, Prose]:
    """The keys that a sentence names ("with the keys `a` (one of ...) and `b`", "keys a and b"), with what it adds."""
    found: dict[str, Prose] = {}
    for match in _KEYS_NAMED.finditer(text):
        plain = re.sub(r"\([^)]*\)", "", match.group())
        bare = re.match(r"\w+:? ((?:\w+, )*\w+,? and \w+)\b", plain)
        for key in _OPTION.findall(plain) or re.findall(r"\b(?!and\b)\w+", bare[1] if bare else ""):
            added = re.search(rf"{re.escape(key)}\W?\s*\(([^)]*)\)", match.group())
            found |= {key: Prose(added[1] if added else "")} if re.fullmatch(r"\w+", key) else {}
    return found


def _with_examples(schema: Schema, earlier: Schema | None) -> Schema:
    """The schema of an example with the values that an earlier example of the same keys gave."""
    parts, before = (s.get("properties") or {} if s else {} for s in (schema, earlier))
    if not parts or set(parts) != set(before):
        return schema
    more = {
        k: {**p, "examples": [*before[k].get("examples", ()), *p["examples"]]}
        for k, p in parts.items()
        if "examples" in p
    }
    return {**schema, "properties": {**parts, **more}}


def stated_options(text: str) -> list[str]:
    """The options that a description states: "'yes' or 'no'", "one of: low, medium, high", "a|b"."""
    if piped := re.search(r"(?<![\w|])[\w-]+(?:\s*\|\s*[\w-]+)+(?![\w|])", text):
        return re.findall(r"[\w-]+", piped.group())
    if quoted := re.search(rf"{_OPTION.pattern}(?:\s*(?:,|/|or|，|、|或)\s*(?:or\s*)?{_OPTION.pattern})+", text):
        return _OPTION.findall(quoted.group())
    listed = re.search(r"\bone of:?\s+([\w-]+(?:, [\w-]+)*,? or [\w-]+|[\w-]+(?:, [\w-]+)+)", text)
    return re.findall(r"[\w-]+", re.sub(r"\bor\b", " ", listed[1])) if listed else []


def _is_example(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(v, str | dict) and len(v) > 1 for v in value)
    return isinstance(value, dict) and bool(value)


def _as_schema(value: Any) -> Schema:
    """A schema of a value as shown; an object that is itself a JSON schema stays one."""
    if isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and ("type" in value or "required" in value or "$defs" in value):
            return {k: json.loads(json.dumps(v)) for k, v in value.items()}
        optional = [key for key in value if key.endswith("?")]
        properties = {key.rstrip("?"): _as_schema(v) for key, v in value.items()}
        required = [key for key in value if key not in optional]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if isinstance(value, list):
        return {"type": "array", "items": _as_schema(value[0]) if value else {"type": "string"}}
    if isinstance(value, Prose) and value:
        return _prose_schema(value)
    if isinstance(value, str):
        return {"type": "string", "description": value, "examples": [value]}
    return {"type": "null" if value is None else "number" if type(value) is float else _any(value)}


def _prose_schema(text: str) -> Schema:
    """What words say of a value: "one short sentence or null", `"a" | "b"`, "list of strings", "integer 1-5"."""
    null = _TYPE_WORDS["null"].search(text) is not None
    piped = re.match(r"[\w-]+(?:\s*\|\s*[\w-]+)+(?=\s|$)", text)
    options = re.findall(r"[\w-]+", piped.group()) if piped else _OPTION.findall(text)
    options = [o for o in options if not any(p.fullmatch(o) for p in _TYPE_WORDS.values())]
    if len(options) > 1:
        return {"type": ["string", "null"] if null else "string", "enum": options + [None] * null, "description": text}
    if listed := _LIST_OF.search(text):
        inner = _prose_schema(next(g for g in listed.groups() if g))
        return {"type": ["array", "null"] if null else "array", "items": inner, "description": text}
    named = [(p.search(text), kind) for kind, p in _TYPE_WORDS.items() if kind != "null"]
    first = min(((m.start(), kind) for m, kind in named if m), default=(0, "string"))[1]
    schema: dict[str, Any] = {"type": [first, "null"] if null else first, "description": text}
    scale = re.search(r"(\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.|至|到)\s*(\d+(?:\.\d+)?)", text)
    if scale and first in ("integer", "number"):
        schema |= {"minimum": json.loads(scale[1]), "maximum": json.loads(scale[2])}
    return schema


def _described(schema: Schema, lines: Mapping[str, tuple[str, str]]) -> Schema:
    """The schema with what the prompt's lines say of its keys."""
    found = dict(schema)
    if "properties" in found:
        found["properties"] = {
            key: {**_described(s, lines), "description": f"{s.get('description', '')} {lines[key][1]}".strip()}
            if key in lines else _described(s, lines)
            for key, s in found["properties"].items()
        }  # fmt: skip
    if isinstance(found.get("items"), Mapping):
        found["items"] = _described(found["items"], lines)
    return found


class _Reader:
    """A lenient reader of one JSON value with prose in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def read(self) -> tuple[Any, int] | None:
        """The value and where it ends; None where the brackets do not close or nothing in them is a key."""
        try:
            return self._value(), self.at
        except (IndexError, ValueError):
            return None

    def _value(self) -> Any:
        self._skip()
        opening = self.text[self.at]
        if opening not in "{[":
            return self._scalar()
        self.at += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("too deep")
        value = dict(self._pairs()) if opening == "{" else list(self._items())
        self.depth -= 1
        return value

    def _skip(self) -> None:
        """Past blanks, commas, dots and comments."""
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _pairs(self) -> Iterator[tuple[str, Any]]:
        while True:
            self._skip()
            if self.text[self.at] == "}":
                self.at += 1
                return
            key = _KEY.match(self.text, self.at)
            if key is None:
                raise ValueError("no key")
            self.at = key.end()
            value = self._value()
            comment = re.compile(r"[ \t]*,?[ \t]*(?://|#)\s*([^\n]*)").match(self.text, self.at)
            if comment and isinstance(value, str):
                value = Prose(f"{value} {comment[1]}")
            yield next(g for g in key.groups()[:4] if g) + (key[5] or ""), value

    def _items(self) -> Iterator[Any]:
        while True:
            self._skip()
            if self.text[self.at] == "]":
                self.at += 1
                return
            yield self._value()

    def _scalar(self) -> Any:
        """A string, number or word up to the next comma, bracket or line end; prose where more than that stands."""
        start = self.at
        while True:
            if string := _STRING.match(self.text, self.at):
                self.at = string.end()
            elif self.text[self.at] in "}]\n" or (self.text[self.at] in ",;" and self._ends()):
                break
            elif self.text[self.at] in "[" and self.text[self.at : self.at + 2] != "[]":
                raise ValueError("a bracket in prose")
            else:
                self.at += 2 if self.text.startswith("[]", self.at) else 1
        said = self.text[start : self.at].strip()
        if whole := _STRING.fullmatch(said):
            inner = next((g for g in whole.groups() if g), "")
            shown = re.search(r"^<.*>$|^\.{0,3}$|^…$|\w\s*\|\s*\w", inner) or any(
                p.fullmatch(inner) for p in _TYPE_WORDS.values()
            )
            return Prose(inner.strip("<>")) if shown else inner
        try:
            return json.loads(said)
        except ValueError:
            return Prose(said.strip("<>"))

    def _ends(self) -> bool:
        """Whether what follows a comma is the next key or item."""
        rest = self.text[self.at + 1 : self.at + 90]
        return bool(_KEY.match(rest) or re.match(r"\s*(?:[\[{}\]\"'<\d]|//|#|\.{3}|…|$)", rest)) and not re.match(
            r"\s*(?:or|and)\b", rest
        )
