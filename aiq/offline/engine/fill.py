"""Fills a schema from the request: every value is copied, counted or computed from it, null, or refused.

One recursion over the schema. Each object is about a thing of the request (`things`), the top one about the request
itself; a field is understood by its name, description, type and options (`fields`). A value is what the prompt states
under the field's name; otherwise booleans, numbers and options come from measures (`weigh`), and texts from the kind
of the field. Where no rule applies, the reader is asked. A value that is not found stays null, empty or absent; if
the schema forbids that, the whole reply is refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langchain_core.utils.json_schema import dereference_refs

from aiq.offline.engine import lexicon
from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.answer import Answer
from aiq.offline.engine.fields import asks, kind_of, meanings, phrase
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.lexicon import stem
from aiq.offline.engine.plan import Choose, Plan
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.question import parse
from aiq.offline.engine.read import Situation
from aiq.offline.engine.schema import Schema, as_schema, convert, fits, forms, from_prose, scaled, stated_options
from aiq.offline.engine.text import contains_name, sentences, stems, words
from aiq.offline.engine.things import Referents
from aiq.offline.engine.weigh import CITE, Referent, Weighing
from aiq.offline.engine.write import small_talk, write

_READER_KINDS = frozenset(("", "other", "entity", "date", "description", "answer"))
"""Kinds whose values come from the reader."""
_MAX_JUDGED_FIELDS = 4
"""The most fields of an object that judges what the prompt lists: its id, a score, a reason and one more."""
_SILENT = frozenset(("clarify", "gap", "conflict"))
"""Kinds for which an empty text means that there is nothing to say."""
_TELLING = _SILENT | {"query", "question", "section", "reason", "quote", "source", "date"}
"""Kinds of fields that show what an object is about."""
_PLACES = frozenset(("id", "dependency", "quote", "conflict", "source"))
"""Kinds that whole numbers identify by position."""
_IDS = re.compile(r"(?:\b|_)ids?\b", re.IGNORECASE)
_COUNT = re.compile(
    r"^(?:num|number|count|total)\b|\b(?:count|total|processed|scanned|read|used|checked|limit)$|数量|总数"
)
_GRADES = {"low": 0.0, "middle": 0.5, "high": 1.0}
_NONE_FITS = 0.3
"""The weight of an option that nothing supports."""
_MIN_CONFIDENCE = 0.2
"""A value counts as not found if the reader's confidence is lower."""


class Unsupported(Exception):
    """The request gives no basis for a value that the schema requires; the message says which and why."""


def _is_count(name: str) -> bool:
    return _COUNT.search(phrase(name)) is not None


def _wants_ids(name: str, part: Schema) -> bool:
    """Whether a field is a list of ids."""
    form = forms(part)[0]
    return form["type"] == "array" and _IDS.search(f"{name} {form.get('description', '')}") is not None


def fill(wanted: Schema, situation: Situation, orders: Orders, choose: Choose | None = None) -> Any:
    """A value for the schema. Raises Unsupported if nothing supports a required field that may not be null. `choose`
    makes the tool calls that the schema may list."""
    try:
        root: Schema = dereference_refs(dict(wanted))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unsupported(f"The schema has a reference that leads nowhere: {error}.") from error
    return _Filler(root, situation, orders, choose).value(root, "", Referent())


