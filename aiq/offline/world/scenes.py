"""Overview pages: one per scene, which names its members and leaves what is worth knowing of them to their pages."""

from aiq.offline.world.addresses import entry_url
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Region, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.prose.base import Prose
from aiq.offline.world.say import about, say, sentence

MEMBERS: dict[str, tuple[str, ...]] = {
    "sector": ("company",),
    "learning": ("institute",),
    "letters": ("book",),
    "culture": ("festival", "club"),
}
"""The kinds of entity that belong to a scene."""

_LISTS = {
    "en": {
        "company": "The companies of the trade are {list}.",
        "institute": "Its places of learning are {list}.",
        "book": "The novels most often named are {list}.",
        "festival": "The festivals are {list}.",
        "club": "The football clubs are {list}.",
    },
    "zh": {
        "company": "业内的公司有{list}。",
        "institute": "这里的院校有{list}。",
        "book": "最常被提到的长篇小说有{list}。",
        "festival": "节庆有{list}。",
        "club": "足球俱乐部有{list}。",
    },
}
_FIRST_COUNT = {"en": "{s} had {v} people at work in {since}.", "zh": "{since}，{s}的从业人员为{v}人。"}


def topic_of(scene: Entity) -> str:
    """Which of `MEMBERS` a scene is."""
    assert scene.role is not None
    return scene.role.en


def members(region: Region, scene: Entity) -> list[Entity]:
    return [entity for kind in MEMBERS[topic_of(scene)] for entity in region.of(kind)]


def scene_of(region: Region, entity: Entity) -> Entity | None:
    """The scene to which an entity belongs; None for cities and people."""
    return next((scene for scene in region.of("scene") if entity.kind in MEMBERS[topic_of(scene)]), None)


def scene_page(world: World, region: Region, scene: Entity, prose: Prose) -> WorldPage:
    """The overview, as of its date."""
    draw = Draw(world.seed, "scene", scene.id)
    day = world.page_dates[scene.id]
    begun, turned, volume = (world.fact(scene, name) for name in ("begun", "turned", "volume"))
    first = volume.history[0]
    early = _FIRST_COUNT[prose.language].format(
        s=scene.name.text(prose.language), v=prose.value(first.value, number=True), since=prose.month(first.since)
    )
    history = [say(prose, prose.stated, fact, day, draw) for fact in (begun, turned)]
    lists = [
        _LISTS[prose.language][kind].format(list=_enumerate(prose, draw.shuffled(region.of(kind))))
        for kind in MEMBERS[topic_of(scene)]
    ]
    outlook = [about(prose, filler, scene) for filler in draw.some(prose.fillers["scene"], 2)]
    paragraphs = [
        prose.space.join(history),
        prose.space.join(lists),
        prose.space.join([sentence(early), say(prose, prose.stated, volume, day, draw), *outlook]),
        prose.footer.format(iso=day.isoformat()),
    ]
    title = sentence(scene.name.text(prose.language))
    return WorldPage(url=entry_url(scene), title=title, text="\n\n".join(paragraphs), published=day.isoformat())


def _enumerate(prose: Prose, entities: list[Entity]) -> str:
    names = [entity.name.text(prose.language) for entity in entities]
    if prose.language == "zh":
        return "、".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
