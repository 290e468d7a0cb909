"""Pages that do not help: blogs that share a question's words, lists of namesakes, and quite other subjects."""

from collections.abc import Iterator
from datetime import date

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import CLOCK, Entity, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.prose import LANGUAGES
from aiq.offline.world.relations import BY_KEY

BLOG = "https://wayfarer.offline.example"
NAMESAKES = "https://namesakes.offline.example"
HOUSEHOLD = "https://household.offline.example"

_BLOG = {
    "en": {
        "company": (
            "A day with {s}",
            "Readers often ask who founded {s}, where {s} is headquartered and how many people work there. "
            "The porter spoke of {v} people, but the gate is painted blue and the visitors' coffee is good. "
            "The guide spoke for an hour about gaskets. If you go, take the early tram and wear flat shoes.",
        ),
        "city": (
            "A weekend in {s}",
            "{s} is best seen on foot. Start at the covered market, walk up to the stone quarter and end at the river. "
            "The mayor, {v}, cycles to work, and the population seems to consist of bakers. "
            "Bring an umbrella; the tram stops at nine.",
        ),
        "book": (
            "Reading {s} in the rain",
            "I took {s} on a long train ride and finished it before the mountains. Who is the author, who wrote such "
            "sentences, I kept asking, and when was it published? The cover had come off my copy. A fine read in "
            "any case.",
        ),
    },
    "zh": {
        "company": (
            "在{s}的一天",
            "读者常问{s}由谁创办、总部在哪里、有多少员工。门卫说有{v}人，不过大门漆成蓝色，接待室的咖啡不错。"
            "讲解员花了一个小时介绍垫片。想去的话，请坐早班电车，穿平底鞋。",
        ),
        "city": (
            "{s}的周末",
            "{s}适合步行游览。从有顶市场出发，走到石头老城，最后来到河边。听说市长{v}骑车上班，居民似乎全是面包师。"
            "请带上雨伞，电车九点停运。",
        ),
        "book": (
            "雨中读{s}",
            ""
            "我在漫长的火车旅途中读完了{s}。作者是谁，何时出版，我一直在想，可是我那本的封面已经掉了。无论如何都值得一读。",
        ),
    },
}

_HEARD = {"company": "employees", "city": "mayor"}
"""The relation whose value a blog repeats as `{v}`."""

_HOUSEHOLD = (
    (
        "How to keep a {thing} for ten years",
        "Wipe the {thing} with a dry cloth, keep it out of the sun and oil its hinges in spring. Never use "
        "vinegar. A {thing} that squeaks wants attention, not force. Most repairs take less than an hour.",
    ),
    (
        "Choosing a {thing}",
        "A good {thing} is heavier than it looks. Check the seams, ask for the year of making, and compare at "
        "least three before you buy. The most costly {thing} is seldom the best.",
    ),
    (
        "A short history of the {thing}",
        "The {thing} was in use long before anybody wrote about it. Travellers brought it from market to market. "
        "Today the {thing} is made by machine, though some workshops still make it by hand.",
    ),
)
_OBJECTS = (
    "kettle",
    "barometer",
    "garden bench",
    "coffee mill",
    "bicycle bell",
    "wool blanket",
    "bread oven",
    "rain barrel",
    "sewing box",
    "pocket lamp",
    "tea strainer",
    "wooden sledge",
)


def distractors(world: World) -> list[WorldPage]:
    """About one page in ten of the world."""
    return [*_blogs(world), *_namesakes(world), *_household(world)]


def _blogs(world: World) -> Iterator[WorldPage]:
    for region in world.regions:
        for kind, (title, text) in _BLOG[region.language].items():
            for entity in region.of(kind):
                draw = Draw(world.seed, "blog", entity.id)
                if draw.chance(40):
                    name = entity.name.text(region.language)
                    day = draw.day(date(2023, 1, 1), date(2026, 9, 30))
                    dateline = (
                        f"发布于{day.isoformat()}。" if region.language == "zh" else f"Published {day.isoformat()}."
                    )
                    heard = _heard(world, entity, day)
                    yield WorldPage(
                        url=f"{BLOG}/{entity.id}",
                        title=title.format(s=name),
                        text=f"{text.format(s=name, v=heard)}\n\n{dateline}",
                        published=day.isoformat(),
                    )


def _heard(world: World, entity: Entity, day: date) -> str:
    """What a visitor was told on that day, which may have changed since."""
    relation = _HEARD.get(entity.kind)
    if relation is None:
        return ""
    number = BY_KEY[entity.kind, relation].value == "number"
    return LANGUAGES[entity.language].value(world.fact(entity, relation).at(day).value, number=number)


def _namesakes(world: World) -> Iterator[WorldPage]:
    """A page for each first word that several names share."""
    shared: dict[str, list[Entity]] = {}
    for entity in world.entities():
        if entity.kind in ("company", "institute", "festival", "club"):
            shared.setdefault(entity.name.en.split()[0], []).append(entity)
    for stem, entities in shared.items():
        if len(entities) > 1:
            names = ", ".join(entity.name.en for entity in entities)
            text = (
                f"{stem} may mean one of several things: {names}. None of them is related to another; "
                f"the word {stem} was common in old land registers.\n\nPage updated 2024-01-15."
            )
            yield WorldPage(
                url=f"{NAMESAKES}/{stem.lower()}", title=f"{stem} (names)", text=text, published="2024-01-15"
            )


def _household(world: World) -> Iterator[WorldPage]:
    """Quite other subjects."""
    for index, thing in enumerate(_OBJECTS):
        title, text = _HOUSEHOLD[index % len(_HOUSEHOLD)]
        day = Draw(world.seed, "household", thing).day(date(2020, 1, 1), CLOCK)
        yield WorldPage(
            url=f"{HOUSEHOLD}/{thing.replace(' ', '-')}",
            title=title.format(thing=thing),
            text=f"{text.format(thing=thing)}\n\nPublished {day.isoformat()}.",
            published=day.isoformat(),
        )
