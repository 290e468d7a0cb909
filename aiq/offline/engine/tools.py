"""Tools as offered: what each is for, by what its name, description and parameters say, and calls of it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aiq.offline.chat import FunctionSpec, ToolCall, ToolSpec, call
from aiq.offline.engine import dates, lexicon
from aiq.offline.engine.text import name_spans, stems

TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
_KINDS = {
    kind: re.compile(rf"(?<![a-z])(?:{signs})(?:e?s|e?d|ing)?(?![a-z])") for kind, signs in TABLES["kinds"].items()
}
_MEANT = TABLES["parameters"]
_NAME, _PARAMETER, _OPENING, _FIRST_SENTENCE = 4, 3, 3, 2
"""What a sign is worth in a tool's name, in its required parameters, in the words that its description opens with, and
in the first sentence of that."""
_LOOKING = ("search", "fetch")
"""Kinds that the opening of a description is enough for."""
_LEAD = re.compile(r"^.*?\b(?:tool|function|useful|used?|lets? you|allows? you|can)\b.*?\b(?:to|that|which|for)\s+")
_GIVING = re.compile(r"(?:gets?|gives?|returns?|tells?|shows?|checks?|provides?|reports?)\b|返回|获取|查看")
_GENERAL = re.compile(r"\b(?:web|internet|online|google|bing|wiki\w*|any\w*|everything|knowledge|documents?)\b|[网文]")
_ADDRESS = re.compile(
    r"\b(?:urls?|hyperlinks?|links? (?:to|of)|web ?(?:site )?address(?:es)?)\b|网址"
    r"|\baddress(?:es)? of (?:an?|the|each|this) (?:\w+ )?(?:hit|result|page|site|website|document|article|source)s?\b"
)
"""What the description of a parameter for addresses of pages says."""
_FORMS = {
    "ticker|symbol": r"(?<!\w)[A-Z]{2,5}(?:\.[A-Z]{1,2})?(?!\w)",
    "e-?mail": r"[\w.+-]+@[\w-]+\.[\w.-]*\w",
    r"\b(?:id|code|isbn|doi|zip|postcode)\b": r"(?<!\w)(?=[\w./-]*\d)\w[\w./-]*\w",
}
"""What a parameter holds, by its name, and how that is written."""
_NAMED = ("person", "place", "organisation", "work", "thing")
_WHERE = re.compile(r"(?:^|\b(?:in|at|near|to|from|of|for|around|and|or|between)\s)(?:the\s)?$", re.IGNORECASE)
_NOT_WHO = re.compile(r"\b(?:in|at|near|to|from|around)\s(?:the\s)?$", re.IGNORECASE)


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
        return [types(self.parameters[name])[0] for name in needed] == ["string"]

    @property
    def says(self) -> str:
        """What it says of itself first, in lower case."""
        return _first(self.description)

    def means(self, meaning: str) -> bool:
        """Whether a parameter is named for a meaning."""
        return any(re.search(_MEANT[meaning], name.casefold()) for name in self.parameters)

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
                arguments[name] = [value] if types(free.pop(name))[0] == "array" else value
        return call(self.name, **arguments, **{name: _plain(free[name]) for name in self.needed if name in free})

    def ask(self, query: str, task: str) -> ToolCall | None:
        """A call that looks something up: a needed parameter that says what it holds gets such a value, of what the
        query names beyond the task or of the task; any other the query. None where there is no such value."""
        values = {}
        for name in self.needed or tuple(self.parameters)[:1]:
            if holds := _holds(name, self.parameters[name]):
                further = [value for value in held(holds, query) if value not in task]
                values[name] = (*further, *held(holds, task), None)[0]
        if None in values.values():
            return None
        known = {name: about for name, about in self.parameters.items() if name not in values}
        needed = tuple(name for name in self.needed if name in known)
        rest = replace(self, parameters=known, needed=needed)
        asked = rest.call(query=query if needed or not values else None)
        return call(self.name, **{**values, **asked.function.parsed})

    def fit(self, task: str) -> float:
        """How well what the tool says of itself fits a task: the words that they share; 0.5 for one of no subject."""
        said = f"{_words(self.name)} {self.says}"
        return len(stems(said) & stems(task)) or 0.5 * bool(_GENERAL.search(said))


def held(kind: str, text: str) -> list[str]:
    """What a text names that a parameter may hold: things written in a form, dates, or names of that kind, which
    neither their own words nor the word before contradicts."""
    if kind == "time":
        return ["-".join(f"{part:02}" for part in day[:3] if part) for day in dates.find(text)]
    if kind in _FORMS:
        return [found for found in re.findall(_FORMS[kind], text) if not lexicon.is_common(found)]
    found = []
    for start, _, name in name_spans(text):
        first, *_, last = name.split() * 2
        other = "thing" if " " in name and lexicon.groups(lexicon.stem(last)) else ""
        own = {lexicon.kind_of(first), lexicon.kind_of(last) or other} - {""}
        where = {"place": _WHERE.search(text[:start]), "person": not _NOT_WHO.search(text[:start])}.get(kind, True)
        if where and (not own or kind in own or kind == "thing"):
            found.append(name)
    return found


def understand(spec: ToolSpec) -> Tool:
    """What a tool is for: the kind whose signs weigh most in its name, its parameters and its description."""
    function, schema = spec.function, spec.function.parameters
    known = {name: about if isinstance(about, dict) else {} for name, about in schema.get("properties", {}).items()}
    needed = tuple(name for name in schema.get("required") or () if name in known)
    spoken, given = _words(function.name), " ".join(map(_words, needed or known))
    first = _first(function.description)
    opening = " ".join(_LEAD.sub("", first).split()[:3])
    places = (_NAME, spoken), (_PARAMETER, given), (_FIRST_SENTENCE, first)
    weights = {kind: sum(worth for worth, text in places if pattern.search(text)) for kind, pattern in _KINDS.items()}
    typed = any(_holds(name, known[name]) for name in needed)
    if not _KINDS["fetch"].search(given) and any(_ADDRESS.search(about(known[name])) for name in needed):
        weights["fetch"] += _PARAMETER
    for kind in _LOOKING:
        weights[kind] += _OPENING * bool(_KINDS[kind].search(opening))
    weights["search"] += _OPENING * bool(typed and _GIVING.match(opening))
    if any(re.search(_MEANT["query"], name) for name in given.split()):
        weights["search"] += _PARAMETER
    weights["fields"] *= not needed
    if re.search(_MEANT["path"], given):  # what takes a path works on files, whatever its verb
        weights["search"] = weights["fetch"] = 0
    best = max(weights, key=lambda kind: weights[kind])
    kind = best if weights[best] >= _PARAMETER else "other"
    parameters = {name: known[name] for name in (*needed, *known)}
    return Tool(function.name, function.description, kind, schema, parameters, needed)


def kind_of(name: str) -> str:
    """What a tool is for by its name alone."""
    return understand(ToolSpec(function=FunctionSpec(name=name))).kind


def _first(description: str) -> str:
    """A description's first sentence, in lower case."""
    return re.split(r"(?<=[.!?。])\s|\n", description.strip(), maxsplit=1)[0].casefold()


