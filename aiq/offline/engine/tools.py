"""Tools as offered: what each is for, by what its name, description and parameters say, and calls of it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiq.offline.chat import FunctionSpec, ToolCall, ToolSpec, call

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
_KINDS = {kind: re.compile(rf"(?<![a-z])(?:{signs})(?![a-z])") for kind, signs in TABLES["kinds"].items()}
_MEANT = TABLES["parameters"]
_NAME, _PARAMETER, _FIRST_SENTENCE = 4, 3, 2
"""What a sign is worth in a tool's name, in its required parameters, at the start of its description."""


@dataclass(frozen=True)
class Tool:
    """A tool as offered. `kind`: what it is for, of `tools.toml`, or "other". `parameters`: the `needed` ones first."""

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
        return [_type(self.parameters[name]) for name in needed] == ["string"]

    def agent(self, does: str) -> str | None:
        """The sub-agent whose name says what it does (a pattern), of a schema's options or a description's list."""
        listed = re.findall(r"(?m)^\s*[-*•]\s*[`\"']?([\w-]+)[`\"']?\s*[:：-]", self.description)
        options = [str(option) for schema in self.parameters.values() for option in schema.get("enum") or ()]
        return next((name for name in options or listed if re.search(does, name.casefold())), None)

    def call(self, **given: str | None) -> ToolCall:
        """A call with what is given (by meaning: query, url, agent, path, text), each under the first parameter that
        means it, else the first text; another needed parameter gets its default, first option or least value."""
        free = dict(self.parameters)
        arguments: dict[str, Any] = {}
        for meaning, value in given.items():
            fits = [name for name in free if value is not None and _takes(free[name], value)]
            named = [name for name in fits if re.search(_MEANT[meaning], name.casefold())]
            if name := next(iter(named or (fits if meaning != "agent" else [])), None):
                arguments[name] = [value] if _type(free.pop(name)) == "array" else value
        return call(self.name, **arguments, **{name: _plain(free[name]) for name in self.needed if name in free})


def understand(spec: ToolSpec) -> Tool:
    """What a tool is for: the kind whose signs weigh most in its name, its parameters and its description."""
    function, schema = spec.function, spec.function.parameters
    known = {name: about if isinstance(about, dict) else {} for name, about in schema.get("properties", {}).items()}
    needed = tuple(name for name in schema.get("required") or () if name in known)
    spoken, given = _words(function.name), " ".join(map(_words, needed or known))
    first = re.split(r"(?<=[.!?。])\s|\n", function.description.strip(), maxsplit=1)[0].casefold()
    places = (_NAME, spoken), (_PARAMETER, given), (_FIRST_SENTENCE, first)
    weights = {kind: sum(worth for worth, text in places if pattern.search(text)) for kind, pattern in _KINDS.items()}
    if any(re.search(_MEANT["query"], name) for name in given.split()):
        weights["search"] += _PARAMETER
    if re.search(_MEANT["path"], given):  # what takes a path works on files, whatever its verb
        weights["search"] = weights["fetch"] = 0
    best = max(weights, key=lambda kind: weights[kind])
    kind = best if weights[best] >= _PARAMETER else "other"
    parameters = {name: known[name] for name in (*needed, *known)}
    return Tool(function.name, function.description, kind, schema, parameters, needed)


def kind_of(name: str) -> str:
    """What a tool is for by its name alone."""
    return understand(ToolSpec(function=FunctionSpec(name=name))).kind


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.]+", " ", name).casefold()


def _takes(schema: Mapping[str, Any], value: str) -> bool:
    return value in schema["enum"] if schema.get("enum") else _type(schema) in ("string", "array")


def _plain(schema: Mapping[str, Any]) -> Any:
    """A value for a needed parameter that nothing speaks of: its default, its first option, its least value."""
    least = schema.get("minimum", 1)
    by_type = {"integer": least, "number": least, "boolean": False, "array": [], "object": {}}
    return schema.get("default", (schema.get("enum") or [by_type.get(_type(schema), "")])[0])


def _type(schema: Mapping[str, Any]) -> str:
    """A parameter's type; of several the first that is not null."""
    kinds = schema.get("type") or [option.get("type") for option in schema.get("anyOf", ())]
    return next(
        (kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind not in ("null", None)), "string"
    )
