"""The tools offered: the purpose of each, by its name, description and parameters, and calls to it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiq.offline.chat import FunctionSpec, ToolCall, ToolSpec, call
from aiq.offline.engine.fields import phrase
from aiq.offline.engine.text import stems

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
_KINDS = {
    kind: re.compile(rf"(?<![a-z])(?:{signs})(?:e?s|e?d|ing)?(?![a-z])") for kind, signs in TABLES["kinds"].items()
}
_MEANINGS = TABLES["parameters"]
_NAME, _PARAMETER, _OPENING, _FIRST_SENTENCE = 4, 3, 3, 2
"""The weight of a sign in a tool's name, in its required parameters, in the opening words of its description, and in
the first sentence of the description."""
_LOOKUP_KINDS = ("search", "fetch")
"""Kinds that the opening words of a description are enough for."""
_LEAD = re.compile(r"^.*?\b(?:tool|function|useful|used?|lets? you|allows? you|can)\b.*?\b(?:to|that|which|for)\s+")
_GENERAL = re.compile(r"\b(?:web|internet|online|google|bing|wiki\w*|any\w*|everything|knowledge|documents?)\b|[网文]")
_ADDRESS = re.compile(r"\b(?:urls?|web ?address(?:es)?|address of (?:an?|the) (?:hit|page|result|document))\b|网址")
"""The description of a parameter that takes a page's URL."""


@dataclass(frozen=True)
class Tool:
    """An offered tool. `kind`: its purpose, from `tools.toml`, or "other". `parameters`: the `needed` ones first."""

    name: str
    description: str
    kind: str
    schema: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Any]]
    needed: tuple[str, ...]

    @property
    def takes_one_text(self) -> bool:
        """Whether one text is all that a call needs."""
        needed = self.needed or tuple(self.parameters)
        return [types(self.parameters[name])[0] for name in needed] == ["string"]

    @property
    def says(self) -> str:
        """The start of its own description, in lower case."""
        return _first_sentence(self.description)

    def means(self, meaning: str) -> bool:
        """Whether a parameter's name has this meaning."""
        return any(re.search(_MEANINGS[meaning], name.casefold()) for name in self.parameters)

    def agent(self, does: str) -> str | None:
        """The sub-agent whose name says what it does (a pattern), from a schema's options or a description's list."""
        items = re.findall(r"(?m)^\s*[-*•]\s*[`\"']?([\w-]+)[`\"']?\s*[:：-]", self.description)
        options = [str(option) for schema in self.parameters.values() for option in schema.get("enum") or ()]
        return next((name for name in options or items if re.search(does, name.casefold())), None)

    def call(self, **given: str | None) -> ToolCall:
        """A call with what is given (by meaning: query, url, agent, path, text), each under the first parameter that
        means it, else the first text; any other required parameter gets its default, first option or minimum."""
        free = dict(self.parameters)
        arguments: dict[str, Any] = {}
        for meaning, value in given.items():
            candidates = [name for name in free if value is not None and _accepts(free[name], value)]
            matches = [name for name in candidates if re.search(_MEANINGS[meaning], name.casefold())]
            if name := next(iter(matches or (candidates if meaning != "agent" else [])), None):
                arguments[name] = [value] if types(free.pop(name))[0] == "array" else value
        return call(self.name, **arguments, **{name: _default(free[name]) for name in self.needed if name in free})

    def fit(self, task: str) -> float:
        """How well a tool's description fits a task: the number of shared words; else 0.5 for a general tool."""
        text = f"{phrase(self.name)} {self.says}"
        return len(stems(text) & stems(task)) or 0.5 * bool(_GENERAL.search(text))


def understand(spec: ToolSpec) -> Tool:
    """What a tool is for: the kind with the most weight of signs in its name, parameters and description."""
    function, schema = spec.function, spec.function.parameters
    properties = {name: part if isinstance(part, dict) else {} for name, part in schema.get("properties", {}).items()}
    needed = tuple(name for name in schema.get("required") or () if name in properties)
    name_words, parameter_words = phrase(function.name), " ".join(map(phrase, needed or properties))
    sentence = _first_sentence(function.description)
    opening = " ".join(_LEAD.sub("", sentence).split()[:3])
    texts = (_NAME, name_words), (_PARAMETER, parameter_words), (_FIRST_SENTENCE, sentence)
    weights = {kind: sum(weight for weight, text in texts if pattern.search(text)) for kind, pattern in _KINDS.items()}
    if not _KINDS["fetch"].search(parameter_words) and any(_ADDRESS.search(about(properties[name])) for name in needed):
        weights["fetch"] += _PARAMETER
    for kind in _LOOKUP_KINDS:
        weights[kind] += _OPENING * bool(_KINDS[kind].search(opening))
    if any(re.search(_MEANINGS["query"], name) for name in parameter_words.split()):
        weights["search"] += _PARAMETER
    weights["fields"] *= not needed
    if re.search(_MEANINGS["path"], parameter_words):  # a tool that takes a path works on files, whatever its verb
        weights["search"] = weights["fetch"] = 0
    best = max(weights, key=lambda kind: weights[kind])
    kind = best if weights[best] >= _PARAMETER else "other"
    parameters = {name: properties[name] for name in (*needed, *properties)}
    return Tool(function.name, function.description, kind, schema, parameters, needed)


def kind_of(name: str) -> str:
    """What a tool is for, by its name alone."""
    return understand(ToolSpec(function=FunctionSpec(name=name))).kind


def _first_sentence(description: str) -> str:
    """The first sentence of a description, in lower case."""
    return re.split(r"(?<=[.!?。])\s|\n", description.strip(), maxsplit=1)[0].casefold()


def about(schema: Mapping[str, Any]) -> str:
    """The description of a parameter, in lower case."""
    return str(schema.get("description", "")).casefold()


def _accepts(schema: Mapping[str, Any], value: str) -> bool:
    return value in schema["enum"] if schema.get("enum") else types(schema)[0] in ("string", "array")


def _default(schema: Mapping[str, Any]) -> Any:
    """A value for a required parameter that nothing else sets: its default, its first option, or its minimum."""
    least = schema.get("minimum", 1)
    by_type = {"integer": least, "number": least, "boolean": False, "array": [], "object": {}}
    return schema.get("default", (schema.get("enum") or [by_type.get(types(schema)[0], "")])[0])


def types(schema: Mapping[str, Any]) -> list[str]:
    """The types that a parameter may have besides null; string if it states none."""
    kinds = schema.get("type") or [option.get("type") for option in schema.get("anyOf", ())]
    names = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind not in ("null", None)]
    return names or ["string"]
