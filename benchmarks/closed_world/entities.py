"""What the closed world consists of: entities, dated facts about them, their regions, URLs of pages."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.names import Name
from benchmarks.closed_world.tables import RELATIONS, Language, Relation, Wordings, of_kind

CLOCK = date(2026, 11, 1)
"""Today, in the closed world: its newest pages are current on this day."""

ALWAYS = date(1900, 1, 1)
"""Start date of a fact that never changed."""


def address(site: str, path: str) -> str:
    """The URL of a page."""
    return f"https://{site}.offline.example/{path}"


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name. `id` is also its page's last path segment.

    `kind`: city, institute, company, book, festival, club, person, scene or country. `role`: the occupation of a person
    or a festival's winner, or the topic of a scene; a key of `names.toml`. `visible`: whether its page names the scene
    it belongs to, so that a search for the scene finds it.
    """

    id: str
    kind: str
    name: Name
    region: "Region" = field(compare=False, repr=False)
    role: str = ""
    visible: bool = True

    def text(self, language: Language) -> str:
        return self.name.text(language)

    def short(self, language: Language) -> str:
        """A sufficient part of its name: a person's surname (these are unique), else the whole name."""
        short = self.name.short(language)
        return short.replace("·", " ").split()[-1] if self.kind == "person" else short

    @property
    def language(self) -> Language:
        """The language of its pages."""
        return self.region.language

    def __str__(self) -> str:
        """Its name in the language of its pages."""
        return self.text(self.language)

    @property
    def url(self) -> str:
        """The URL of its own page."""
        return address("almanac" if self.kind == "scene" else "atlas", self.id)


Value = Entity | int | Name


@dataclass(frozen=True, slots=True)
class Dated:
    """A value, and the day since which it holds."""

    since: date
    value: Value


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject's relation over time, oldest value first; the last value holds today."""

    subject: Entity
    name: str
    history: tuple[Dated, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.subject.id, self.name

    @property
    def relation(self) -> Relation:
        return RELATIONS[self.subject.kind, self.name]

    @property
    def words(self) -> Wordings:
        """How its subject's language states it and asks for it; facts only in documents have no Chinese wording."""
        wordings = self.relation.zh if self.subject.language == "zh" else self.relation.en
        assert wordings is not None, f"{self.key} has no wordings in Chinese"
        return wordings

    @property
    def value(self) -> Value:
        return self.history[-1].value

    @property
    def target(self) -> Entity:
        """The value of a fact whose relation leads to another entity."""
        assert isinstance(self.value, Entity), f"{self.key} leads to no entity"
        return self.value

    @property
    def number(self) -> int:
        """The value of a fact whose relation gives a number or a year."""
        assert isinstance(self.value, int), f"{self.key} gives no number"
        return self.value

    @property
    def changed(self) -> date:
        return self.history[-1].since

    def at(self, day: date) -> Dated:
        """The value that held on that day; before the first change, the oldest."""
        return [self.history[0], *(dated for dated in self.history if dated.since <= day)][-1]


@dataclass(slots=True)
class Region:
    """A landscape with its places, people and works; most facts stay within one. `place`: "on the Morquist Coast"."""

    number: int
    language: Language
    name: Name
    place: Name
    country: Name
    rivers: tuple[Name, ...]
    industry: Name
    suffixes: tuple[Name, ...]
    members: dict[str, list[Entity]] = field(default_factory=dict)

    def of(self, kind: str) -> list[Entity]:
        return self.members.setdefault(kind, [])


@dataclass(slots=True)
class World:
    """All regions, and all facts by (subject id, relation)."""

    seed: int
    regions: list[Region] = field(default_factory=list)
    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)

    def draw(self, *parts: object) -> Draw:
        """A stream of choices specific to this world."""
        return Draw(self.seed, *parts)

    def add(self, subject: Entity, name: str, *values: Dated | Value) -> None:
        """Add a fact, older values first. A value without a day has always held."""
        history = tuple(value if isinstance(value, Dated) else Dated(ALWAYS, value) for value in values)
        self.facts[subject.id, name] = Fact(subject, name, history)

    def fact(self, subject: Entity, name: str) -> Fact:
        return self.facts[subject.id, name]

    def about(self, entity: Entity) -> list[Fact]:
        """The facts about it on web pages."""
        return [self.fact(entity, relation.name) for relation in of_kind(entity.kind)]

    def path(self, start: Entity, *names: str) -> list[Fact]:
        """The facts of a chain of relations, each about the value of the previous one."""
        facts: list[Fact] = []
        for name in names:
            facts.append(self.fact(facts[-1].target if facts else start, name))
        return facts

    def of_language(self, language: Language) -> list[Region]:
        return [region for region in self.regions if region.language == language]

    def entities(self) -> list[Entity]:
        """Every entity with a page of its own, by region and kind."""
        return [entity for region in self.regions for members in region.members.values() for entity in members]

    def page_date(self, entity: Entity) -> date:
        """The date of its page. Most are newer than all their facts; a third may miss a change, which is then news."""
        draw, newest = self.draw("page date", entity.id), max(fact.changed for fact in self.about(entity))
        spring = date(2026, 1, 10)
        if newest < spring or not draw.chance(35):
            return draw.day(max(newest, spring), date(2026, 10, 24))
        return draw.day(date(2025, 6, 1), newest)

    def news_day(self, fact: Fact, held: Dated) -> date:
        """The day of the article about a change: one to six days after it."""
        return held.since + timedelta(days=self.draw("news", *fact.key, held.since).between(1, 6))

    def news_url(self, fact: Fact, held: Dated) -> str:
        day = self.news_day(fact, held)
        return address("news", f"{day:%Y/%m}/{fact.subject.id}-{fact.name.replace('_', '-')}")

    def source(self, fact: Fact) -> str:
        """The page with the current value of the fact: the subject's own, or the news if that is too old."""
        missed = fact.changed > self.page_date(fact.subject)
        return self.news_url(fact, fact.history[-1]) if missed else fact.subject.url

    def known(self, fact: Fact) -> date:
        """The day of the page with the current value of the fact, or of the change that it reports."""
        return max(self.page_date(fact.subject), fact.changed)
