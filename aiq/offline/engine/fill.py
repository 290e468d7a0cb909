"""Filling a schema from the request: every value is copied, counted or computed from it, null, or refused.

A field is understood by its name, description, type and options: its kind says which things of the request it holds
(`things`: queries, sections, claims, sources, gaps ...), a measure (`weigh`) which of several values is right. What no
rule gives is asked of the reader ("<name> of <subject>"). What the reader does not find stays null, empty or absent;
where the schema forbids that, the whole is refused. A schema's own default is what it says to give for "not known".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aiq.offline.engine import lexicon, schema
from aiq.offline.engine.answer import answer
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation
from aiq.offline.engine.schema import Schema, asked_schema
from aiq.offline.engine.shape import as_number, identifier, scaled, shaped
from aiq.offline.engine.text import contains_name, names, sentences, stems
from aiq.offline.engine.things import Thing, Things, kind_of
from aiq.offline.engine.weigh import Weighing, backs, contrary, key, spoken, vocabulary
from aiq.offline.engine.write import small_talk, write

_ITSELF = frozenset(("description", "answer", "entity", "title", "claim", "facet", "step"))
"""Kinds that mean the thing itself inside an object about it: its text, name, title, description."""
_FACTS = frozenset(("claim", "quote", "source", "entity", "answer", "summary", "date", "description", "conflict", ""))
"""Kinds that say something of the world, which has to be found first."""
_SILENT = frozenset(("clarify", "gap", "conflict"))
"""Kinds of which an empty text says that there is nothing to say."""
_ASIDE = frozenset(("query", "question", "section", "facet", "step", "gap", "constraint", "reason", "clarify"))
"""Kinds that say something of the request itself, and so does what stands inside them."""
_COUNT = re.compile(
    r"^(?:num|number|count|total|n)\b|\b(?:count|total|processed|scanned|read|used|checked|found)$|数量|总数"
)
_RANK = re.compile(r"import|priorit|sever|relevan|urgen|rank|order|重要|优先|严重")
_ANY = ("What", "Where")
_ASKS = {"person": ("Who",), "place": ("Where",)}
"""The question words for what a noun stands for, tried in order."""
_CALLED = re.compile(r"(?:(?:entity|name|canonical|main|full|subject)\s*)+")
_STAGE = re.compile(r"status|state|agent|tool|action|stage|phase|next|mode|strateg|method", re.I)
_LIMIT = re.compile(r"\b(?:limit|max|maximum|concurren\w*|workers)\b")
_TEXT = 20_000
"""Characters of a text in which lines "name: value" are looked for."""
_LEAST = 0.2
"""The reader's confidence below which a value counts as not found."""
_TRUTH = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
_MENTIONS = re.compile(r"^(?:has|have|contains?|mentions?|includes?|is about)\s+")


__all__ = ["Unsupported", "asked_schema", "fill", "needs_evidence"]


class Unsupported(Exception):
    """The request does not support a value that the schema demands; the message says which and why."""


def needs_evidence(wanted: Schema, situation: Situation) -> bool:
    """Whether a field wants facts about the world, so that one searches before one replies. False for decisions about
    the request itself, and where the request brings the text to judge."""
    weighing = Weighing(situation)
    if weighing.draft or weighing.statement or weighing.is_talk:
        return False
    parts = [schema.resolve(part, wanted) for part in (wanted.get("properties") or {}).values()]
    options = [o for part in parts for o in part.get("enum") or ()]
    if wanted.get("type") == "array" and not (wanted.get("items") or {}).get("properties"):
        return False
    return _wants_facts(wanted, wanted, "", [str(o) for o in options])


def _wants_facts(part: Schema, root: Schema, name: str, options: Sequence[str]) -> bool:
    """`options`: those of the root; a field named after one ("meta_reply") is no fact about the world."""
    kind = kind_of(name)
    if kind in _ASIDE or any(o.lower() in spoken(name).split() for o in options):
        return False
    for form in schema.branches(schema.resolve(part, root), root):
        if form["type"] == "object":
            return any(_wants_facts(p, root, key_, options) for key_, p in (form.get("properties") or {}).items())
        items = form.get("items") or {}
        if form["type"] == "array" and (kind in _FACTS - {""} or _wants_facts(items, root, name, options)):
            return True
        if form["type"] == "string" and "enum" not in form and kind in _FACTS:
            return True
        if form["type"] in ("integer", "number") and kind == "" and Weighing.meaning(name) is None:
            return not (_COUNT.search(spoken(name)) or _RANK.search(name) or _LIMIT.search(name))
    return False


