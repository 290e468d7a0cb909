"""The things that a reply is about: the request's queries, questions, sections, gaps, claims, sources, names ...

They are what the prompt itself lists under a field's name, or what is found for the field's kind in task and material.
Nothing is made up: the text of a thing is copied, or framed by `weigh.FRAMES`.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from aiq.offline.engine import dates, material, research
from aiq.offline.engine.clauses import amounts, clauses
from aiq.offline.engine.collected import Collected, titled
from aiq.offline.engine.evidence import Evidence
from aiq.offline.engine.fields import measure_of, phrase
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.question import parse
from aiq.offline.engine.schema import Schema
from aiq.offline.engine.source import Source
from aiq.offline.engine.text import contains_name, names, sentences, stems
from aiq.offline.engine.weigh import Referent, Weighing, agreement

MOST = 8
"""The most members of a list if neither schema nor prompt says how many."""
_SAME_MEMBERS = {"restated": "query", "quote": "claim", "answer": "claim", "step": "question", "name": "entity"}
"""Kinds whose lists have the same members."""
_ITSELF = ("description", "answer", "entity", "name", "title", "claim", "facet", "step")
"""Kinds that, inside an object about a thing, mean the thing itself: its text, name, title, description."""
_EXACT = re.compile(r"exact|verbatim|quoted|精确", re.I)
"""Names of fields for queries in quotation marks."""
_CHANGE = re.compile(
    r"(?:(add|include|also cover|增加|添加|加上)|drop|remove|skip|leave out|without|删除|去掉|不要)\W+"
    r"(?:(?:an?|the|sections?|chapters?|on|about|parts?|一[章节个]|关于)\s*)*([^.,;。，；]+)",
    re.IGNORECASE,
)
_IDENTIFIED = re.compile(r"^\W*(?P<id>[A-Za-z]{1,12}[_-]?\d{1,4}): (?P<text>.+)$", re.MULTILINE)
_HEADED_LIST = re.compile(r"(?m)^(?P<head>\S[^\n]{2,80}):\n(?P<items>(?:[-*•] \S.*(?:\n|$))+)")
"""A list after a line that says what it lists."""
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(.+)$", re.MULTILINE)


class Referents:
    """The things in one request."""

    def __init__(self, weighing: Weighing, orders: Orders) -> None:
        self.w = weighing
        self.orders = orders
        self.collected = Collected(weighing.situation)

    def texts(self, thing: Referent) -> dict[str, str]:
        """Texts about a thing and its source that need no search, by kind."""
        w = self.w
        info = {"reason": (*(w.faults if w.draft else ()), w.framed("asked", thing.text or w.task))[0]}
        if not thing.text:
            whole = not (w.facets and stems(w.topic.subject) - stems(w.subject))  # not of something that belongs to it
            info |= {"name": (*names(w.subject), "")[0] if whole else "", "language": w.situation.language}
            info["restated"] = w.restated
            info["clarify"] = w.framed("meant", w.task) if w.vague else ""
            return info | dict.fromkeys(("title", "facet"), w.topic.title) | dict.fromkeys(("step", "question"), w.task)
        info |= dict.fromkeys((*_ITSELF, thing.kind), thing.text)
        if self.collected.applies and thing.source:
            info["claim"] = titled(Evidence(thing.text, thing.source, 1.0))
        days = [thing.text[day.start : day.end] for day in dates.find(thing.text)]
        if thing.source and thing.kind != "entity":
            day = days[0] if thing.kind == "date" else thing.source.day or ""
            info |= {"source": thing.source.key, "title": thing.source.title, "quote": thing.text, "date": str(day)}
        return info

    def of(self, kind: str, name: str, about: Referent, least: int = 1, most: int = 1) -> list[Referent]:
        """The things of a kind, in order, that bear on `about`: what the object containing the list is about."""
        w = self.w
        kind = _SAME_MEMBERS.get(kind, kind)
        about = about if about.text or not w.statement else Referent("claim", w.statement)
        if kind == "dependency":
            return [Referent(kind, number=number) for number in w.dependencies(about.number)]
        pool = w.evidence if about.text else w.ranked
        if about.source and self.collected.applies:  # a document of a collection states only its own text
            pool = [Evidence(about.text, about.source, 1.0)]
        makers: dict[str, Callable[[], Iterable[str | Evidence]]] = {
            "query": lambda: [f'"{n}"' for n in names(w.subject)] if _EXACT.search(name) else self._queries(least),
            "question": lambda: self._questions(least),
            "facet": lambda: w.facets or [w.topic.title],
            "section": lambda: self._sections(least, most),
            "gap": lambda: w.gaps,
            "keyword": lambda: [] if measure_of(name) else names(w.subject) or parse(w.subject).words,
            "entity": lambda: self._entities(""),
            "": lambda: self._entities(phrase(name)),
            "claim": lambda: self._claims(pool) if self.collected.applies else pool or sentences(w.draft),
            "date": lambda: [e for e in pool if dates.find(e.sentence)],
            "conflict": lambda: pool if about.text else w.conflicts,
            "source": lambda: [*pool, *(() if self.collected.applies else w.evidence)],
        }
        if members := self.listed(name):
            return [member for member in members if self._is_relevant(member, about)]
        things: dict[str, Referent] = {}
        for item in makers.get(kind, tuple)():
            text, source = (item, None) if isinstance(item, str) else (item.sentence, item.source)
            thing = Referent(kind, text, len(things) + 1, source)
            if self._is_relevant(thing, about):
                key = source.key if source and (kind == "source" or self.collected.applies) else ""
                things.setdefault(key if kind == "source" and key else f"{text} {key}", thing)
        if kind == "section" and about.text and not things:  # what concerns no section in particular concerns all
            return self.of(kind, name, Referent(), least, most)
        itself = [about] if about.kind not in ("section", "") and kind in ("query", "question", "keyword") else []
        return [*things.values()] or itself

    def _is_relevant(self, thing: Referent, about: Referent) -> bool:
        """Whether a thing bears on another: it contradicts a claim or agrees with it, or shares words with it beyond
        the subject's. Everything bears on the request."""
        if not about.text:
            return thing.text != ""
        degree = agreement(thing.text, about.text)
        if about.kind == "claim" and not thing.record:
            content = f"{thing.source.title}\n{thing.source.text}" if thing.source else thing.text
            if not all(contains_name(content, name) for name in names(about.text)):
                return False
            return degree < 0 if thing.kind == "conflict" else degree > 0
        content = " ".join(parse(thing.text).words) if thing.text[-1:] in ("?", "？") else thing.text
        return bool((stems(content) - stems(self.w.topic.subject)) & stems(about.text))

    def bounds(self, name: str, form: Schema) -> tuple[int, int]:
        """How many members: by the schema, and by what prompt and user say ("5 to 8 sections", "at most 3 queries")."""
        least, most = form.get("minItems", 0), form.get("maxItems", 0)
        unit = re.sub(r"(?:ies|s|y)$", "", (phrase(name).split() or ["queries"])[-1])
        for clause in clauses(f"{self.w.situation.instructions}\n{self.w.task}\n{self.w.user_text}"):
            for low, high in amounts(clause, unit + r"\w*"):
                least, most = low or least, min(high or most, most or high or 0)
        return least, max(most or MOST, least)

    def listed(self, name: str) -> list[Referent]:
        """What the prompt lists under a name, in JSON or numbered: "Sub-questions: [...]" for `sub_questions`; for a
        bare `id`, the records that have one. The text of a record is its longest."""
        name_stems, situation = stems(phrase(name)), self.w.situation
        if name == "id":
            return next((_members(block.text) for block in situation.blocks if '"id"' in block.text), [])
        text = "\n\n".join(block.text for block in situation.blocks if stems(phrase(block.label)) & name_stems)
        lists = (match for match in _HEADED_LIST.finditer(situation.instructions) if stems(match["head"]) & name_stems)
        return _members(text) or next((_members(match["items"]) for match in lists), [])

    def served(self, name: str) -> list[Referent]:
        """A part of the task for each area that the prompt lists under a field's name; the field has it verbatim."""
        about = self.w.topic.subject
        parts = []
        for number, area in enumerate(self.listed(name), 1):
            text = self.w.framed("part", area.text, about) if stems(about) - stems(area.text) else area.text
            parts.append(Referent("step", text, number, record={name: area.text}))
        return parts

    def _claims(self, pool: list[Evidence]) -> list[Evidence]:
        """The statements in documents of a collection that meet the condition; if only numbers are asked for, the
        count; for a single document, its statement."""
        collected = self.collected
        if len(pool) == 1:
            return pool
        if collected.wanted.counts and not collected.wanted.textual:
            return [Evidence(collected.counts_text, Source(""), 1.0)] if collected.counts_text else []
        return collected.matches

    def _questions(self, least: int) -> list[str]:
        """A question for each facet, or the task; if more are wanted, first what must be found first, then what is
        said about the subject, and when."""
        w = self.w
        questions = [f"{facet} ({w.topic.subject})?" for facet in w.facets] or [w.task]
        first = [f"{query}?" for query in w.found.missing[:1] if w.is_question and stems(query) < stems(w.task)]
        extra = [*first, *(w.framed(frame, w.subject) for frame in ("told", "when"))]
        return questions + extra[: max(0, least - len(questions))]

    def _queries(self, least: int) -> list[str]:
        w = self.w
        queries = research.queries(w.topic)
        if w.is_question:
            asks = w.task.rstrip()[-1:] in ("?", "？")  # else "Write three queries on ..."
            missing = w.found.missing if asks else w.reads(w.topic.subject, asked=w.asked).missing
            queries = [*missing, *([w.task.rstrip("?？ ")] if asks else ()), w.topic.subject]
        elif w.sources:
            gaps = research.gaps(w.topic, w.sources, w.asked)
            queries = [*gaps, *(queries if len(gaps) < least else ())]
        new_queries = [query for query in queries if query not in w.asked]
        return new_queries if len(new_queries) >= least else queries

    def _sections(self, least: int, most: int) -> list[str]:
        """The sections of a plan that the user has seen, else an outline of the task, with the user's changes. If more
        are wanted than the task has parts, its title and general headings are added before the last."""
        w = self.w
        titles = list(w.situation.sections or research.outline(w.topic, max(least, 3), max(most, 3)))
        extra = [w.topic.title, *w.framed("sections").split(", ")]
        titles[-1:-1] = extra[: max(0, min(least, most) - len(titles))]
        titles = [t for t in titles if self.orders.conclusion or not research.CONCLUSION.search(t)]
        for add, topic in _CHANGE.findall(w.user_text):
            titles = [title for title in titles if not stems(title) & stems(topic)]
            titles[-1:-1] = [topic[:1].upper() + topic[1:]] if add else []
        return titles

    def _entities(self, words: str) -> list[Evidence]:
        """The names in the relevant sentences that have all of the words; without any sentence, in the task."""
        evidence = self.w.ranked or [Evidence(self.w.task, Source(""), 0.0)]
        matching = [e for e in evidence if stems(words) <= stems(e.sentence)]
        return [Evidence(name, e.source, e.score) for e in matching for name in research.names_in(e.sentence)]


def _members(text: str) -> list[Referent]:
    identified = [match.groupdict() for match in _IDENTIFIED.finditer(text)]
    values = identified or _NUMBERED.findall(text) or (material.parsed(text) or [[]])[0]
    records = [item if isinstance(item, Mapping) else {"": item} for item in values if isinstance(values, list)]
    pairs = [(max(map(str, record.values()), key=len, default=""), record) for record in records]
    return [Referent("claim", text, number, None, record) for number, (text, record) in enumerate(pairs, 1)]
