"""The mini Deep Research Bench: tasks, the facts each needs by depth, criteria, and reference reports.

A reference has four in five of the facts. Two more reports per task are as good: other wording, another four in five.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from aiq.core.samples import TruthRow
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, Region, World
from benchmarks.closed_world.pages import Page
from benchmarks.closed_world.tables import PROSE, Language, table
from benchmarks.closed_world.truth import stated, write_jsonl
from benchmarks.closed_world.wording import fill, spelled, state

_TABLE = table("tasks")
_INDEPENDENT = 2
_MOST = {1: 9, 2: 7, 3: 6}
"""Maximum number of needed facts per depth, besides those of the scene itself.

One round of research can find about half of them all, two about three quarters.
"""


class Task:
    """A research task about a scene. `depths`: the needed facts, each with the number of pages that lead to it."""

    def __init__(self, world: World, number: int, scene: Entity) -> None:
        draw = world.draw("task", scene.id)
        self.id, self.world, self.scene, self.language = number, world, scene, scene.language
        self.topic = _TABLE["topics"][scene.role]
        self.prompt = fill(draw.pick(self.topic[self.language]), scene=scene)
        members = [member for kind in self.topic["asked"] for member in scene.region.of(kind)]
        self.depths = _depths(world, scene, members, self.topic, draw)
        far = [str(fact.subject) for fact, depth in self.depths.items() if depth == 3][:3]
        comma = PROSE[self.language].comma
        self.words = {
            "scene": scene,
            "names": comma.join(map(str, members)),
            "far": comma.join(dict.fromkeys(far)),
            "turned": world.fact(scene, "turned").value,
        }


def choose_tasks(world: World, count: int) -> list[Task]:
    """`count` tasks, a third of them Chinese; ids count from 1, English ones first."""
    counts: dict[Language, int] = {"en": count - count // 3, "zh": count // 3}
    scenes = [_scene(world.of_language(language), index) for language in counts for index in range(counts[language])]
    return [Task(world, number, scene) for number, scene in enumerate(scenes, start=1)]


def _scene(regions: Sequence[Region], index: int) -> Entity:
    """The scene of the task at `index`: a scene of one region after the other, with varying topics."""
    turn, region_index = divmod(index, len(regions))
    scenes = regions[region_index].of("scene")
    return scenes[(region_index + turn) % len(scenes)]


def _depths(
    world: World, scene: Entity, members: Sequence[Entity], topic: Mapping[str, Any], draw: Draw
) -> dict[Fact, int]:
    """The needed facts, each once and at its least depth; at most `_MOST` of each depth."""
    chosen = {world.fact(scene, name): 1 for name in _TABLE["scene"]}
    candidates: list[tuple[int, Fact]] = []
    for member in members:
        depth = 1 if member.visible else 2
        candidates += [(depth, world.fact(member, name)) for name in topic["asked"][member.kind]]
        person = world.fact(member, topic["link"][member.kind]).target
        candidates += [(depth + 1, world.fact(person, name)) for name in _TABLE["personal"]]
        candidates += [(3, world.path(person, hop, name)[-1]) for hop, names in topic["far"].items() for name in names]
    min_depth = {fact: depth for depth, fact in sorted(candidates, key=itemgetter(0), reverse=True)}
    for depth, limit in _MOST.items():
        level = list(dict.fromkeys(fact for d, fact in candidates if d == depth == min_depth[fact]))
        chosen |= dict.fromkeys(draw.some(level, limit), depth)
    return chosen


def write_deep_research(folder: Path, tasks: Sequence[Task], pages: Mapping[str, Page]) -> None:
    """Write the three official files, `truth.jsonl` and the independent reports, a line per task; `pages`: by URL."""
    queries = (
        {"id": task.id, "topic": task.topic["category"], "language": task.language, "prompt": task.prompt}
        for task in tasks
    )
    write_jsonl(folder / "query.jsonl", queries)
    write_jsonl(folder / "criteria.jsonl", map(_criteria, tasks))
    for number, name in enumerate(("reference", *(f"independent_{n + 1}" for n in range(_INDEPENDENT)))):
        articles = ({"id": task.id, "prompt": task.prompt, "article": _article(task, pages, number)} for task in tasks)
        write_jsonl(folder / f"{name}.jsonl", articles)
    write_jsonl(folder / "truth.jsonl", map(_truth, tasks))


def _truth(task: Task) -> TruthRow:
    return TruthRow(
        sample_id=str(task.id),
        hops=max(task.depths.values()),
        needs_depth=True,
        facts=tuple(stated(fact, depth) for fact, depth in task.depths.items()),
    )


def _criteria(task: Task) -> dict[str, Any]:
    """One line of `criteria.jsonl`; all weights are multiples of 0.01, and each set sums to 1."""
    draw, weights = task.world.draw("criteria", task.scene.id), _TABLE["weights"]
    criteria = _TABLE["criteria"][task.language]
    shares = draw.pick(weights["dimensions"])
    return {
        "id": task.id,
        "prompt": task.prompt,
        "dimension_weight": {name: share / 100 for name, share in zip(criteria, shares, strict=True)},
        "criterions": {
            dimension: [
                {"criterion": criterion, "explanation": fill(explanation, **task.words), "weight": weight / 100}
                for (criterion, explanation), weight in zip(rows, draw.pick(weights[str(len(rows))]), strict=True)
            ]
            for dimension, rows in criteria.items()
        },
    }


def _article(task: Task, pages: Mapping[str, Page], number: int) -> str:
    """Cited prose from the world's pages with four in five of the needed facts; number 0 is the reference report.

    Each other number leaves out as many other facts, uses other words and, within a section, another order. Markdown
    with sections, inline `[n]` and a numbered list of the cited pages, in the order of their first citation.
    """
    world, space = task.world, PROSE[task.language].space
    draw = world.draw(*(("independent", number) if number else ("reference",)), task.scene.id)
    words = {key: fill(text, **task.words) for key, text in _TABLE["reference"][task.language].items()}
    facts, left_out = list(task.depths), range(4, len(task.depths), 5)
    kept = [fact for index, fact in enumerate(facts) if index + number not in left_out]
    if number:
        kept = draw.shuffled(kept)
        subjects = list(dict.fromkeys(fact.subject.id for fact in kept))
        kept.sort(key=lambda fact: subjects.index(fact.subject.id))
    numbers: dict[str, int] = {}

    def cite(text: str, url: str, end: str = "") -> str:
        return f"{text}{space}[{numbers.setdefault(url, len(numbers) + 1)}]{end}"

    member_kinds = task.topic["asked"]
    blocks = [f"# {fill(str(task.scene))}", words["intro"]]
    sections = {
        "scene": ["scene"],
        "member": member_kinds,
        "person": ["person"],
        "place": {"institute", "city"}.difference(member_kinds),
    }
    for section, kinds in sections.items():
        paragraphs: dict[str, str] = {}
        for fact in kept:
            if fact.subject.kind in kinds:
                text = state(fact, world.known(fact), draw)
                previous = paragraphs.get(fact.subject.id)
                text = cite(text[:-1], world.source(fact), text[-1])
                paragraphs[fact.subject.id] = f"{previous}{space}{text}" if previous else text
        if section == "scene":
            paragraphs["list"] = cite(words["list"], task.scene.url)
        if paragraphs:
            blocks += [f"## {words[section]}", *paragraphs.values()]
    closing = [*_comparisons(kept, task.language), words["shared"], words["caution"], words["outlook"]]
    blocks += [f"## {words['assessment']}", space.join(closing), f"## {words['references']}"]
    return "\n\n".join([*blocks, "\n".join(f"[{numbers[url]}] {pages[url].title} - {url}" for url in numbers)])


def _comparisons(facts: Sequence[Fact], language: Language) -> Iterator[str]:
    """Sentences that compare counts and years."""
    for form in _TABLE["compared"]:
        group = [fact for fact in facts if fact.name in form["relations"]]
        if len(group) > 1:
            first, *_, last = sorted(group, key=lambda fact: fact.number, reverse=form["largest"])
            most, least = (spelled(fact, fact.value) for fact in (first, last))
            yield fill(form[language], first=first.subject, last=last.subject, most=most, least=least)
