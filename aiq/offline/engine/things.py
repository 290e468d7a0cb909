"""The things of a request that a list may hold: queries, questions, sections, claims, sources, gaps, entities ...

A list is filled with those that the prompt itself gives under its name, else with those that its kind finds in task and
material. Nothing is made up: a thing's text is copied, or framed as stated here.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from aiq.offline.engine import dates, research
from aiq.offline.engine.answer import rank
from aiq.offline.engine.quantities import numbers
from aiq.offline.engine.read import Source
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.text import names, sentences, stems, words
from aiq.offline.engine.weigh import Weighing, backs, depends, key, meanings, spoken

MOST = 8
"""Members of a list where neither schema nor prompt says how many."""
_JUDGED = 4
"""Fields at most of an object that judges a record: its id, a score, a reason and one more."""
_FIRST = ("clarify", "gap", "conflict", "dependency", "constraint")
"""Kinds that one word of a name settles, wherever it stands; else the last word with a kind counts."""
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CONSTRAINT = re.compile(
    r"\b(?:must|only|at most|at least|no more than|up to|exclud\w+|except|do not|don't|avoid|within|without|limit\w*"
    r"|since \d|from \d{4}|before \d|after \d|in (?:english|chinese|german|french|spanish)|words)\b"
    r"|必须|只|不要|至少|至多|以内",
    re.I,
)
_CHANGE = re.compile(
    r"(?:(?P<add>add|include|also cover|增加|添加|加上)|drop|remove|skip|leave out|without|删除|去掉|不要)\W+"
    r"(?:(?:an?|the|sections?|chapters?|on|about|parts?|一[章节个]|关于)\s*)*(?P<what>[^.,;。，；]+)",
    re.I,
)
_LISTED = re.compile(r"(?:\"?([\w -]{2,40})\"?\s*[:：]\s*)?(?=\[\s*[{\"])")
_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+[a-z]{2,}\b", re.I)


@dataclass(frozen=True)
class Thing:
    """What an object of the reply is about. `number` counts from 1; `query` would find it; `record`: what the prompt
    gives of it."""

    kind: str
    text: str
    number: int = 1
    query: str = ""
    source: Source | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


def kind_of(name: str, description: str = "") -> str:
    """What a field of this name holds, or ""; the description counts where the name says nothing."""
    told, more = meanings(spoken(name), "kinds"), meanings(description[:200], "kinds")
    if not told:
        return next(iter(more), "")
    if told[-1] == "keyword" and "query" in told:
        return "query"
    told = ["clarify", *told] if "clarify" in more and "question" in told else told
    return next((kind for kind in _FIRST if kind in told), told[-1])


class Things:
    """The things of one request."""

    def __init__(self, weighing: Weighing) -> None:
        self.w = weighing
        self.situation = weighing.situation

    def of(self, kind: str, name: str, about: Thing | None, least: int, most: int) -> list[Thing]:
        """Those of a kind, in order; `about`: the thing in whose object the list stands, to which they must relate."""
        if kind == "dependency":
            return self._before(about) if about else []
        if given := self.listed(name):
            return [t for t in given if about is None or stems(t.text) & stems(about.text)]
        makers: dict[str, Callable[[], Sequence[Thing]]] = {
            "query": self._queries, "question": self._questions, "step": self._questions, "facet": self._facets,
            "section": lambda: self._sections(least, most), "claim": self.claims, "quote": self.claims,
            "source": self._sources, "gap": self._gaps, "keyword": self._keywords, "entity": self._entities,
            "conflict": lambda: _listed("conflict", self.w.conflicts), "summary": self.claims, "answer": self.claims,
            "agent": list, "figure": self._figures, "date": self._dates,
            "domain": lambda: _listed("domain", _HOST.findall(self.w.task)),
            "constraint": lambda: _listed("constraint", filter(_CONSTRAINT.search, sentences(self.w.task))),
        }  # fmt: skip
        if about is not None and kind in ("claim", "quote", "source", "date"):
            shown = self.claims(about)
            return [t for t in self._sources() if t.source in [s.source for s in shown]] if kind == "source" else shown
        found = list(makers[kind]()) if kind in makers else self._members(name)
        if about is None or about.kind == kind:
            return found
        near = [t for t in found if (stems(t.text) - stems(self.w.topic.subject)) & stems(about.text)]
        itself = (
            [replace(about, kind=kind)] if kind in ("query", "question", "keyword") and about.kind != "section" else []
        )
        return near or itself or found * (kind == "section")

    def bounds(self, name: str, form: Schema) -> tuple[int, int]:
        """How many members: of the schema, and of what prompt and user say ("5 to 8 sections", "at most 3 queries")."""
        least, most = form.get("minItems", 0), form.get("maxItems", 0)
        noun = (spoken(name).split() or ["queries"])[-1]
        figure = rf"(\d+|{'|'.join(_NUMBERS[1:])})"
        said = re.compile(
            rf"(?:(at most|up to|no more than|maximum of|at least)\s+)?{figure}(?:\s*(?:-|–|to|or)\s*{figure})?\s+"
            rf"(?:[\w-]+\s+){{0,3}}?{re.escape(re.sub(r'(?:ies|s|y)$', '', noun))}",
            re.I,
        )
        for match in said.finditer(f"{self.situation.instructions}\n{self.w.task}\n{self.w.said}"):
            low, high = (_figure(g) for g in match.groups()[1:])
            word = (match[1] or "").lower()
            least, told = (low, high) if high else (low, 0) if word == "at least" else (0, low) if word else (low, low)
            most = min(told or most, most or told)
        return least, max(most, least) if most else max(MOST, least)

    def kind_of_items(self, name: str, about: str, items: Schema) -> str:
        """The kind of a list's members: by its name, else by their fields, else by its description."""
        kind = kind_of(name)
        if kind == "id":
            kind = next((k for w in spoken(name).split() if (k := kind_of(w)) not in ("id", "")), kind)
        if kind in ("", "answer") and (fields := items.get("properties")):
            inner = [k for f in fields if (k := kind_of(f)) not in ("", "id", "title", "description", "type", "answer")]
            return inner[0] if inner else kind or "entity"
        return kind or kind_of("", about) or ("" if name else "query")

    # what the prompt gives

    @cached_property
    def _given(self) -> list[tuple[str, list[Any]]]:
        """The JSON lists and numbered lists of the prompt's material, with the label that each has."""
        found: list[tuple[str, list[Any]]] = []
        told = [(b.label, b.text) for b in self.situation.blocks]
        told += [("", m.text) for m in self.situation.request.messages if m.role == "user"]
        for label, text in told:
            for match in _LISTED.finditer(text[:60_000]):
                try:
                    found.append((match[1] or label, json.JSONDecoder().raw_decode(text, match.end())[0]))
                except ValueError:
                    continue
            numbered = re.findall(r"^\s*\d+[.)]\s+(.+)$", text, re.M)
            found += [(label, numbered)] if label and numbered else []
        return found

    def listed(self, name: str) -> list[Thing]:
        """What the prompt lists under a name: "Sub-questions: [...]" for `sub_questions`."""
        aside = {"new", "relevant", "key", "original", "by", "coverage", "score", "confidence"}
        wanted = {key(w) for w in spoken(name).split()} - aside
        listed = next((v for label, v in self._given if {key(w) for w in spoken(label).split()} & wanted), [])
        return [t for n, v in enumerate(listed, 1) if (t := _given_thing(kind_of(name) or "claim", v, n))]

    def named_by(self, items: Schema) -> list[Thing]:
        """What the prompt lists and each member is about: by a number or id (`sentence_index` with "Sentences: ...")
        or, where members are judged, by its name (`claim` and `verdict` with "Claims: ...") or by its records' ids."""
        parts: Mapping[str, Schema] = items.get("properties") or {}
        scored = any(p.get("type") in ("boolean", "number", "integer") for p in parts.values())
        judged = scored or any("enum" in p for p in parts.values())
        for name, part in parts.items():
            counted = part.get("type") == "integer" or kind_of(name) == "id"
            bare = " ".join(w for w in spoken(name).split() if w != "number" and kind_of(w) != "id")
            named = part.get("type") in ("integer", "string") and (counted or (judged and "enum" not in part))
            listed = self.listed(bare) if named and bare else []
            if not listed and scored and counted and not bare and len(parts) <= _JUDGED:
                records = (v for _, v in self._given if all(isinstance(r, dict) and "id" in r for r in v))
                listed = [t for n, r in enumerate(next(records, ()), 1) if (t := _given_thing("claim", r, n))]
            if listed:
                return listed
        return []

    # what is found

    def _before(self, of: Thing) -> list[Thing]:
        earlier = depends(self.w.topic, of.number - 1) if of.number <= len(self.w.topic.facets) else []
        return [Thing("dependency", "", n + 1) for n in earlier]

    def _queries(self) -> list[Thing]:
        w = self.w
        if w.is_question:
            found = [*w.found.missing, w.task.rstrip("?？. "), w.topic.subject]
        elif w.sources:
            found = [gap.query for gap in research.gaps(w.topic, w.sources, w.asked, w.now)]
        else:
            found = research.queries(w.topic)
        return _listed("query", (q for q in found if q not in w.asked))

    def _questions(self) -> list[Thing]:
        """The facets as questions, "facet (subject)?"; a single question as it is."""
        w = self.w
        if w.is_question or not w.topic.facets:
            return [Thing("question", w.task, 1, w.task)]
        return [replace(t, kind="question", text=f"{t.text} ({w.topic.subject})?") for t in self._facets()]

    def _facets(self) -> list[Thing]:
        topic = self.w.topic
        found = [Thing("facet", f.title, n, f"{topic.subject} {f.title}") for n, f in enumerate(topic.facets, 1)]
        return found or [Thing("facet", topic.title, 1, topic.subject)]

    def _sections(self, least: int, most: int) -> list[Thing]:
        """The sections of a plan that the user has seen, else the outline of the task, as the user changed them. Where
        more are wanted than the task has parts, its title and general headings come before the last."""
        titles = list(self.situation.sections or research.outline(self.w.topic, max(least, 3), most))
        more = [self.w.topic.title, *self.w.framed("sections").split(", ")]
        titles[-1:-1] = more[: max(0, min(least, most) - len(titles))]
        for change in filter(None, map(_CHANGE.search, sentences(self.w.said))):
            what = change["what"][:1].upper() + change["what"][1:]
            titles = [t for t in titles if not stems(t) & stems(what)]
            titles[-1:-1] = [what] if change["add"] else []
        while len(titles) > most > 1:
            titles.pop(-2)
        return _listed("section", titles)

    def claims(self, of: Thing | None = None) -> list[Thing]:
        """Sentences of the sources that speak to the task or the thing, best first; the draft's where it is all there
        is to read."""
        if of is not None and of.kind == "claim":
            return [of] if of.source else self._backing(of)
        w = self.w
        ranked = w.ranked if of is None else rank(of.query or of.text, w.sources, w.now)
        shown = [e for e in ranked if of is None or stems(of.text) & stems(e.sentence)]
        found = [Thing("claim", e.sentence, n, e.sentence, e.source) for n, e in enumerate(shown, 1)]
        return found or (_listed("claim", sentences(w.draft)) if of is None else [])

    def _backing(self, of: Thing) -> list[Thing]:
        """The sentences of the sources that say what a statement says."""
        told = [(s, source) for source in self.w.evidence for s in sentences(source.text) if backs(s, of.text)]
        return [Thing("claim", s, n, s, source) for n, (s, source) in enumerate(told, 1)]

    def _sources(self) -> list[Thing]:
        cited = [e.source for e in self.w.ranked]
        ordered = sorted(
            (s for s in self.w.sources if s.key), key=lambda s: cited.index(s) if s in cited else len(cited)
        )
        return [Thing("source", s.key, n, s.title or s.key, s) for n, s in enumerate(ordered, 1)]

    def _gaps(self) -> list[Thing]:
        w = self.w
        if w.draft or (w.is_question and w.found.kind == "none"):
            faults = w.faults if w.draft else [w.task]
            return [Thing("gap", fault, n, (*w.found.missing, w.task)[0]) for n, fault in enumerate(faults, 1)]
        facets = [] if w.is_question else w.open_facets
        return [
            Thing("gap", w.framed("nothing", f.title), n, f"{w.topic.subject} {f.title}")
            for n, f in enumerate(facets, 1)
        ]

    def _keywords(self) -> list[Thing]:
        subject = self.w.topic.subject
        if self.w.sources and not names(subject):
            return [replace(t, kind="keyword") for t in self._entities()]
        single = [w for w in re.findall(r"\w+", subject) if words(w) and not any(w in n for n in names(subject))]
        return _listed("keyword", [*names(subject), *single])

    def _entities(self) -> list[Thing]:
        """The names in the sentences that speak to the task; those of the task where there is no material."""
        shown = [(n, e.source) for e in self.w.ranked for n in research.things(e.sentence)]
        shown = shown or [(n, Source(self.w.task)) for n in names(self.w.task)]
        found: dict[str, Source] = {}
        for name, source in shown:
            found.setdefault(name, source)
        return [Thing("entity", name, n, name, source) for n, (name, source) in enumerate(found.items(), 1)]

    def _dates(self) -> list[Thing]:
        told = [(d, e) for e in self.w.ranked for d in dates.find(e.sentence)]
        return [Thing("date", e.sentence[d.start : d.end], n, e.sentence, e.source) for n, (d, e) in enumerate(told, 1)]

    def _figures(self) -> list[Thing]:
        told = [(q, s) for source in self.w.sources[:5] for s in sentences(source.text) for q in numbers(s)]
        return [Thing("figure", q.text, n, s) for n, (q, s) in enumerate(told, 1)]

    def _members(self, name: str) -> list[Thing]:
        """Members of a class that the sources name behind its word ("the companies are ..."), else such sentences."""
        w = self.w
        wanted = stems(spoken(name))
        hits = [e for e in rank(f"{spoken(name)} {w.topic.subject}", w.sources, w.now) if wanted & stems(e.sentence)]
        behind = {e: re.split(rf"(?i)\b(?:{'|'.join(wanted)})\w*|{re.escape(name)}", e.sentence)[1:] for e in hits}
        named = {t: e for e, rest in behind.items() for t in research.things(" ".join(rest)) if t not in w.task}
        kind, found = ("entity", named) if named else ("claim", {e.sentence: e for e in hits})
        return [Thing(kind, text, n, text, e.source) for n, (text, e) in enumerate(found.items(), 1)]


def _figure(text: str | None) -> int:
    """A number in figures or in a word; 0 for none."""
    return _NUMBERS.index((text or "").lower()) if (text or "").lower() in _NUMBERS else int(text or 0)


def _listed(kind: str, texts: Any) -> list[Thing]:
    return [Thing(kind, text, n, text) for n, text in enumerate(dict.fromkeys(texts), 1)]


def _given_thing(kind: str, item: Any, number: int) -> Thing | None:
    """A member of a list of the prompt; of an object its longest text."""
    if isinstance(item, str):
        return Thing(kind, item, number, item)
    texts = [v for k, v in item.items() if isinstance(v, str) and k != "id"] if isinstance(item, Mapping) else []
    longest = max(texts, key=len, default="")
    return Thing(kind, longest, number, longest, record=item) if longest else None