def fill(wanted: Schema, situation: Situation, orders: Orders) -> Any:
    """A value of the schema. Raises Unsupported where a required field that may not be null has no support."""
    return _Filler(wanted, situation, orders).value(wanted, "", None)


class _Filler:
    """One filling: the schema's root, the request, and what was read of it."""

    def __init__(self, root: Schema, situation: Situation, orders: Orders) -> None:
        self.root = root
        self.situation = situation
        self.orders = orders
        self.w = Weighing(situation)
        self.things = Things(self.w)
        self.ids: dict[int, Any] = {}
        self.facts = sum(kind_of(name) == "" for name in root.get("properties") or {})

    def value(self, part: Schema, name: str, thing: Thing | None) -> Any:
        whole = schema.resolve(part, self.root)
        forms = schema.branches(whole, self.root)
        for form in forms:
            if "const" in form:
                return form["const"]
            found = None if form["type"] == "null" else self._of(form, name, thing)
            if found is not None and schema.fits(found, form, self.root):
                return found
        if any(form["type"] == "null" for form in forms) or None in whole.get("enum", ()):
            return None
        if forms[0]["type"] == "string" and kind_of(name, str(whole.get("description") or "")) in _SILENT:
            return ""
        raise Unsupported(f"Nothing in the request supports {name or 'the reply'!r}.")

    def _of(self, form: Schema, name: str, thing: Thing | None) -> Any:
        kind, about = form["type"], str(form.get("description") or "") or self._told(name)
        if kind == "object":
            return self._object(form, name, thing)
        if kind == "array":
            return self._array(form, name, thing)
        if (given := self._given(name, form, thing)) is not None:
            return given
        if line := self._line(name, thing):
            return self._converted(line, form)
        if form.get("enum"):
            return self._option([o for o in form["enum"] if o is not None], name, about, thing)
        if kind == "boolean":
            return self._boolean(name, about, thing)
        return self._string(form, name, about, thing) if kind == "string" else self._number(form, name, about, thing)

    def _told(self, name: str) -> str:
        """What the prompt says of a field without a description: the sentence with its name and a scale."""
        if not name or kind_of(name):
            return ""
        told = [s.split("{")[0] for s in sentences(self.situation.instructions)]
        word = rf"\b{re.escape(spoken(name))}\b"
        return next((s for s in told if re.search(word, s, re.I) and re.search(r"\d", s)), "")

    # objects and lists

    def _object(self, form: Schema, name: str, thing: Thing | None) -> dict[str, Any] | None:
        """Counts come last, for they count what the other fields list."""
        properties: Mapping[str, Schema] = form.get("properties") or {}
        if not properties:
            return self._map(form, name, thing)
        out: dict[str, Any] = {}
        for key_ in sorted(properties, key=lambda k: bool(_COUNT.search(spoken(k)))):
            part = properties[key_]
            if key_ not in form.get("required", ()) and _LIMIT.search(spoken(key_)):
                continue
            try:
                if self._is_aside(key_, part, out):
                    out[key_] = None
                    continue
                counted = self._counted(key_, out)
                fits = counted is not None and schema.fits(counted, part, self.root)
                out[key_] = counted if fits else self.value(part, key_, thing)
                if thing is not None and kind_of(key_) == "id":
                    self.ids[thing.number] = out[key_]
            except Unsupported:
                if key_ in form.get("required", ()):
                    if "default" not in part:
                        raise
                    out[key_] = part["default"]
        return {key_: out[key_] for key_ in properties if key_ in out}

    def _is_aside(self, name: str, part: Schema, out: Mapping[str, Any]) -> bool:
        """Whether a nullable field belongs to another option than the one chosen beside it: by its name ("meta_reply"
        with "meta"), or by a line of the prompt that names both ("depth (research only)", "for `meta`, ...")."""
        if not schema.fits(None, part, self.root):
            return False
        told = spoken(name).split()
        lines = [
            s for s in self.situation.instructions.splitlines() if re.search(rf"\b(?:{told[-1]}|{name})\b", s, re.I)
        ]
        for other, chosen in out.items():
            whole = schema.resolve((self.root.get("properties") or {}).get(other, {}), self.root)
            options = [o for o in whole.get("enum", ()) if isinstance(o, str)]
            belongs = [o for o in options if o.lower() in told] or [
                o for o in options for s in lines
                if re.search(rf"\b{re.escape(o)} only\b|\b(?:for|if|when) [`'\"]?{re.escape(o)}\b", s, re.I)
            ]  # fmt: skip
            if belongs and chosen not in belongs:
                return True
        return False

    def _counted(self, name: str, out: Mapping[str, Any]) -> int | None:
        """A count of what another field of the same object lists, else of sources or calls."""
        told = spoken(name)
        if not _COUNT.search(told):
            return None
        about = {key(w) for w in _COUNT.sub("", told).replace(" of ", " ").split()}
        listed = next(
            (v for k, v in out.items() if isinstance(v, list) and {key(w) for w in spoken(k).split()} & about), None
        )
        if listed is not None:
            return len(listed)
        if kind_of(" ".join(about)) in ("source", "answer"):
            return len(self.w.sources)
        return len(self.situation.steps) if about & {"step", "call", "search", "iteration"} else None

    def _map(self, form: Schema, name: str, thing: Thing | None) -> dict[str, Any] | None:
        """An object with open keys: one for each thing that its name speaks of; a query for arguments."""
        inner = form.get("additionalProperties")
        if isinstance(inner, Mapping):
            listed = self.things.listed(name) or self.things.of(kind_of(name.split("_by_")[-1]), name, None, 0, 8)
            return {str(t.record.get("id") or t.text): self.value(inner, name, t) for t in listed}
        wants = thing is not None and re.search(r"arg|param|input", name)
        return {"query": thing.query or thing.text} if thing and wants else {}

    def _array(self, form: Schema, name: str, thing: Thing | None) -> list[Any] | None:
        items = schema.resolve(form.get("items") or {"type": "string"}, self.root)
        least, most = self.things.bounds(name, form)
        about = f"{form.get('description') or ''} {items.get('description') or ''}"
        kind = self.things.kind_of_items(name, about, items)
        out: list[Any] = []
        if items.get("type") == "integer" and kind in ("quote", "source", "conflict"):
            out = self._numbered(kind, thing)[:most]
            return out if len(out) >= form.get("minItems", 0) else None
        listed = self.things.named_by(items) or self.things.of(kind, name, thing, least, most)
        for each in listed:
            try:
                number = each.number if kind == "dependency" else len(out) + 1
                one = self.value(items, name if kind_of(name) else "", replace(each, number=number))
            except Unsupported:
                continue
            if one not in out and len(out) < most:
                out.append(one)
        return out if len(out) >= form.get("minItems", 0) else None

    def _numbered(self, kind: str, thing: Thing | None) -> list[int]:
        """The sources, counted from 1, with a sentence that supports a statement, or that contradicts it."""
        said = thing.text if thing else self.w.statement or self.w.draft or self.w.task
        speaks = contrary if kind == "conflict" else backs
        numbered = enumerate(self.w.evidence, 1)
        return [n for n, source in numbered if any(speaks(t, said) for t in sentences(source.text))]

    # what the prompt gives

    def _given(self, name: str, form: Schema, thing: Thing | None) -> Any:
        """What the prompt's own record of the thing has under the name."""
        record = thing.record if thing else {}
        same = next((v for k, v in record.items() if spoken(k) == spoken(name)), None)
        return same if same is not None and schema.fits(same, form, self.root) else None

    def _line(self, name: str, thing: Thing | None) -> str | None:
        """What "name: value" or "name is value" says, in the text to be repaired or read, in the thing's own source."""
        if not name or len(name) > 60:
            return None
        bodies = [self.w.draft, *(s.text for s in self.w.sources[:3] if not s.key)]
        bodies = [body[:_TEXT] for body in bodies] if thing is None else [thing.source.text] if thing.source else []
        label = r"[\s_-]?".join(map(re.escape, spoken(name).split()))
        line = rf"(?:^|[{{,;])[\s>*\-\"'`]*{label}[\"'`*]*\s*[:：=]\s*[\"'`*]*([^\n\"}}]+?)[\"'`*,;. ]*(?=$|[\n\"}},;])"
        line += rf"|\b{label} (?:is|was|are|were) ([^\n]+?)(?=[.,;!?](?:\s|$)|$)"
        return next(((m[1] or m[2]).strip() for body in bodies if (m := re.search(line, body, re.I | re.M))), None)

    def _converted(self, text: str, form: Schema) -> Any:
        """A text as the type wants it: a number, a truth value, an option; None where it is none."""
        if form["type"] == "boolean":
            return _TRUTH.get(text.lower())
        if form["type"] in ("integer", "number"):
            return as_number(text, form["type"])
        if form.get("enum"):
            return next((o for o in form["enum"] if isinstance(o, str) and o.lower() == text.lower()), None)
        return None if text.lower() in ("null", "none") else shaped(text, form)

    # single values

    def _boolean(self, name: str, about: str, thing: Thing | None) -> bool | None:
        """By the measure that the name means, else the description; else whether the material mentions what the name
        says; else by a yes or no of the reader."""
        said = thing.text if thing else ""
        value = self.w.of_field(name, about, said)
        if value is not None:
            return value >= 0.5
        told = spoken(name)
        if _MENTIONS.match(told):
            return stems(_MENTIONS.sub("", told)) <= stems(said or self.w.material)
        subject = said or self.w.subject
        found = self._read_as(about if about.endswith("?") else f"Is {subject} {told.removeprefix('is ')}?")
        return _TRUTH.get(found.lower()) if found else None

    def _option(self, options: Sequence[Any], name: str, about: str, thing: Thing | None) -> Any:
        """The option that weighs most. Yes and no are truth values; of grades (low, medium, high) the one counts that
        the field's measure reaches, in equal steps; of stages, agents and tools that nothing tells apart the first."""
        texts = [str(o).lower() for o in options]
        if set(texts) <= {*_TRUTH, "unknown", "unclear"} and (decided := self._boolean(name, about, thing)) is not None:
            return next((o for o, t in zip(options, texts, strict=True) if _TRUTH.get(t) is decided), None)
        languages = vocabulary("words")["languages"].split("|")
        if kind_of(name) == "language":
            return next(
                (o for o, t in zip(options, texts, strict=True) if t in languages[self.w.chinese].split()), None
            )
        ranks = [listed.split() for listed in vocabulary("words")["grades"].split("|")]
        grades = [next((g for g, listed in enumerate(ranks) if spoken(t) in listed), None) for t in texts]
        if None not in grades and (value := self._grade(name, about, thing)) is not None:
            order = sorted(range(len(texts)), key=lambda n: grades[n] or 0)
            return options[order[min(len(order) - 1, int(value * len(order)))]]
        weights = [self._weight(t, about, thing) for t in texts]
        best = max(weights)
        certain = best > 0.3 or len(options) == 1 or _STAGE.search(name)
        return options[weights.index(best)] if certain else None

    def _grade(self, name: str, about: str, thing: Thing | None) -> float | None:
        """The field's measure; where it has none, things of a list fall off by their order."""
        if thing is not None and _RANK.search(name) and self.w.measure(name, thing.text) is None:
            return max(0.0, 1 - (thing.number - 1) / 3)
        return self.w.of_field(name, about, thing.text if thing else "")

    def _weight(self, option: str, about: str, thing: Thing | None) -> float:
        """How far an option holds: the measure that its words mean, or those of its description in schema or prompt;
        else by its words in the request (0.4 to 0.9); an option for "none of these" 0.4; any other 0.3. The option
        that the prompt wants in doubt wins a tie."""
        said = thing.text if thing else ""
        texts = (about, self.situation.instructions)
        line = re.compile(rf"(?:^|[`'\"*\-•,;]\s*){re.escape(option)}[`'\"*]*\s*[:：=(–—-]\s*([^\n;]+)", re.I | re.M)
        told = next((m[1] for text in texts if (m := line.search(text))), "")
        value = self.w.measure(thing.kind if thing and thing.kind in spoken(option).split() else option, said)
        if value is None and told:
            value = self.w.measure(told.split(".")[0], said)
        if value is None:
            has = stems(said or self.w.material)
            hits = 3 * len(stems(spoken(option)) & has) + len(stems(told) & has)
            other = {key(w) for w in spoken(option).split()} & {key(w) for w in vocabulary("words")["fallback"].split()}
            value = min(0.9, 0.4 + 0.1 * hits) if hits else 0.4 if other else 0.3
        doubt = rf"(?:unsure|tie|otherwise|default|in doubt|missing)[^.\n]{{0,40}}\b{re.escape(option)}\b"
        return value + 0.01 * bool(re.search(doubt, "\n".join([*texts, str(self.root.get("description"))]), re.I))

    def _number(self, form: Schema, name: str, about: str, thing: Thing | None) -> float | int | None:
        told = spoken(name)
        if thing is not None and thing.kind == "figure":
            return as_number(thing.text, str(form["type"]))
        if thing is not None and kind_of(name) == "dependency":
            return int(self.ids.get(thing.number, thing.number - 1))
        if thing is not None and form["type"] == "integer" and kind_of(name) in ("id", thing.kind):
            return thing.number
        if thing is not None and _RANK.search(told):
            top = form.get("maximum", 5)
            first = re.search(r"high\w* (?:is |= ?)?(?:first|most)|(?:5|10) (?:is |= ?)?(?:the )?(?:high|most)", about)
            return int(max(form.get("minimum", 1), top + 1 - thing.number) if first else min(thing.number, top))
        value = self.w.of_field(name, about, thing.text if thing else "")
        if value is not None:
            return scaled(value, form, about)
        if _LIMIT.search(told):
            return self.orders.most_at_once or len(self.things.of("step", "", None, 0, 8))
        found = [] if _COUNT.search(told) else self._readings(name, about, thing)
        return next((n for value in found if (n := as_number(value, str(form["type"]))) is not None), None)

    def _string(self, form: Schema, name: str, about: str, thing: Thing | None) -> str | None:
        if len(options := schema.stated_options(about)) > 1:
            return str(self._option(options, name, about, thing) or "") or None
        kind = kind_of(name, about) if name else "answer"
        if thing is not None and thing.kind == "section" and kind == "answer" and form.get("examples") == [""]:
            return ""
        if about.endswith(("?", "？")) and thing is None:
            found = self._read_as(about)
        else:
            found = self._by_kind(kind, form, name, about, thing)
        if not found and len(form.get("examples") or ()) > 1 and kind not in _FACTS - {""}:
            found = form["examples"][self._best_example(len(form["examples"]))]
        return shaped(found, form) if found else None

    def _best_example(self, count: int) -> int:
        """Of several replies that the prompt shows, the one whose texts share most words with the task."""
        shown = [part.get("examples") or [] for part in (self.root.get("properties") or {}).values()]
        told = [stems(" ".join(listed[n] for listed in shown if n < len(listed))) for n in range(count)]
        return max(range(count), key=lambda n: len(told[n] & stems(self.w.task)))

    def _by_kind(self, kind: str, form: Schema, name: str, about: str, thing: Thing | None) -> str | None:
        if kind == "language":
            known = vocabulary("words")["languages"].split("|")[self.w.chinese].split()
            return known[bool(re.search(r"name|full", about))]
        if kind == "reason":
            return self._reason(thing)
        if thing is None:
            return self._of_task(kind, form, name, about)
        if kind in ("id", "dependency"):
            return identifier(form, name, thing) if kind == "id" else self.ids.get(thing.number)
        return self._of_thing(kind, name, about, thing)

    def _of_task(self, kind: str, form: Schema, name: str, about: str) -> str | None:
        """A field of the reply itself: the task, its title, its answer, what is read under the name."""
        w = self.w
        if kind in ("answer", "summary"):
            return self._answer(kind, form)
        if kind in ("title", "facet", "step", "question"):
            return w.topic.title if kind in ("title", "facet") else w.task
        if kind == "clarify":
            return self._clarification()
        if kind == "entity" and _CALLED.fullmatch(spoken(name)):
            return (*names(w.topic.subject), w.topic.subject)[0]
        if kind in ("", "type", "entity", "date", "description"):
            return self._read(name, about, None)
        return next((t.text for t in self.things.of(kind, name, None, 1, 1)), None)

    def _of_thing(self, kind: str, name: str, about: str, thing: Thing) -> str | None:
        """A field of an object about a thing: the thing itself, what its source says of itself, what is read of it."""
        s = thing.source
        own = (
            kind == "source"
            or (kind == "date" and thing.kind != "date")
            or (kind == "title" and thing.kind != "entity")
        )
        if s is not None and own:
            return {"source": s.key, "date": s.day.isoformat() if s.day else "", "title": s.title}[kind] or None
        if s is not None and thing.kind == "source":
            return (sentences(s.text) or ("",))[0]
        if kind in ("description", "claim", "title", "quote") and thing.kind in ("date", "figure"):
            return thing.query
        if kind == "description" and thing.kind == "entity":
            return next((t.text for t in self.things.claims(thing)), None)
        if kind == thing.kind or kind in _ITSELF or not name or (kind == "quote" and thing.kind == "claim" and s):
            return thing.text
        if kind in ("", "type", "date"):
            return self._read(name, about, thing)
        return next((t.text for t in self.things.of(kind, name, thing, 1, 1)), None)

    def _answer(self, kind: str, form: Schema) -> str | None:
        """The answer in prose as the prompt orders it; the value alone where only that fits."""
        w = self.w
        if w.is_talk:
            return small_talk(w.task)
        if form.get("maxLength", 1000) <= 60 and w.found.kind == "value":
            return w.found.value
        if kind == "summary" and w.ranked:
            return ("" if w.chinese else " ").join(e.sentence for e in w.ranked[:3])
        return write(self.situation, self.orders) or None

    def _clarification(self) -> str | None:
        w = self.w
        if w.said or not (w.rivals or w.vague):
            return None
        return (
            self.w.framed("which", ("，还是" if w.chinese else " or ").join(w.rivals))
            if w.rivals
            else self.w.framed("meant", w.task)
        )

    def _reason(self, thing: Thing | None) -> str:
        """What was read and counted, in a frame."""
        w = self.w
        if thing is not None and thing.source is not None:
            by = thing.source.title or thing.source.key
            return self.w.framed("stated", by) if by else thing.text
        if (w.draft or w.statement) and (w.faults or w.conflicts):
            return (*w.faults, *w.conflicts)[0]
        if thing is not None:
            return self.w.framed("asked", thing.text)
        if w.sources:
            return self.w.framed("spoken", len({e.source.key or e.source.text for e in w.ranked}), len(w.sources))
        return self.w.framed("talk") if w.is_talk else self.w.framed("parts", w.parts, w.topic.subject)

    def _read(self, name: str, about: str, thing: Thing | None) -> str | None:
        """The first of the reader's values that is no clause about the subject, else the first."""
        found = self._readings(name, about, thing)
        subject = thing.text if thing else self.w.subject
        return next((value for value in found if not subject or not contains_name(value, subject)), (*found, None)[0])

    def _readings(self, name: str, about: str, thing: Thing | None) -> list[str]:
        """The reader's values for "<name> of <thing>", for the description, and, where the task asks for the name or
        the schema wants nothing else, the answer to the task."""
        w = self.w
        told = spoken(name)
        own = [w.found.value] if thing is None and w.found.kind == "value" and w.found.confidence >= _LEAST else []
        if thing is None and stems(told) and stems(told) <= stems(w.task):
            return own
        subject = thing.text if thing else w.subject
        asked = [about] if about.endswith(("?", "？")) else []
        for words in () if asked else filter(None, (told, about)):
            ways = ("",) if w.chinese else _ASKS.get(lexicon.kind_of(words.split()[-1]), _ANY)
            asked += [_question(way, words, subject) for way in ways] if subject else [words]
        found = [self._read_as(question, subject if thing else "") for question in asked]
        only = own if (self.facts == 1 or kind_of(name) == "entity") and w.is_question else []
        return [*filter(None, found), *only]

    def _read_as(self, question: str, subject: str = "") -> str | None:
        """The reader's value for a question, shown by a sentence (or a page) that names the subject."""
        found = answer(question, self.w.sources, self.w.now)
        shown = not subject or any(contains_name(f"{e.sentence} {e.source.title}", subject) for e in found.evidence)
        return found.value if found.kind == "value" and shown and found.confidence >= _LEAST else None


def _question(way: str, words: str, subject: str) -> str:
    return f"{way} is the {words} of {subject}?" if way else f"{subject}的{words}是什么？"
