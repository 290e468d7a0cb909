"""Tools as offered: what each is for, by what its name, description and parameters say, and calls of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aiq.offline.chat import ToolCall, ToolSpec, call

Kind = Literal["search", "fetch", "delegate", "note", "ask", "finish", "save", "load", "steps", "other"]

_SIGNS: Mapping[Kind, str] = {
    "search": r"search|find|look ?up|quer(?:y|ies)|google|bing|retriev\w*|discover|wiki\w*|keywords?|搜索|检索|查询",
    "fetch": r"fetch|open|visit|brows\w*|scrape|crawl|urls?|link|href|web ?page|read (?:a|the) page|打开|网址|网页",
    "delegate": r"delegat\w*|dispatch|sub-?agents?|agents?|assign|hand ?off|transfer|conduct\w*|委派",
    "note": r"think|thoughts?|reflect\w*|reasoning|scratch ?pad|notes?|思考|笔记",
    "ask": r"ask|clarif\w*|human|user(?:'s)? (?:input|feedback)|询问|澄清",
    "finish": r"final|finish\w*|submit|complete|done|end|conclude|answer|respond|reply|结束|完成|最终",
    "save": r"write|save|store|creat\w* (?:a )?file|写入|保存",
    "load": r"read|load|lists?|ls|cat|director(?:y|ies)|读取",
    "steps": r"todos?|plan|steps|checklist|待办",
}
_PATTERNS = {kind: re.compile(rf"(?<![a-z])(?:{signs})(?![a-z])") for kind, signs in _SIGNS.items()}
_NAME, _PARAMETER, _FIRST_SENTENCE = 4, 3, 2
"""What a sign is worth in a tool's name, in its required parameters, at the start of its description."""

_MEANT = {
    "query": re.compile(r"quer|search|question|keyword|term|topic|text|input|prompt|what|q$|查询|关键词|问题"),
    "url": re.compile(r"url|link|href|address|uri|网址"),
    "agent": re.compile(r"agent|assignee|worker|role|type"),
    "path": re.compile(r"files?|path|director"),
    "text": re.compile(r"description|instruction|task|content|text|thought|note|reflection|reason|topic|body|message"),
}
"""The parameters that a value of each meaning goes to."""


@dataclass(frozen=True)
class Tool:
    """A tool as offered, and what it is for."""

    spec: ToolSpec
    kind: Kind

    @property
    def name(self) -> str:
        return self.spec.function.name

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        known = self.spec.function.parameters.get("properties") or {}
        return {name: schema if isinstance(schema, dict) else {} for name, schema in known.items()}

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.spec.function.parameters.get("required") or ())

    @property
    def text_parameter(self) -> str | None:
        """The one text that a call needs, where it needs nothing else."""
        texts = [n for n in self.required or self.properties if type_of(self.properties.get(n, {})) == "string"]
        return texts[0] if len(texts) == 1 and len(self.required) <= 1 else None

    def agents(self) -> list[str]:
        """The sub-agents that a delegating tool offers: options of its schema, or names that its description lists."""
        for schema in self.properties.values():
            if schema.get("enum"):
                return [str(option) for option in schema["enum"]]
        listed = re.compile(r"^\s*[-*•]\s*[`\"']?([\w-]+)[`\"']?\s*[:：-]", re.MULTILINE)
        return listed.findall(self.spec.function.description)

    def call(self, **given: str | None) -> ToolCall:
        """A call with what is given (by meaning: query, url, agent, path, text), each under the parameter that its
        name and type mean; a required parameter that nothing is given for gets its default, first or least value."""
        arguments: dict[str, Any] = {}
        main = given.get("query") or given.get("url") or given.get("text")
        for name in sorted(self.properties, key=lambda name: name not in self.required):
            schema = self.properties[name]
            value: Any = _given(name, schema, given)
            if value is None and name in self.required:
                value = _plain(schema, None if main in arguments.values() else main)
            if value is not None:
                listed = type_of(schema) == "array" and isinstance(value, str)
                arguments[name] = [value] if listed else value
        if main is not None and main not in arguments.values() and [main] not in arguments.values():
            for name, schema in self.properties.items():
                if type_of(schema) in ("string", "array"):
                    return call(self.name, **{**arguments, name: [main] if type_of(schema) == "array" else main})
        return call(self.name, **arguments)


def understand(spec: ToolSpec) -> Tool:
    """What a tool is for: the kind whose signs weigh most in its name, its parameters and its description."""
    function = spec.function
    parameters = function.parameters.get("required") or function.parameters.get("properties") or ()
    spoken, given = _words(function.name), " ".join(map(_words, parameters))
    first = re.split(r"(?<=[.!?。])\s|\n", function.description.strip(), maxsplit=1)[0].casefold()
    weights: dict[Kind, int] = {}
    for kind, pattern in _PATTERNS.items():
        signs = (_NAME, spoken), (_PARAMETER, given), (_FIRST_SENTENCE, first)
        weights[kind] = sum(worth for worth, text in signs if pattern.search(text))
    if any(_MEANT["query"].search(name) for name in given.split()):
        weights["search"] += _PARAMETER
    if _MEANT["path"].search(given):  # what takes a path works on files, whatever its verb
        weights["search"] = weights["fetch"] = 0
    if re.search(r"\bagents?\b", given):
        weights["delegate"] += _NAME
    if re.search(r"complete|finish|final|done", spoken):
        weights["finish"] += _NAME
    best = max(weights, key=lambda kind: weights[kind])
    return Tool(spec, best if weights[best] >= _PARAMETER else "other")


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.]+", " ", name).casefold()


def _given(name: str, schema: Mapping[str, Any], given: Mapping[str, str | None]) -> str | None:
    """The given value that a parameter means, by its name; an enum takes only one of its options."""
    for meaning, value in given.items():
        if value is not None and _MEANT[meaning].search(name.casefold()):
            fits = value in schema["enum"] if "enum" in schema else type_of(schema) in ("string", "array")
            if fits:
                return value
    return None


def _plain(schema: Mapping[str, Any], text: str | None) -> Any:
    """A value for a required parameter that nothing speaks of: its default, its first option, its least value."""
    if "default" in schema or schema.get("enum"):
        return schema["default"] if "default" in schema else schema["enum"][0]
    least = schema.get("minimum", 1)
    plain = {"integer": least, "number": least, "boolean": False, "array": [text] if text else [], "object": {}}
    return plain.get(type_of(schema), text or "")


def type_of(schema: Mapping[str, Any]) -> str:
    """A parameter's type; of several the first that is not null."""
    kinds = schema.get("type") or [type_of(option) for option in schema.get("anyOf") or schema.get("oneOf") or ()]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return next((str(kind) for kind in kinds if kind != "null"), "string")
