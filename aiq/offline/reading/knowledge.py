"""What findings add up to: for each thing that was looked up, the evidence for each relation that the task wants.

Things have a part in the task: `member` of what it is about, or a person, school or place that another thing led to.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from aiq.core.base import Record
from aiq.offline.reading import facts, findings
from aiq.offline.reading.documents import Document
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.facts import Wanted
from aiq.offline.reading.findings import Finding
from aiq.offline.reading.text import same_name

Part = Literal["member", "person", "school", "place"]


class Thing(Record):
    """`known`: evidence by relation. `because`: how the findings led to it, for people to read ("founder of X")."""

    name: str
    part: Part
    because: str = ""
    known: Mapping[str, Evidence] = Field(default_factory=dict)

    def has(self, relation: str) -> bool:
        return relation in self.known


class Knowledge(Record):
    """`looked_up`: things that a query asked about, in order. `waiting`: things that findings named, not yet asked."""

    looked_up: tuple[Thing, ...]
    waiting: tuple[Thing, ...]

    def members(self) -> tuple[Thing, ...]:
        return tuple(thing for thing in self.looked_up if thing.part == "member")


def gather(
    found: Sequence[Finding], subject: str, wanted: Wanted, asked: Sequence[str], now: datetime | None
) -> Knowledge:
    """What the findings say. `asked` are the things that queries were about so far, in order."""
    documents = findings.as_documents(found)
    members = _members(documents, subject, asked)
    parts: dict[str, tuple[Part, str]] = dict.fromkeys(members, ("member", ""))
    looked_up: dict[str, Thing] = {}
    waiting: dict[str, Thing] = {}
    queue = list(members)
    for name in queue:
        part, because = parts[name]
        if not _is_in(name, asked):
            waiting.setdefault(name, Thing(name=name, part=part, because=because))
            continue
        thing = _thing(documents, name, part, because, wanted, now)
        looked_up[name] = thing
        for answer, relation in _led_to(thing, wanted):
            if not any(same_name(answer, other) for other in parts):
                parts[answer] = (part_of_answer(relation), f"{facts.noun(relation, chinese=False)} of {name}")
                queue.append(answer)
    ordered = sorted(waiting.values(), key=lambda thing: _ORDER[thing.part])
    return Knowledge(looked_up=tuple(looked_up.values()), waiting=tuple(ordered))


_ORDER: dict[Part, int] = {"member": 0, "person": 1, "school": 2, "place": 3}


def relations_of(part: Part, wanted: Wanted) -> tuple[str, ...]:
    """What the task wants of a thing in this part."""
    if part == "member":
        return wanted.of_members
    return wanted.of_answer({"person": "founder", "school": "studied", "place": "birthplace"}[part])


def part_of_answer(relation: str) -> Part:
    if relation in facts.PEOPLE:
        return "person"
    return "place" if relation in facts.PLACES else "school"


def _thing(
    documents: Sequence[Document], name: str, part: Part, because: str, wanted: Wanted, now: datetime | None
) -> Thing:
    known = {}
    for relation in relations_of(part, wanted):
        evidence = facts.about(documents, name, relation, now)
        if evidence:
            known[relation] = evidence[0]
    return Thing(name=name, part=part, because=because, known=known)


def _led_to(thing: Thing, wanted: Wanted) -> list[tuple[str, str]]:
    """Names among a thing's answers of which the task wants to know more, each with its relation."""
    return [
        (thing.known[relation].answer, relation)
        for relation in wanted.onward
        if relation in thing.known and facts.is_name(thing.known[relation].answer)
    ]


def _members(documents: Sequence[Document], subject: str, asked: Sequence[str]) -> list[str]:
    """What the findings list on pages about the subject; without a list, the things that were asked about first."""
    found: list[str] = []
    for document in documents:
        if not facts.is_page_about(document.title, subject):
            continue
        for sentence in document.sentences:
            found += [name for name in facts.listed(sentence.text) if not _is_in(name, found)]
    return found or list(asked)


def _is_in(name: str, names: Sequence[str]) -> bool:
    return any(same_name(name, other) for other in names)
