"""Filling a schema from the request: every value is copied, counted or computed from it, null, or refused.

A field is understood by its name, description, type and options: its kind says which things of the request it holds
(`things`), a measure (`weigh`) which of several values is right. What no rule gives is asked of the reader. What the
reader does not find stays null, empty or absent; where the schema forbids that, the whole is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aiq.offline.engine import dates, lexicon, schema
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation
from aiq.offline.engine.schema import Schema, asked_schema
from aiq.offline.engine.shape import scaled, shaped
from aiq.offline.engine.text import contains_name, sentences, stems
from aiq.offline.engine.things import Thing, Things, kind_of
from aiq.offline.engine.weigh import CITE, Weighing, meaning, meanings, spoken
from aiq.offline.engine.write import small_talk, write

_FACTS = frozenset(("claim", "quote", "source", "entity", "answer", "summary", "date", "description", "conflict", ""))
"""Kinds that say something of the world, which has to be found first."""
_ASIDE = frozenset(("query", "question", "section", "facet", "step", "gap", "constraint", "reason", "clarify"))
"""Kinds that say something of the request itself, and so does what stands inside them."""
_SILENT = frozenset(("clarify", "gap", "conflict"))
"""Kinds of which an empty text says that there is nothing to say."""
_ITSELF = frozenset(("description", "answer", "entity", "title", "claim", "facet", "step"))
"""Kinds that mean the thing itself inside an object about it: its text, name, title, description."""
_TELLING = (_FACTS | _ASIDE) - _ITSELF - {""}
"""Kinds of fields that tell what an object is about."""
_COUNT = re.compile(
    r"^(?:num|number|count|total)\b|\b(?:count|total|processed|scanned|read|used|checked|limit)$|数量|总数"
)
_STAGE = re.compile(r"status|state|agent|tool|action|stage|phase|next|mode|strateg|method", re.I)
"""Names of fields whose first option is right where nothing tells the options apart."""
_LADDER = ("low", "middle", "high")
_PLACES = frozenset(("id", "dependency", "quote", "conflict", "source"))
"""Kinds that whole numbers refer to by their place."""
_LEAST = 0.2
"""The reader's confidence below which a value counts as not found."""
_DEEPEST = 6
"""Lists within lists that are filled."""

__all__ = ["Unsupported", "asked_schema", "fill", "needs_evidence"]


class Unsupported(Exception):
    """The request does not support a value that the schema demands; the message says which and why."""


def needs_evidence(wanted: Schema, situation: Situation) -> bool:
    """Whether a field wants facts about the world, so that one searches before one replies. False for decisions about
    the request itself, and where the request brings the text to judge."""
    w = Weighing(situation)
    if w.draft or w.statement or w.is_talk:
        return False
    fields = dict(_fields(wanted))
    chosen = {
        word for part in fields.values() for word in re.findall(r"\w+", f"{part.get('enum')} {part.get('pattern')}")
    }
    plain = {n for n in fields if not re.search(r"'(?:enum|pattern)'|boolean", str(fields[n])) and not meaning(n)}
    return any(
        kind_of(n) in _FACTS and not chosen & set(spoken(n).split()) for n in plain if not _COUNT.search(spoken(n))
    )


def _fields(part: Mapping[str, Any]) -> Iterator[tuple[str, Schema]]:
    """All fields of a schema, with their schemas; not those of things that belong to the request itself."""
    for key, inner in part.items():
        if key == "properties":
            yield from inner.items()
        if isinstance(inner, Mapping) and kind_of(key) not in _ASIDE:
            yield from _fields(inner)


def fill(wanted: Schema, situation: Situation, orders: Orders) -> Any:
    """A value of the schema. Raises Unsupported where a required field that may not be null has no support."""
    return _Filler(wanted, situation, orders).value(wanted, "", None)


