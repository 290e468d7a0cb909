"""What is known of a sample: the facts it needs, in forms that can be looked for in a report.

A form is one or more fragments joined by ` & `; all must stand in one sentence (how they are looked
for is in `aiq.judges.world`). A fact's id is `d<depth>/<subject>/<relation>`, depth being the number of
pages one has to have read, one leading to the next.
"""

from aiq.core.samples import Fact as NeededFact
from aiq.offline.world.entities import Entity, Fact, Value, World, short


def answers(value: Value) -> tuple[str, ...]:
    """The ways in which a short English answer may give the value, the fullest first."""
    if isinstance(value, Entity):
        return tuple(dict.fromkeys((value.name.en, short(value, "en"))))
    if isinstance(value, int):
        return (f"{value:,}", str(value)) if value > 2100 else (str(value),)
    return (value.en,)


def hop(fact: Fact, depth: int) -> NeededFact:
    """A step on the way to a short answer: its value alone counts."""
    return NeededFact(id=_id(fact, depth), forms=answers(fact.value))


def needed(world: World, fact: Fact, depth: int) -> NeededFact:
    """A fact that a research report should state: subject and value in one sentence."""
    languages = ("zh", "en") if fact.subject.language == "zh" else ("en",)
    forms = [f"{_subject(world, fact.subject, lang)} & {_value(fact.value, lang)}" for lang in languages]
    return NeededFact(id=_id(fact, depth), forms=tuple(dict.fromkeys(forms)))


def _id(fact: Fact, depth: int) -> str:
    return f"d{depth}/{fact.subject.id}/{fact.relation}"


def _subject(world: World, subject: Entity, language: str) -> str:
    if subject.kind == "scene":  # a report on it says "the sector"; the landscape stands in a heading
        return world.regions[subject.region].name.text(language)
    return short(subject, language)


def _value(value: Value, language: str) -> str:
    if isinstance(value, Entity):
        return short(value, language)
    return value.text(language) if not isinstance(value, int) else str(value)