def _holds(name: str, schema: Mapping[str, Any]) -> str:
    """What a text parameter holds by its name, else its description: a form, "time" or a kind of name; "" for a query,
    an address or whatever else."""
    if types(schema)[0] != "string" or schema.get("enum") or re.search(_MEANT["query"], name.casefold()):
        return ""
    if _ADDRESS.search(about(schema)):
        return ""
    for said in (_words(name), about(schema)):
        if re.search(_MEANT["query"], said):
            return ""
        if form := next((form for form in _FORMS if re.search(form, said)), ""):
            return form
        kinds = [kind for kind in map(lexicon.kind_of, re.findall(r"\w+", said)[:6]) if kind in (*_NAMED, "time")]
        if kinds := [kind for kind in kinds if kind != "thing"] or kinds:
            return kinds[0]
    return ""


def about(schema: Mapping[str, Any]) -> str:
    """A parameter's description, in lower case."""
    return str(schema.get("description", "")).casefold()


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.]+", " ", name).casefold()


def _takes(schema: Mapping[str, Any], value: str) -> bool:
    return value in schema["enum"] if schema.get("enum") else types(schema)[0] in ("string", "array")


def _plain(schema: Mapping[str, Any]) -> Any:
    """A value for a needed parameter that nothing speaks of: its default, its first option, its least value."""
    least = schema.get("minimum", 1)
    by_type = {"integer": least, "number": least, "boolean": False, "array": [], "object": {}}
    return schema.get("default", (schema.get("enum") or [by_type.get(types(schema)[0], "")])[0])


def types(schema: Mapping[str, Any]) -> list[str]:
    """The types that a parameter may have beside null; text where it states none."""
    kinds = schema.get("type") or [option.get("type") for option in schema.get("anyOf", ())]
    stated = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind not in ("null", None)]
    return stated or ["string"]
