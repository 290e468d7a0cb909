"""The things of a request that a list may hold: queries, questions, sections, claims, sources, gaps, entities ...

A list is filled with what the prompt itself lists under its name, else with what its kind finds in task and material.
Nothing is made up: a thing's text is copied, or framed as stated here.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aiq.offline.engine import dates, material, research
from aiq.offline.engine.answer import Evidence, rank
from aiq.offline.engine.clauses import amounts, clauses
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Source
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.text import names, sentences, stems, words
from aiq.offline.engine.weigh import Weighing, backs, contrary, meanings, spoken

MOST = 8
"""Members of a list where neither schema nor prompt says how many."""
_JUDGED = 4
"""Fields at most of an object that judges a record: its id, a score, a reason and one more."""
_FIRST = ("clarify", "gap", "conflict", "dependency", "constraint")
"""Kinds that one word of a name settles, wherever it stands; else the last word with a kind counts."""
_CHANGE = re.compile(
    r"(?:(add|include|also cover|增加|添加|加上)|drop|remove|skip|leave out|without|删除|去掉|不要)\W+"
    r"(?:(?:an?|the|sections?|chapters?|on|about|parts?|一[章节个]|关于)\s*)*([^.,;。，；]+)", re.I,
)  # fmt: skip
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(.+)$", re.M)
_NOWHERE = Source("")
_ASIDE = frozenset(("new", "relevant", "key", "original", "by", "coverage", "score", "confidence"))
"""Words of a name that do not say what is listed."""


@dataclass(frozen=True)
class Thing:
    """What an object of the reply is about. `number` counts from 1; `record`: what the prompt itself gives of it."""

    kind: str
    text: str
    number: int = 1
    source: Source | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


def kind_of(name: str, description: str = "") -> str:
    """What a field of this name holds, or ""; the description counts where the name says nothing."""
    told, more = ([kind for kind, _ in meanings(text, "kinds")] for text in (spoken(name), description[:200]))
    if "clarify" in more and "question" in told:
        return "clarify"
    return next((kind for kind in _FIRST if kind in told), told[-1] if told else (*more, "")[0])


class Things:
    """The things of one request."""

    def __init__(self, weighing: Weighing, orders: Orders) -> None:
        self.w = weighing
        self.orders = orders

    def judged(self, items: Schema) -> list[Thing]:
        """What the prompt lists and each member judges: `claim` and `verdict` with "Claims: ...", `id` and `score`."""
        parts: Mapping[str, Schema] = items.get("properties") or {}
        judges = len(parts) <= _JUDGED and re.search(r"enum|boolean|number|integer|array", str(parts.values()))
        named = (self.listed(name) for name, part in parts.items() if judges and "enum" not in part)
        return next(filter(None, named), [])

    def of(self, kind: str, name: str, about: Thing | None, least: int = 1, most: int = 1) -> list[Thing]:
        """Those of a kind, in order; `about`: the thing in whose object the list stands, to which they must relate."""
        w = self.w
        kind = {"quote": "claim", "summary": "claim", "answer": "claim", "step": "question"}.get(kind, kind)
        about = about or (Thing("claim", w.statement) if w.statement else None)
        if kind == "dependency":
            return [Thing(kind, "", n + 1) for n in w.depends(about.number - 1)] if about else []
        if given := self.listed(name):
            return [t for t in given if about is None or stems(t.text) & stems(about.text)]
        ranked = self._about(about) if about else w.ranked
        makers: dict[str, Callable[[], Iterable[str | Evidence]]] = {
            "query": lambda: self._queries(least),
            "question": lambda: [f"{facet} ({w.topic.subject})?" for facet in w.facets] or [w.task],
            "facet": lambda: w.facets or [w.topic.title],
            "section": lambda: self._sections(least, most),
            "gap": lambda: self._gaps,
            "keyword": lambda: names(w.subject) or words(w.subject),
            "entity": lambda: self._entities(""),
            "": lambda: self._entities(spoken(name)),
            "claim": lambda: ranked or sentences(w.draft),
            "date": lambda: (e for e in ranked if dates.find(e.sentence)),
            "conflict": lambda: (e for e in w.evidence if contrary(e.sentence, about.text)) if about else w.conflicts,
            "source": lambda: [*ranked, *([] if about else w.evidence)],
        }
        told: dict[str, Evidence] = {}
        for evidence in makers.get(kind, tuple)():
            one = Evidence(evidence, _NOWHERE, 0.0) if isinstance(evidence, str) else evidence
            told.setdefault(one.source.key if kind == "source" else one.sentence, one)
        told.pop("", None)
        found = [
            Thing(kind, e.sentence, n, e.source if e.source.text else None) for n, e in enumerate(told.values(), 1)
        ]
        if about is None or about.kind == kind or kind in ("claim", "date", "conflict", "source"):
            return found
        near = [t for t in found if (stems(t.text) - stems(w.topic.subject)) & stems(about.text)]
        itself = [about] if kind in ("query", "question", "keyword") and about.kind != "section" else []
        return near or (found if kind == "section" else itself)

    def bounds(self, name: str, form: Schema) -> tuple[int, int]:
        """How many members: of the schema, and of what prompt and user say ("5 to 8 sections", "at most 3 queries")."""
        least, most = form.get("minItems", 0), form.get("maxItems", 0)
        unit = re.sub(r"(?:ies|s|y)$", "", (spoken(name).split() or ["queries"])[-1])
        for clause in clauses(f"{self.w.situation.instructions}\n{self.w.task}\n{self.w.said}"):
            for (low, high), _ in amounts(clause, unit + r"\w*"):
                least, most = low or least, min(high or most, most or high or 0)
        return least, max(most or max(MOST, least), least)

    # what the prompt gives

    def listed(self, name: str) -> list[Thing]:
        """What the prompt lists under a name, in JSON or by numbers: "Sub-questions: [...]" for `sub_questions`; for a
        bare `id` the records that have one. Of a record its longest text counts."""
        wanted = stems(" ".join(word for word in spoken(name).split() if kind_of(word) != "id" and word not in _ASIDE))
        blocks = self.w.situation.blocks
        named = (b.text for b in blocks if (stems(spoken(b.label)) & wanted if name != "id" else '"id"' in b.text))
        text = next(named, "")
        values = _NUMBERED.findall(text) or (material.parsed(text) or [[]])[0]
        found = []
        for number, item in enumerate(values if isinstance(values, list) else (), 1):
            record = item if isinstance(item, Mapping) else {"": item}
            texts = [str(value) for key, value in record.items() if key != "id"]
            found.append(Thing("claim", max(texts, key=len, default=""), number, None, record))
        return found

    # what is found

    def _queries(self, least: int) -> list[str]:
        w = self.w
        found = research.queries(w.topic)
        if w.is_question:
            found = [*w.found.missing, w.task.rstrip("?？. "), w.topic.subject]
        elif w.sources:
            gaps = [gap.query for gap in research.gaps(w.topic, w.sources, w.asked, w.now)]
            found = [*gaps, *(found if len(gaps) < least else ())]
        left = [q for q in found if q not in w.asked]
        return left if len(left) >= least else found

    def _sections(self, least: int, most: int) -> list[str]:
        """The sections of a plan that the user has seen, else the outline of the task, as the user changed them. Where
        more are wanted than the task has parts, its title and general headings come before the last."""
        w = self.w
        titles = list(w.situation.sections or research.outline(w.topic, max(least, 3), max(most, 3)))
        more = [w.topic.title, *w.framed("sections").split(", ")]
        titles[-1:-1] = more[: max(0, min(least, most) - len(titles))]
        titles = [t for t in titles if self.orders.conclusion or not research.CONCLUSION.search(t)]
        for add, what in _CHANGE.findall(w.said):
            titles = [t for t in titles if not stems(t) & stems(what)]
            titles[-1:-1] = [what[:1].upper() + what[1:]] if add else []
        return titles

    def _about(self, of: Thing) -> list[Evidence]:
        """The sentences of the sources that speak to a thing; to a statement, those that say the same."""
        if of.kind == "claim":
            own = [Evidence(of.text, of.source, 1.0)] if of.source else []
            return own or [e for e in self.w.evidence if backs(e.sentence, of.text)]
        return [e for e in rank(of.text, self.w.sources, self.w.now) if stems(of.text) & stems(e.sentence)]

    @cached_property
    def _gaps(self) -> list[str]:
        w = self.w
        unanswered = [w.task] * (w.found.kind == "none") if w.is_question else w.open_facets
        return w.faults if w.draft else [w.framed("nothing", t) if t != w.task else t for t in unanswered]

    def _entities(self, among: str) -> Sequence[Evidence | str]:
        """The names in the sentences that speak to the task and have a word; of the task, where there is nothing."""
        shown = [e for e in self.w.ranked if stems(among) <= stems(e.sentence)]
        found = [Evidence(name, e.source, e.score) for e in shown for name in research.things(e.sentence)]
        return found or [name for name in names(self.w.task) if not among]
