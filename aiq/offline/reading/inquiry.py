"""Deep research on a question with a short answer: what to look up next, and what the findings answer.

Three shapes: a chain of hops ("the mayor of the city where ..."), listed things compared ("Who was born first: A, B
or C?"), and a group that nobody lists ("Which of the companies headquartered in X was founded first?"), whose members
come from pages that list them or that state their membership. What a question takes for granted is checked, too.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading import chain, comparisons, facts, premises, questions, relations
from aiq.offline.reading import queries as wording
from aiq.offline.reading.chain import Progress, Step
from aiq.offline.reading.documents import Document
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.hops import Hop
from aiq.offline.reading.questions import ParsedQuestion
from aiq.offline.reading.text import is_chinese, names, same_name, sentences

_ASKING = re.compile(
    r"^(?:(?:in|at|on|from|since) )?(?:who|whom|whose|what|which|when|where|why|how many|how much|how old)\b"
    r"|^(?:is|are|was|were|did|does|do|has|have)\b",
    re.IGNORECASE,
)
_MEMBERS = re.compile(
    r"^(?:which|how many) of the \w+ (?P<how>\w+ (?:in|at|by))\s|^which \w+ (?:in|of) (?P<of>.+?) (?:employs|has"
    r"|was|is)\b"
    r"|^which is the \w+est (?P<kind>\w+(?: of)? .+)\?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"^how many of\b.*?\b(?P<side>before|after|since) (?P<year>\d{4})", re.IGNORECASE)
_LARGEST = re.compile(r"\b(?:last|latest|youngest|largest|biggest|most|newest)\b", re.IGNORECASE)


ENOUGH = 0.6
"""Share of a group's members whose value must be known before one of them is named."""


class Answer(Record):
    """`text` is the short answer, empty where there is none; `path` the evidence in order, `best` what carries it.

    `corrects`: it says that what the question takes for granted does not hold.
    """

    text: str = ""
    path: tuple[Evidence, ...] = ()
    best: Evidence | None = None
    missing: str = ""
    corrects: bool = False


def is_question(task: str) -> bool:
    """Whether a task is one question that a short answer settles."""
    single = len(sentences(task)) == 1 and len(task.split()) <= 40 and task.strip().endswith("?")
    if not single or is_chinese(task) or _ASKING.search(task.strip()) is None:
        return False
    return bool(names(task)) or comparisons.of_group(task)


def answer(question: str, documents: Sequence[Document], *, now: datetime | None, seed: object) -> Answer:
    """What the documents answer, and what they still lack."""
    parsed, documents = questions.parse(question), _to_the_point(question, documents)
    if parsed.claim is not None:
        against = premises.contradiction(parsed.claim, documents, now=now, seed=seed)
        if against is not None:
            last = against.path[-1]
            text = _correction(parsed.claim.value, last, still=against.still)
            return Answer(text=text, path=against.path, best=last, corrects=True)
    if comparison := comparisons.listed(question):
        return _compared(comparisons.follow(comparison, documents, now=now, seed=seed), largest=comparison.largest)
    if comparisons.of_group(question):
        return _of_group(question, documents, now)
    state = chain.follow(parsed, documents, now=now, seed=seed)
    path = tuple(step.found for step in state.steps if step.found)
    return Answer(text=state.answer, path=path, best=path[-1] if path else None, missing=_missing(state.open))


def _correction(claimed: str, found: Evidence, *, still: bool) -> str:
    if not claimed:
        return "The premise of the question does not hold"
    if still:
        return f"The premise of the question does not hold: {claimed} still is"
    return f"The premise of the question does not hold: the sources name {found.answer}, not {claimed}"


def queries(question: str, documents: Sequence[Document], *, now: datetime | None, seed: int) -> list[str]:
    """What to search for next; nothing when the question is answered."""
    parsed, documents = questions.parse(question), _to_the_point(question, documents)
    if comparison := comparisons.listed(question):
        found = comparisons.follow(comparison, documents, now=now, seed=seed)
        return _for_steps([state.open for state in found], parsed, now, seed)
    if comparisons.of_group(question):
        return _for_group(question, documents, now)
    tested = premises.probe(parsed.claim, documents, now=now, seed=seed) if parsed.claim is not None else None
    state = chain.follow(parsed, documents, now=now, seed=seed)
    return _for_steps([tested.open if tested is not None else None, state.open], parsed, now, seed)


def _to_the_point(question: str, documents: Sequence[Document]) -> list[Document]:
    """Without sentences about prizes, unless the question is about one: what "went to" a winner is no place."""
    if _PRIZES.search(question):
        return list(documents)
    return [
        document.model_copy(
            update={"text": "\n".join(s.text for s in document.sentences if not _PRIZES.search(s.text))}
        )
        for document in documents
    ]