class _Filler:
    """One filling: the schema's root, the request, and what was read of it."""

    def __init__(self, root: Schema, situation: Situation, orders: Orders) -> None:
        self.root = root
        self.w = Weighing(situation, orders.ask)
        self.things = Things(self.w, orders)
        self.fixed = dict(orders.fields)
        self.prompt = f"{root.get('description')}\n{situation.instructions}"
        parts = root.get("properties") or {}
        self.single = [kind_of(name) for name in parts].count("") == 1
        cites = CITE.search(f"{self.prompt} {parts}") and "source" not in map(kind_of, parts)
        self.orders = orders if cites else replace(orders, cite="none", reference_heading=None)
        self.ids: dict[int, str] = {}
        self.depth = 0

    def value(self, part: Schema, name: str, thing: Thing | None) -> Any:
        """A value of a part of the schema; `thing`: what the object is about in which it stands."""
        whole = schema.resolve(part, self.root)
        if name in self.fixed and schema.fits(self.fixed[name], part, self.root):
            return self.fixed[name]
        for form in schema.branches(whole, self.root):
            found = form.get("const", None if form["type"] == "null" else self._of(form, name, thing))
            if found is not None and schema.fits(found, form, self.root):
                return found
        silent = kind_of(name, str(whole.get("description"))) in _SILENT and schema.fits("", part, self.root)
        if schema.fits(None, part, self.root) or silent or "default" in whole:
            return None if schema.fits(None, part, self.root) else whole.get("default", "")
        raise Unsupported(f"Nothing in the request supports {name or 'the reply'!r}.")

    def _of(self, form: Schema, name: str, thing: Thing | None) -> Any:
        kind = form["type"]
        if kind in ("object", "array"):
            return self._object(form, name, thing) if kind == "object" else self._array(form, name, thing)
        about = str(form.get("description") or "") or ("" if kind_of(name) else self._line_of(name))
        options = form.get("enum") or (schema.stated_options(about) if kind == "string" else ())
        if (stated := self._stated(name, thing)) is not None:
            return {str(o).lower(): o for o in options}.get(str(stated).lower()) if options else shaped(stated, form)
        if len(options) > 1:
            return self._option(options, name, about, thing)
        if kind == "integer" and thing is not None and kind_of(name) in {*_PLACES, thing.kind}:
            return self.w.sources.index(thing.source) + 1 if thing.source else thing.number
        value = self._measure(name, about, thing) if kind != "string" else None
        if value is not None:
            return value >= 0.5 if kind == "boolean" else scaled(value, form, about)
        words = self._text(form, name, about, thing) if kind == "string" else self._read(name, about, thing)
        return shaped(words, form) if words and not _COUNT.search(spoken(name)) else None

    def _line_of(self, name: str) -> str:
        """What the prompt says of a field: in its example, or the sentence with its name."""
        word = re.escape(spoken(name))
        example = re.search(rf"\"{re.escape(name)}\"\s*:\s*(.*?[^\W\d].*?)(?=,\s*\"|[}}\n])", self.prompt)
        told = (s for s in sentences(self.prompt) if name and re.search(rf"\b{word}\b", s.split("{")[0], re.I))
        return example[1] if example else next(told, "")

    # objects and lists

    def _object(self, form: Schema, name: str, thing: Thing | None) -> dict[str, Any]:
        """Counts come last, for they count what the other fields list. Fields that belong to another option than the
        one chosen beside them ("meta_reply" with "meta") are null."""
        properties: Mapping[str, Schema] = form.get("properties") or {}
        out: dict[str, Any] = {}
        options: set[Any] = set()
        for key in sorted(properties, key=lambda k: bool(_COUNT.search(spoken(k)))):
            part = schema.resolve(properties[key], self.root)
            belongs = options & set(spoken(key).split())
            options |= set(part.get("enum", ()))
            counted = self._counted(key, out)
            try:
                if belongs and not belongs & set(map(str, out.values())) and schema.fits(None, part, self.root):
                    out[key] = None
                else:
                    out[key] = self.value(part, key, thing) if counted is None else counted
            except Unsupported:
                if key in form.get("required", ()):
                    raise
        inner = form.get("additionalProperties")
        if isinstance(inner, Mapping) and not properties:
            listed = self.things.listed(name) or self.things.listed("id")
            return {str(t.record.get("id") or t.text): self.value(inner, name, t) for t in listed}
        if not properties and thing and re.search(r"arg|param|input", name):
            return {"query": thing.text}
        return {key: out[key] for key in properties if key in out}

    def _counted(self, name: str, out: Mapping[str, Any]) -> int | None:
        """A count of what another field of the same object lists, else of sources."""
        if not _COUNT.search(spoken(name)):
            return None
        about = stems(_COUNT.sub("", spoken(name)))
        bound = "limit" in spoken(name)
        lists = [v for k, v in out.items() if isinstance(v, list) and (bound or stems(spoken(k)) & about)]
        return len(lists[0]) if lists else len(self.w.sources) if kind_of(" ".join(about)) == "source" else None

    def _array(self, form: Schema, name: str, thing: Thing | None) -> list[Any]:
        """One member for each thing that the prompt lists to be judged, or that the list's kind finds; those that
        cannot be filled are left out. The kind is that of the name, else of the members' fields, else of the
        description."""
        items = schema.resolve(form.get("items") or {"type": "string"}, self.root)
        inner = [kind for kind in map(kind_of, items.get("properties") or {}) if kind in _TELLING]
        told = kind_of(" ".join(w for w in spoken(name).split() if kind_of(w) != "id"))
        told = "" if inner and told == "answer" else told
        kind = told or (*inner, kind_of("", f"{form.get('description')} {items.get('description')}"))[0]
        kind = kind or ("entity" if items.get("properties") else "" if name else "query")
        least, most = self.things.bounds(name, form)
        out: list[Any] = []
        self.depth += 1
        listed = self.things.judged(items) or self.things.of(kind, name, thing, least, most)
        for each in listed if self.depth < _DEEPEST else ():
            try:
                one = self.value(items, name if kind_of(name) else "", each)
            except Unsupported:
                continue
            if one is not None and one not in out and len(out) < most:
                out.append(one)
        self.depth -= 1
        return out

    # single values

    def _stated(self, name: str, thing: Thing | None) -> Any:
        """What the prompt's own record of the thing has under the name; what "name: value" or "name is value" says in
        the text to be repaired or read, or in the thing's source."""
        given = next((v for told, v in (thing.record if thing else {}).items() if spoken(told) == spoken(name)), None)
        bodies = [self.w.draft, *(s.text for s in self.w.sources[:3] if not s.key)] if thing is None else []
        bodies += [thing.source.text] if thing and thing.source else []
        label = r"[\s_-]?".join(map(re.escape, spoken(name).split())) or "(?!)"
        line = rf"(?:^|[{{,;])[\s>*\-\"'`]*{label}[\"'`*]*\s*[:：=]\s*[\"'`*]*([^\n\"}}]+?)[\"'`*,;. ]*(?=$|[\n\"}},;])"
        line += rf"|\b{label} (?:is|was|are|were) ([^\n]+?)(?=[.,;!?](?:\s|$)|$)"
        found = re.search(line, "\n".join(bodies), re.I | re.M) if given is None else None
        return (found[1] or found[2]).strip() if found else given

    def _measure(self, name: str, about: str, thing: Thing | None) -> float | None:
        """What a field means, measured: by its name, by its description where the name says nothing or only "score"."""
        named = meaning(name) and "score" not in spoken(name)
        told = name if named or not meaning(about.split(".")[0]) else about.split(".")[0]
        return self.w.measure(told, *((thing.text, thing.number) if thing else ()))

    def _option(self, options: Sequence[Any], name: str, about: str, thing: Thing | None) -> Any:
        """The option that weighs most; of grades, and of yes and no, the one that the field's measure reaches."""
        ranks = {o: rank[0][0] for o in options if (rank := meanings(str(o), "ladder")) and o is not None}
        value = self._measure(name, about, thing)
        if value is not None and len(ranks) > 1:
            order = sorted(ranks, key=lambda o: _LADDER.index(ranks[o]))
            return order[min(len(order) - 1, int(value * len(order)))]
        weights = [self._weight(str(option), about, thing) for option in options]
        certain = max(weights) > 0.3 or _STAGE.search(name)
        return options[weights.index(max(weights))] if certain else None

    def _weight(self, option: str, about: str, thing: Thing | None) -> float:
        """How far an option holds: the measure that its words mean, or those of its description in schema or prompt;
        else by its words in the request (0.4 to 0.9); an option for "none of these" 0.4; any other 0.3."""
        said = thing.text if thing else ""
        if thing and thing.kind in spoken(option).split():
            return 1.0
        label = rf"(?:^|[`'\"*\-•,;]\s*){re.escape(option)}[`'\"*]*\s*[:：=(–—-]\s*([^\n;]+)"
        line = re.search(label, f"{about}\n{self.prompt}", re.I | re.M)
        told = line[1] if line else ""
        known = option if meaning(option) else told.split(".")[0]
        value = self.w.measure(known, said)
        if value is not None:
            return value
        has = stems(said or "\n".join([self.w.task, self.w.draft, *(s.text for s in self.w.sources[:5])]))
        hits = 3 * len(stems(spoken(option)) & has) + len(stems(told) & has)
        return min(0.9, 0.4 + 0.1 * hits) if hits or meanings(option, "other") else 0.3

    def _text(self, form: Schema, name: str, about: str, thing: Thing | None) -> str | None:
        """A text of the kind that the name means: of the task, or of the thing in whose object the field stands."""
        w = self.w
        kind = kind_of(name, about) if name else "answer"
        if kind in ("reason", "language", "clarify"):
            asks = w.framed("meant", w.task) if w.vague else None
            return {"reason": w.reason(thing.text if thing else ""), "language": w.situation.language}.get(kind, asks)
        if kind in ("", "type"):
            return self._read(name, about, thing)
        if thing is not None:
            return self._of_thing(kind, form, name, about, thing)
        if kind in ("answer", "summary") and not about.endswith("?"):
            return small_talk(w.task) if w.is_talk else write(w.situation, self.orders)
        own = {"title": w.topic.title, "facet": w.topic.title, "step": w.task, "question": w.task}
        own |= {"entity": w.subject} if "name" in name else {}
        if kind in own or kind in ("answer", "date", "entity", "description"):
            return own.get(kind) or self._read(name, about, None)
        return next((t.text for t in self.things.of(kind, name, None)), None)

    def _of_thing(self, kind: str, form: Schema, name: str, about: str, thing: Thing) -> str | None:
        """A field of an object about a thing: its number, what its source says of itself, the thing itself."""
        source = thing.source
        if kind == "id" and not (source and re.search(r"doc|source|url", name)):
            shape = re.search(r"([a-zA-Z]{1,12}[_-]?)(?:\d|\\d|\[0)", f"{form.get('pattern')} {about}")
            return self.ids.setdefault(thing.number, f"{shape[1] if shape else ''}{thing.number}")
        if kind == "dependency":
            return self.ids.get(thing.number)
        if kind == "date" and thing.kind == "date":
            return next(thing.text[d.start : d.end] for d in dates.find(thing.text))
        if source and kind in ("source", "date", "title", "id") and thing.kind not in ("date", "entity"):
            return {"date": str(source.day or ""), "title": source.title}.get(kind, source.key) or None
        if kind == thing.kind or kind in _ITSELF or not name or (kind == "quote" and source):
            return thing.text
        if kind in ("date", "entity"):
            return self._read(name, about, thing)
        return next((t.text for t in self.things.of(kind, name, thing)), None)

    def _read(self, name: str, about: str, thing: Thing | None) -> str | None:
        """The reader's value for "<name> of <thing>", or for a description that asks; where the task asks for the name
        or the schema wants nothing else, the answer to the task."""
        w = self.w
        told = spoken(name)
        own = w.found.value if thing is None and w.found.confidence >= _LEAST else None
        if thing is None and w.is_question and (kind_of(name) == "entity" or stems(told) <= stems(w.task)):
            return own
        subject = thing.text if thing else w.subject
        way = "Who" if lexicon.kind_of(told.rpartition(" ")[2]) == "person" else "What"
        frame = "{1}的{0}是什么？" if w.chinese else way + " is the {0} of {1}?"
        asked = [frame.format(words, subject) for words in (told, about) if words]
        asked = [about] if about.endswith(("?", "？")) else asked
        for found in map(w.reads, asked):
            told = "\n".join(f"{e.sentence} {e.source.title}" for e in found.evidence)
            shown = thing is None or contains_name(told, subject)
            if shown and found.confidence >= _LEAST and not contains_name(found.value, subject):
                return found.value or None
        return own if self.single and w.is_question else None
