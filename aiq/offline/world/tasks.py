"""Research tasks: the facts each needs, by how many pages one has to have read to come to them."""

from dataclasses import dataclass

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Fact, Region, World
from aiq.offline.world.scenes import members, topic_of
from aiq.offline.world.topics import PERSONAL, TOPICS, Topic

_MOST = {1: 12, 2: 7, 3: 6}
"""Needed facts of each depth at most: one round of research can find about half, two about three quarters."""


@dataclass(frozen=True, slots=True)
class Step:
    """A needed fact and its depth."""

    fact: Fact
    depth: int


@dataclass(frozen=True, slots=True)
class Task:
    """One research task about a scene of a region."""

    id: int
    region: Region
    scene: Entity
    topic: Topic
    prompt: str
    steps: tuple[Step, ...]

    @property
    def language(self) -> str:
        return self.region.language


def choose_tasks(world: World, count: int) -> list[Task]:
    """`count` tasks, a third of them Chinese; ids count from 1, the English ones first."""
    chinese = count // 3
    pairs = [*_scenes(world, "en", count - chinese), *_scenes(world, "zh", chinese)]
    return [_task(world, number, region, scene) for number, (region, scene) in enumerate(pairs, start=1)]


def _scenes(world: World, language: str, count: int) -> list[tuple[Region, Entity]]:
    """Region by region, each time with another topic."""
    regions = [region for region in world.regions if region.language == language]
    pairs = []
    for index in range(count):
        place, turn = index % len(regions), index // len(regions)
        assert turn < len(TOPICS), "more tasks than scenes"
        pairs.append((regions[place], regions[place].of("scene")[(place + turn) % len(TOPICS)]))
    return pairs


def _task(world: World, number: int, region: Region, scene: Entity) -> Task:
    draw = Draw(world.seed, "task", scene.id)
    topic = TOPICS[topic_of(scene)]
    prompt = draw.pick(topic.prompts[region.language]).format(scene=scene.name.text(region.language))
    return Task(number, region, scene, topic, prompt, _steps(world, region, scene, topic, draw))


def _steps(world: World, region: Region, scene: Entity, topic: Topic, draw: Draw) -> tuple[Step, ...]:
    """The needed facts, each once and at its least depth; of each depth only so many."""
    found = [Step(world.fact(scene, name), 1) for name in ("begun", "turned", "volume")]
    for member in members(region, scene):
        depth = 1 if member.visible else 2
        found += [Step(world.fact(member, name), depth) for name in topic.asked[member.kind]]
        person = world.fact(member, topic.links[member.kind]).target
        found += [Step(world.fact(person, name), depth + 1) for name in PERSONAL]
        for way, names in topic.far.items():
            place = world.fact(person, way).target
            found += [Step(world.fact(place, name), 3) for name in names]
    least: dict[tuple[str, str], Step] = {}
    for step in sorted(found, key=lambda step: step.depth):
        least.setdefault((step.fact.subject.id, step.fact.relation), step)
    chosen = []
    for depth, most in _MOST.items():
        level = [step for step in least.values() if step.depth == depth]
        always = level[:3] if depth == 1 else []
        chosen += always + draw.some(level[len(always) :], most - len(always))
    return tuple(chosen)
