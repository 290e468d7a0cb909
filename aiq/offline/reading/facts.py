"""The facts that a research task wants of many things: which relations, of whom, and where they lead.

"In which cities the founders were born, who is the mayor of those cities" wants the relations founder, birthplace and
mayor; the answers of `founder` are people to look up next, those of `birthplace` cities to look up after that.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading import answers, evidence, prose
from aiq.offline.reading.documents import Document
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.questions import Hop
from aiq.offline.reading.relation_table import RELATIONS, Relation
from aiq.offline.reading.text import contains_name, is_chinese, names, words

_WANTED = {
    "mayor": r"\bmayors?\b|市长",
    "chief_executive": r"chief executive|\bceos?\b|\bleads?\b|\bled by\b|who runs|领导|首席执行官|总裁",
    "coach": r"\bcoach(?:es)?\b|教练",
    "director": r"\bdirectors?\b|\bdirects?\b|院长|校长|所长",
    "winner": r"\bwinners?\b|\bwon\b|获胜|得主|夺冠",
    "employees": r"employ(?:s|ees?|ed)?\b|\bstaff\b|workforce|员工",
    "population": r"population|how many people live|inhabitants|人口|居民",
    "headquarters": r"headquarter|总部",
    "birthplace": r"\bborn\b|birthplaces?|\borigins\b|come from|home (?:city|cities|town)|出生|家乡",
    "birth_year": r"birth years?|years? of birth|出生年份",
    "studied": r"\bstud(?:y|ied)\b|education\b|graduated|就读|毕业",
    "founder": r"\bfounders?\b|who founded|created by|创始人|创办",
    "founded_year": r"\bage\b|how old|\bfounded\b|established|成立|创立|始建",
    "published": r"publication|published|author and year|出版",
    "author": r"\bauthors?\b|\bwrote\b|written by|作者",
    "river": r"\brivers?\b|河流",
    "month": r"\bmonths?\b|月份|几月",
    "location": r"\blocat(?:ed|ions?)\b|\bplaces?\b(?! of)|with city|where (?:and|the|each)\b.{0,40}\b(?:held|plays?)\b"
    r"|哪座城市|位于",
}
"""Which words of a task want which relation; tasks say it less plainly than questions do."""

PEOPLE = frozenset({"founder", "author", "director", "coach", "winner", "chief_executive", "mayor"})
PLACES = frozenset({"birthplace", "headquarters", "location"})
_OF_PEOPLE, _OF_PLACES, _OF_SCHOOLS = ("birthplace", "studied"), ("mayor", "population"), ("founded_year", "director")
_HOME = re.compile(r"\bborn\b|birthplace|home|come from|origins|出生|家乡")
_LIST = re.compile(r"(?:\b(?:are|include|includes|namely)|:)\s+(?P<items>[^.]*,[^.]* and [^.]+)\.?$")
_ZH_LIST = re.compile(r"(?:有|是|包括|分别为)(?P<items>[^。有]*、[^。]*)。?$")

_BY_NAME = {relation.name: relation for relation in RELATIONS}


class Wanted(Record):
    """Relations that a task wants, in the table's order, and the relations whose answers it wants to know more of."""

    relations: tuple[str, ...]
    onward: tuple[str, ...]

    def of_answer(self, relation: str) -> tuple[str, ...]:
        """What the task wants of an answer of this relation."""
        if relation in PEOPLE:
            return tuple(name for name in _OF_PEOPLE if name in self.relations)
        asked = _OF_PLACES if relation in PLACES else _OF_SCHOOLS
        return tuple(name for name in asked if name in self.relations)

    @property
    def of_members(self) -> tuple[str, ...]:
        """What the task wants of the things themselves; what it only wants of their people and places is left out."""
        later = {name for relation in self.onward for name in self.of_answer(relation)} - {"founded_year", "director"}
        return tuple(name for name in self.relations if name not in later)


@lru_cache(maxsize=256)
def wanted(task: str) -> Wanted:
    """The relations of a task's text."""
    lowered = task.casefold()
    relations = tuple(name for name in _BY_NAME if name in _WANTED and re.search(_WANTED[name], lowered))
    clauses = [clause for clause in re.split(r"[,;:.，；：。？?]", lowered) if clause.strip()]
    onward: list[str] = []
    if any(name in relations for name in _OF_PEOPLE):
        spoken = " ".join(c for c in clauses if any(re.search(_WANTED[name], c) for name in _OF_PEOPLE))
        people = [r for r in relations if r in PEOPLE and r != "mayor"]
        named = {r: found.start() for r in people if (found := re.search(_WANTED[r], spoken))}
        onward += sorted(named, key=lambda role: named[role]) or people
    if any(name in relations for name in _OF_PLACES):
        spoken = " ".join(c for c in clauses if any(re.search(_WANTED[name], c) for name in _OF_PLACES))
        onward += ["birthplace"] if _HOME.search(spoken) else [r for r in relations if r in PLACES]
    if "studied" in relations and any(name in relations for name in _OF_SCHOOLS):
        onward.append("studied")
    return Wanted(relations=relations, onward=tuple(dict.fromkeys(onward)))


def relation(name: str) -> Relation:
    """The relation of that name."""
    return _BY_NAME[name]