class _Filler:
    """One filling: the request and what was read in it."""

    def __init__(self, root: Schema, situation: Situation, orders: Orders, choose: Choose | None) -> None:
        self.w = Weighing(situation, orders.ask)
        self.things = Referents(self.w, orders)
        self.plan = Plan(root, situation, orders, choose)
        self.fixed = dict(orders.fields)
        self.prompt = f"{root.get('description')}\n{situation.instructions}"
        self.shown: Schema = (from_prose(situation.instructions) or {}).get("properties", {})
        parts = root.get("properties", {})
        kinds = [kind_of(name) for name in parts]
        self.single = kinds.count("") == 1
        cites = CITE.search(f"{self.prompt} {parts}") and "source" not in kinds
        self.orders = orders if cites else replace(orders, cite="none", reference_heading=None)
        self.offered: set[str] = set()  # the options of the fields of the current object
        self.prefix = ""  # of ids, as in "task-1"

    def value(self, part: Schema, name: str, thing: Referent) -> Any:
        """A value for a part of the schema; `thing`: what the object containing it is about."""
        if name in self.fixed and fits(self.fixed[name], part):
            return self.fixed[name]
        fillers: dict[str, Callable[[Schema, str, Referent], Any]] = {"object": self._object, "array": self._array}
        failure = Unsupported(f"Nothing in the request supports {name or 'the reply'!r}.")
        for form in forms(part):
            try:
                result = fillers.get(form["type"], self._scalar)(form, name, thing)
            except Unsupported as error:
                failure = error
            else:
                if result is not None and fits(result, form):
                    return result
        silent = kind_of(name, str(as_schema(part).get("description"))) in _SILENT
        for fallback in (None, as_schema(part).get("default"), "" if silent else None):
            if fits(fallback, part):
                return fallback
        raise failure

    # objects and lists

    def _object(self, form: Schema, name: str, thing: Referent) -> dict[str, Any]:
        """Counts come last, as they count what other fields list. An object without fields maps each thing that the
        prompt lists to a value, or holds the arguments of a call."""
        parts: Mapping[str, Schema] = form.get("properties", {})
        value_schema = form.get("additionalProperties")
        if isinstance(value_schema, Mapping) and not parts:
            items = self.things.listed(name) or self.things.listed("id")
            return {str(item.record.get("id") or item.text): self.value(value_schema, name, item) for item in items}
        if thing.text and not parts:
            return {"query": thing.text} if re.search("arg|param|input", name) else {}
        out: dict[str, Any] = {}
        self.offered = set()
        for key in sorted(parts, key=_is_count):
            derived = self._derived_value(key, parts[key], out)
            try:
                out[key] = derived[0] if derived else self.value(parts[key], key, thing)
            except Unsupported:
                if key in form.get("required", ()):
                    raise
        return {key: out[key] for key in parts if key in out}

    def _derived_value(self, name: str, part: Schema, out: Mapping[str, Any]) -> list[Any]:
        """The value of a field, in a list, if fields filled before it determine it: a count of what another one lists,
        or of sources; null if it belongs to an option not chosen ("meta_reply" with "meta"). Otherwise empty."""
        term = phrase(name)
        if _is_count(name):
            lists = [
                v for k, v in out.items() if isinstance(v, list) and (stems(phrase(k)) & stems(term) or "limit" in term)
            ]
            return [*map(len, lists)] or ([len(self.w.sources)] if kind_of(name) == "source" else [])
        owners = self.offered & set(term.split())
        return [None] if owners and not owners & set(map(str, out.values())) and fits(None, part) else []

    def _array(self, form: Schema, name: str, thing: Referent) -> list[Any]:
        """One member for each thing that the prompt lists under the name, or that is found for the list's kind; those
        that cannot be filled are left out. The kind comes from the name, else a member's field, else the description.
        Small objects judge what the prompt lists under a field's name: `claim` and `verdict` with "Claims: ...";
        larger ones with a field for an area get a part of the task for each area listed.
        """
        items = form.get("items", True)
        parts = forms(items)[0].get("properties", {})
        member_kinds = [k for i, k in enumerate(map(kind_of, parts)) if k in _TELLING and not (i and k == "date")]
        default = "entity" if parts else "" if name else "query"
        kind = next(filter(None, (kind_of(name, str(form.get("description"))), *member_kinds)), default)
        for field in self.plan.naming(parts):
            return [self._call(parts, field, *step) for step in self.plan.calls(field)]
        least, most = self.things.bounds(name, form)
        keys = [k for k in parts if len(parts) <= _MAX_JUDGED_FIELDS and not _wants_ids(k, parts[k])]
        listed = next(filter(None, map(self.things.listed, keys)), None)
        areas = next(filter(None, (self.things.served(k) for k in parts if kind_of(k) == "facet")), None)
        out: list[Any] = []
        for member in listed or areas or self.things.of(kind, name, thing, least, most):
            with suppress(Unsupported):
                stated_id = member.record.get("id") if _wants_ids(name, form) else None
                value = stated_id or self.value(items, name if kind_of(name) else "", member)
                if value is not None and value not in out and len(out) < most:
                    out.append(value)
        return out

    def _call(
        self, parts: Mapping[str, Schema], field: str, name: str, args: Mapping[str, Any], dependencies: Sequence[int]
    ) -> dict[str, Any]:
        """A call in a plan: what is called, its arguments, what it waits for, and the object's other fields."""
        values: dict[str, Any] = {key: args for key in parts if re.search("arg|param|input", key)} | {field: name}
        values |= {key: [*dependencies] for key in parts if kind_of(key) == "dependency"}
        thing = Referent("step", self.w.task)
        return {key: values[key] if key in values else self.value(parts[key], key, thing) for key in parts}

    # single values

    def _scalar(self, form: Schema, name: str, thing: Referent) -> Any:
        """What the prompt states; else an option, a position in a list, a measure or a text. A field is described by
        its description, its value in the prompt's example, or the sentence that mentions it."""
        kind = form["type"]
        pattern = rf"\b{re.escape(phrase(name) or '-')}\b"
        context = (s for s in sentences(self.prompt) if re.search(pattern, s.split("{")[0], re.I) and not kind_of(name))
        about = str(form.get("description") or self.shown.get(name, {}).get("description") or next(context, ""))
        prose_options = stated_options(f"{form.get('pattern', '')} {about}") if kind == "string" else []
        options = [option for option in form.get("enum", prose_options) if option is not None]
        self.offered |= set(map(str, options))
        value = self._stated_value(name, thing)
        if value is not None:
            return {str(o).lower(): o for o in options}.get(value.lower()) if options else convert(value, form)
        if kind == "integer" and thing.text and kind_of(name) in {*_PLACES, thing.kind}:
            names = [source.name for source in self.w.sources]
            is_listed = thing.source is not None and thing.source.name in names
            return names.index(thing.source.name) + 1 if thing.source and is_listed else thing.number
        phrases = (phrase(name).replace("score", ""), about.split(".")[0], name)
        measure = self.w.measure(phrases, thing) if options or kind != "string" else None
        if options:
            return self._chosen(options, about, measure, thing)
        if measure is not None:
            return measure >= 0.5 if kind == "boolean" else scaled(measure, form, about)
        if (_is_count(name) and not self.w.given) or (kind != "string" and kind_of(name) not in _READER_KINDS):
            return None
        text = (self._text if kind == "string" else self._read)(form, name, about, thing)
        return convert(text, form) if text else None

    def _chosen(self, options: Sequence[Any], about: str, measure: float | None, thing: Referent) -> Any:
        """The option that weighs most, if anything supports it; a sentence that lists the options supports none."""
        w = self.w
        if not thing.text and (action := self.plan.action(list(map(str, options)))):
            return action
        texts = [thing.text] if thing.text else [w.task, w.draft, *(s.text for s in w.sources[:5])]
        names = [stems(phrase(str(option))) for option in options]
        bags = [bag for text in texts for bag in map(stems, sentences(text)) if sum(name <= bag for name in names) < 2]
        weights = [self._weight(str(option), about, measure, thing, frozenset().union(*bags)) for option in options]
        best = options[weights.index(max(weights))]
        return best if max(weights) > _NONE_FITS or len(options) == 1 else None

    def _stated_value(self, name: str, thing: Referent) -> str | None:
        """What the prompt's own record of the thing has under the name; or what "name: value" or "name is value" gives
        in the text to be repaired or read."""
        for key, value in thing.record.items():
            if phrase(key) == phrase(name):
                return str(value)
        texts = [self.w.draft, *(s.text for s in self.w.sources[:3] if not s.key)] if not thing.text else []
        label = re.escape(phrase(name) or "\0").replace(r"\ ", r"[\s_-]?")
        pattern = rf"(?:^|[{{,;])[\s>*\-\"'`]*{label}[\"'`*]*\s*[:：=]\s*[\"'`*]*([^\n\"}}]+?)[\"'`*,;. ]*"
        pattern += r"(?=$|[\n\"}]|[,;](?!\d))"
        pattern += rf"|\b{label} (?:is|was|are|were) ([^\n]+?)(?=[.,;!?](?:\s|$)|$)"
        match = re.search(pattern, "\n".join(texts), re.I | re.M)
        return (match[1] or match[2]).strip() if match else None

    def _weight(self, option: str, about: str, measure: float | None, thing: Referent, words: frozenset[str]) -> float:
        """How well an option applies. Grades, and yes and no: how close they are to what is measured. Else the measure
        that its words mean, or those of its description in schema or prompt. Else by those of its words among the
        request's `words` (0.4 to 0.9); 0.4 for "none of these"; 0.3 for any other."""
        w = self.w
        grade = (*meanings(option, "grades"), "")[0]
        if thing.kind in phrase(option).split():
            return 1.0
        if measure is not None and grade in _GRADES:
            return 1 - abs(measure - _GRADES[grade])
        label = rf"(?:^|[`'\"*\-•,;]\s*){re.escape(option)}[`'\"*]*\s*[:：=(–—-]\s*([^\n;]+)"
        description = (re.findall(label, f"{about}\n{self.prompt}", re.I | re.M) or [""])[0]
        value = w.measure((option, description.split(".")[0]), thing)
        if value is not None:
            return value
        hits = 3 * len(stems(phrase(option)) & words) + len(stems(description) & words)
        return min(0.9, 0.4 + 0.1 * hits) if hits or grade == "other" else _NONE_FITS

    def _text(self, form: Schema, name: str, about: str, thing: Referent) -> str | None:
        """A text of the kind that the name means: from the request, or from the thing that the object is about."""
        kind = kind_of(name, about) if name else thing.kind or "answer"
        texts = self.things.texts(thing)
        if kind in texts:
            return texts[kind] or None
        if kind == "answer" and about[-1:] not in ("?", "？"):
            return small_talk(self.w.task) if self.w.is_talk else write(self.w.situation, self.orders)
        if kind in ("id", "dependency"):
            shape = re.search(r"([a-zA-Z]{1,12}[_-]?)(?:\d|\\d|\[0)", f"{form.get('pattern')} {about}")
            self.prefix = shape[1] if shape else self.prefix
            return str(thing.record.get("id") or f"{self.prefix}{thing.number}")
        if kind in _READER_KINDS:
            return self._read(form, name, about, thing)
        return next((item.text for item in self.things.of(kind, name, thing)), None)

    def _read(self, form: Schema, name: str, about: str, thing: Referent) -> str | None:
        """The reader's value for what the field, or a description that is a question, asks about the thing or the given
        text, if its evidence is on topic. The answer to the task if a name or nothing else is wanted."""
        w = self.w
        own_answers = [w.found] if w.is_question and not thing.text else []
        if own_answers and kind_of(name) == "entity":
            questions = []
        elif about[-1:] in ("?", "？"):
            questions = [about]
        else:
            counted, zh = form["type"] in ("integer", "number"), w.situation.language == "zh"
            subject = thing.text or (w.theme if w.given else w.subject)
            questions = [q for s in (phrase(name), about) if s for q in asks(s, subject, counted=counted, chinese=zh)]
        for question in questions:
            answer = w.reads(question, [] if w.sources else w.given)
            if self._is_relevant(answer, name, question, thing):
                return answer.value
        answers = own_answers if self.single or not questions else ()
        return next((a.value for a in answers if a.value and a.confidence >= _MIN_CONFIDENCE), None)

    def _is_relevant(self, answer: Answer, name: str, question: str, thing: Referent) -> bool:
        """Whether the evidence is about the thing and has the field's head word, or the value has the right unit."""
        w = self.w
        evidence = "\n".join(f"{e.sentence} {e.source.title}" for e in answer.evidence)
        subject = "" if w.given and not thing.text else thing.text or w.subject
        foreign = stems(w.theme) - stems(w.given_text) if w.given else subject and not contains_name(evidence, subject)
        is_quote = answer.value == evidence.strip(" .。\n")
        if not answer.value or is_quote or foreign or contains_name(answer.value, thing.text or subject):
            return False
        ask = parse(question)
        unit = ask.units and any(re.search(ask.units, quantity.unit) for quantity in numbers(answer.value))
        head = [stem(word) for word in words(phrase(name)) if lexicon.kind_of(word) != "time"][-1:]
        analysed = analyse(evidence)
        on_topic = any(root in analysed.roots or lexicon.groups(root) & analysed.groups.keys() for root in head)
        return answer.confidence >= _MIN_CONFIDENCE and (bool(unit) or not head or on_topic)