_PRIZES = re.compile(r"\b(?:prize|jury|winner|won|wins)\b", re.IGNORECASE)


def first_queries(question: str) -> list[str]:
    """What to search for before anything is known: the open steps, the question itself, and the things it names."""
    found = [*queries(question, (), now=None, seed=0), question.rstrip("?"), *questions.parse(question).names]
    return list(dict.fromkeys(found))


def _for_steps(steps: Sequence[Step | None], question: ParsedQuestion, now: datetime | None, seed: int) -> list[str]:
    """The relation of each open step, then its subject alone, then other wordings."""
    open_ = [step for step in steps if step is not None and step.subject]
    others = [wording.for_hop(step.subject, step.hop, question, now=now, seed=seed)[:2] for step in open_]
    plain = [_query(step.subject, step.hop) for step in open_]
    return list(dict.fromkeys([*plain, *(step.subject for step in open_), *(query for two in others for query in two)]))


def _query(subject: str, hop: Hop) -> str:
    if hop.relation is None:
        return f"{subject} {hop.noun}"
    return f"{subject}: {facts.noun(hop.relation.name, chinese=is_chinese(subject))}"


def _missing(step: Step | None) -> str:
    if step is None or not step.subject or step.hop.relation is None:
        return ""
    return f"the {facts.noun(step.hop.relation.name, chinese=False)} of {step.subject}"


def _compared(found: Sequence[Progress], *, largest: bool) -> Answer:
    """The thing with the extreme value among those known, if all are."""
    path = tuple(step.found for state in found for step in state.steps if step.found)
    open_ = next((state.open for state in found if state.open is not None), None)
    valued = [(value, state) for state in found if state.complete and (value := _number(state.answer)) is not None]
    if open_ is not None or not valued:
        return Answer(path=path, missing=_missing(open_))
    best = (max if largest else min)(valued, key=lambda item: item[0])[1]
    return Answer(text=f"{best.steps[-1].subject} ({best.answer})", path=path, best=best.steps[-1].found)


def _of_group(question: str, documents: Sequence[Document], now: datetime | None) -> Answer:
    """The member with the extreme value, or the count of those beyond a year."""
    relation = _property(question)
    members = _members(question, documents, now)
    known = [(name, found[0]) for name in members if (found := facts.about(documents, name, relation, now))]
    valued = [(value, name, e) for name, e in known if (value := _number(e.answer)) is not None]
    path = tuple(e for _, _, e in valued)
    if len(valued) < max(2, ENOUGH * len(members)):
        return Answer(path=path, missing="all that would have to be compared")
    if count := _COUNT.search(question):
        year, before = int(count.group("year")), count.group("side").lower() == "before"
        return Answer(text=str(sum((value < year) is before for value, _, _ in valued)), path=path, best=path[0])
    best = (max if _LARGEST.search(question) else min)(valued, key=lambda item: item[0])
    return Answer(text=f"{best[1]} ({best[2].answer})", path=path, best=best[2])


def _for_group(question: str, documents: Sequence[Document], now: datetime | None) -> list[str]:
    """How the members can be found, then the property of each."""
    relation, match = _property(question), _MEMBERS.search(question)
    members = _members(question, documents, now)
    noun = facts.noun(relation, chinese=False)
    found = [f"{name}: {noun}" for name in members if not facts.about(documents, name, relation, now)]
    if match is None:
        return found
    if body := match.group("of") or match.group("kind"):
        return found if members else [body]
    how, place = match.group("how"), names(question)[0] if names(question) else ""
    wordings = (
        f"companies {how}",
        how,
        "company headquarters",
        "company head office",
        "company moved its headquarters to",
    )
    return [*found, *(f"{wording} {place}" for wording in wordings)]


def _property(question: str) -> str:
    """The relation by which a group is compared or counted."""
    text = question.casefold()
    found = relations.find(text, "number") if re.search(r"employs|people|population|largest", text) else None
    return (found or relations.find(text, "year") or facts.relation("founded_year")).name


def _members(question: str, documents: Sequence[Document], now: datetime | None) -> list[str]:
    """What pages about the group list; else the things of whose pages one states the membership."""
    match = _MEMBERS.search(question)
    group = (match.group("of") or match.group("kind")) if match else None
    found: list[str] = []
    if group:
        pages = [d for d in documents if facts.is_page_about(d.title, group)]
        found = [name for d in pages for s in d.sentences for name in facts.listed(s.text)]
    elif names(question):
        place = names(question)[0]
        things = dict.fromkeys(re.sub(r"\s*\(.*$", "", d.title) for d in documents)
        for thing in things:
            seat = facts.about(documents, thing, "headquarters", now)
            if seat and same_name(seat[0].answer, place):
                found.append(thing)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=1024)
def _number(text: str) -> float | None:
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(digits.group().replace(",", "")) if digits else None