def named(text: str) -> tuple[str, ...]:
    """The relations of a list of nouns (`headquarters, founder`); without one, those that the text wants."""
    parts = [part.strip() for part in re.split(r"[,、，]", text)]
    listed_ = [n for part in parts for n in _BY_NAME if part in (noun(n, chinese=False), noun(n, chinese=True))]
    return tuple(dict.fromkeys(listed_)) or wanted(text).relations


def noun(name: str, *, chinese: bool) -> str:
    """A relation for a search query or a table's head."""
    return _ZH_NOUNS.get(name, name) if chinese else _NOUNS.get(name, _BY_NAME[name].noun)


def about(documents: Sequence[Document], subject: str, relation: str, now: datetime | None) -> list[Evidence]:
    """Evidence for a relation of a thing, best first; sentences that only the thing's own page or name bears."""
    known = _BY_NAME[relation]
    if is_chinese(subject) and not any(is_chinese(document.text) for document in documents):
        return []
    found = evidence.search(_mentioning(documents, subject), subject, _hop(known), now=now)
    found = [_trimmed(e) for e in found if prose.readable(e.sentence)]
    found = [e for e in found if not _NO_NAME.search(e.answer)]
    if known.answer == "place":
        found = [e for e in found if not _NO_PLACE.search(e.answer) and not _PRIZE.search(e.sentence)]
    if now is None or not found or relation != "headquarters":
        return found
    # It changes slowly, so that old pages state it too: of the good ones, the newest.
    good = [e for e in found if e.score >= found[0].score - evidence.GOOD_ENOUGH]
    return sorted(good, key=lambda e: -(e.when.toordinal() if e.when and e.when <= now.date() else 0))


_NO_NAME = re.compile(r"[何谁哪吗]|什么|年份|^(?:获胜者|得主|市长|院长|主?教练|作者|创始人)$")
"""Runs of Chinese characters between grammatical words that are no names."""
_PRIZE = re.compile(r"\b(?:prize|jury|won|winner)\b")
"""A prize that "went to" somebody went to no place."""
_NO_PLACE = re.compile(r"·|(?:公园|球场|节|赛|队|公司|学院|大学|研究院|每年)$")


def _trimmed(found: Evidence) -> Evidence:
    """Without the verb that may follow a Chinese name."""
    return found.model_copy(update={"answer": re.sub(r"(?:创作|创办|撰写|获胜)$", "", found.answer)})


def is_page_about(title: str, subject: str) -> bool:
    """Whether a page is about a task's subject: its title says little else."""
    plain = words(re.sub(r"\s*[(（:：|].*$", "", title))
    of_subject = set(words(subject))
    shared = sum(word in of_subject for word in plain)
    return shared >= 2 and shared >= 0.75 * len(plain)


def listed(sentence: str) -> tuple[str, ...]:
    """The things that a sentence lists ("The companies are A, B and C."); nothing where it is no list of names."""
    if is_chinese(sentence):
        match = _ZH_LIST.search(sentence)
        items = re.split(r"[、和]", match.group("items")) if match else []
        found = [item.strip(" 。《》") for item in items]
        return tuple(item for item in found if 2 <= len(item) <= 14) if len(found) > 1 else ()
    match = _LIST.search(sentence)
    found = (
        [name for part in re.split(r",\s+|\s+and\s+", match.group("items")) for name in names(part)] if match else []
    )
    return tuple(dict.fromkeys(found)) if len(found) > 2 else ()


def _mentioning(documents: Sequence[Document], subject: str) -> list[Document]:
    return [d for d in documents if contains_name(d.title, subject) or contains_name(d.text, subject)]


@lru_cache(maxsize=64)
def _hop(relation: Relation) -> Hop:
    told = f"{relation.told}|{_TOLD_TOO[relation.name]}" if relation.name in _TOLD_TOO else relation.told
    relation = relation.model_copy(update={"told": told})
    return Hop(phrase=relation.noun, words=words(relation.noun), answer=relation.answer, relation=relation)


_TOLD_TOO = {"author": r"创作", "winner": r"获胜", "coach": r"trained by"}
"""How pages tell of a relation, beyond what short answers look for."""


def plain_number(text: str) -> int | None:
    """A number as a count; None for a text that is none."""
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else None


def is_name(text: str) -> bool:
    """Whether an answer is a name that could be looked up."""
    return bool(text) and not answers.candidates(text, "number") and len(text) > 1


_NOUNS = {
    "employees": "number of employees",
    "birthplace": "birthplace",
    "studied": "place of study",
    "founded_year": "founding year",
    "published": "publication year",
    "location": "city",
    "winner": "latest winner",
}
_ZH_NOUNS = {
    "mayor": "市长",
    "chief_executive": "首席执行官",
    "coach": "主教练",
    "director": "院长",
    "winner": "获胜者",
    "employees": "员工",
    "population": "人口",
    "headquarters": "总部",
    "birthplace": "出生地",
    "birth_year": "出生年份",
    "studied": "就读院校",
    "founder": "创始人",
    "founded_year": "成立年份",
    "published": "出版年份",
    "author": "作者",
    "river": "河流",
    "month": "举办月份",
    "location": "所在城市",
}
