"""What the closed world consists of: entities, dated facts about them, and regions that hold them. Data only."""

from dataclasses import dataclass, field
from datetime import date

from aiq.offline.world.names import Name

CLOCK = date(2026, 11, 1)
"""The day on which the world is as its newest pages say."""

ALWAYS = date(1900, 1, 1)
"""Since when a fact holds that never changed."""


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name. `id` is also its page's last path segment.

    `kind`: city, institute, company, book, festival, club, person, scene or country. `role`: what a person does, what
    a festival awards a prize for, which topic a scene has. `visible`: whether its page names the scene it belongs to,
    so that a search for the scene finds it.
    """

    id: str
    kind: str
    name: Name
    region: int
    language: str
    role: Name | None = None
    visible: bool = True


def short(entity: Entity, language: str) -> str:
    """The part of a name that suffices: a person's surname (no two are equal), else the whole name."""
    text = entity.name.text(language)
    if entity.kind == "person":
        return text.split("·" if language == "zh" else " ")[-1]
    return text.removeprefix("《").removesuffix("》")


Value = Entity | int | Name


@dataclass(frozen=True, slots=True)
class Dated:
    """A value and the day since which it holds."""

    since: date
    value: Value


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject's relation over time, oldest value first. The last one holds today."""

    subject: Entity
    relation: str
    history: tuple[Dated, ...]

    @property
    def value(self) -> Value:
        return self.history[-1].value

    @property
    def target(self) -> Entity:
        """The value of a fact whose relation leads to another entity."""
        if not isinstance(self.value, Entity):
            raise TypeError(f"{self.relation} of {self.subject.id} is no entity")
        return self.value

    @property
    def changed(self) -> date:
        return self.history[-1].since

    def at(self, day: date) -> Dated:
        """What held on that day; the oldest value before any."""
        held = [dated for dated in self.history if dated.since <= day]
        return held[-1] if held else self.history[0]


@dataclass(slots=True)
class Region:
    """A landscape with its places, people and works; most facts stay inside one."""

    number: int
    language: str
    name: Name
    country: Entity
    preposition: str
    industry: Name
    members: dict[str, list[Entity]] = field(default_factory=dict)

    def of(self, kind: str) -> list[Entity]:
        return self.members.setdefault(kind, [])


@dataclass(slots=True)
class World:
    """All regions, all facts by (subject id, relation), and each entity's page date."""

    seed: int
    regions: list[Region] = field(default_factory=list)
    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)
    page_dates: dict[str, date] = field(default_factory=dict)

    def fact(self, subject: Entity, relation: str) -> Fact:
        return self.facts[subject.id, relation]

    def entities(self) -> list[Entity]:
        """Every entity with a page of its own, by region and kind."""
        return [entity for region in self.regions for members in region.members.values() for entity in members]
