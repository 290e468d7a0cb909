"""The mini Deep Research Bench: tasks, the facts each needs by depth, criteria, and references with four in five."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiq.core.base import Record
from aiq.core.samples import TruthRow
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, Region, World
from benchmarks.closed_world.pages import Page, members
from benchmarks.closed_world.tables import PROSE, Language, Texts, table
from benchmarks.closed_world.truth import needed, write_jsonl
from benchmarks.closed_world.wording import fill, spelled, state

_TABLE = table("tasks")
_MOST = {1: 12, 2: 7, 3: 6}
"""Needed facts of each depth at most: one round of research can find about half, two about three quarters."""


class Topic(Record):
    """One sort of research task, explained in `tasks.toml`; `en` and `zh` word it."""

    category: str
    asked: Mapping[str, Texts]
    link: Mapping[str, str]
    far: Mapping[str, Texts]
    en: Texts
    zh: Texts


_TOPICS = {name: Topic.model_validate(row) for name, row in _TABLE["topics"].items()}


@dataclass(frozen=True, slots=True)
class Step:
    """A needed fact and its depth: how many pages one has to have read, one leading to the next, to come to it."""

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
    def language(self) -> Language:
        return self.region.language

    def named(self, entities: Sequence[Entity]) -> str:
        """Their names, each once, with commas between."""
        return PROSE[self.language].comma.join(dict.fromkeys(one.name.text(self.language) for one in entities))


def choose_tasks(world: World, count: int) -> list[Task]:
    """`count` tasks, a third of them Chinese; ids count from 1, the English ones first."""
    chinese = count // 3
    scenes = [*_scenes(world, "en", count - chinese), *_scenes(world, "zh", chinese)]
    return [_task(world, number, scene) for number, scene in enumerate(scenes, start=1)]


def _scenes(world: World, language: Language, count: int) -> Iterator[Entity]:
    """Region by region, each time with another topic."""
    regions = world.of_language(language)
    for index in range(count):
        place, turn = index % len(regions), index // len(regions)
        assert turn < len(_TOPICS), "more tasks than scenes"
        yield regions[place].of("scene")[(place + turn) % len(_TOPICS)]


def _task(world: World, number: int, scene: Entity) -> Task:
    assert scene.role is not None
    draw, region, topic = Draw(world.seed, "task", scene.id), world.regions[scene.region], _TOPICS[scene.role.en]
    wordings = topic.en if region.language == "en" else topic.zh
    prompt = fill(draw.pick(wordings), scene=scene.name.text(region.language))
    return Task(number, region, scene, topic, prompt, _steps(world, region, scene, topic, draw))


def _steps(world: World, region: Region, scene: Entity, topic: Topic, draw: Draw) -> tuple[Step, ...]:
    """The needed facts, each once and at its least depth; of each depth only so many."""
    found = [Step(world.fact(scene, name), 1) for name in _TABLE["scene"]]
    for member in members(region, scene):
        depth = 1 if member.visible else 2
        found += [Step(world.fact(member, name), depth) for name in topic.asked[member.kind]]
        person = world.fact(member, topic.link[member.kind]).target
        found += [Step(world.fact(person, name), depth + 1) for name in _TABLE["personal"]]
        for way, names in topic.far.items():
            place = world.fact(person, way).target
            found += [Step(world.fact(place, name), 3) for name in names]
    least: dict[tuple[str, str], Step] = {}
    for step in sorted(found, key=lambda step: step.depth):
        least.setdefault((step.fact.subject.id, step.fact.name), step)
    chosen = []
    for depth, most in _MOST.items():
        level = [step for step in least.values() if step.depth == depth]
        always = level[:3] if depth == 1 else []
        chosen += always + draw.some(level[len(always) :], most - len(always))
    return tuple(chosen)


def write_deep_research(folder: Path, world: World, tasks: Sequence[Task], pages: Mapping[str, Page]) -> None:
    """The three official files and `truth.jsonl`, one line a task each; `pages` by address."""
    queries = (
        {"id": task.id, "topic": task.topic.category, "language": task.language, "prompt": task.prompt}
        for task in tasks
    )
    write_jsonl(folder / "query.jsonl", queries)
    write_jsonl(folder / "criteria.jsonl", (_criteria(world, task) for task in tasks))
    articles = (
        {"id": task.id, "prompt": task.prompt, "article": _Reference(world, task, pages).article()} for task in tasks
    )
    write_jsonl(folder / "reference.jsonl", articles)
    write_jsonl(folder / "truth.jsonl", (_truth(world, task) for task in tasks))


def _truth(world: World, task: Task) -> TruthRow:
    return TruthRow(
        sample_id=str(task.id),
        hops=max(step.depth for step in task.steps),
        needs_depth=True,
        facts=tuple(needed(world, step.fact, step.depth) for step in task.steps),
    )


def _criteria(world: World, task: Task) -> dict[str, Any]:
    """One line of `criteria.jsonl`; all weights are hundredths and each set sums to 1."""
    draw, weights = Draw(world.seed, "criteria", task.scene.id), _TABLE["weights"]
    words = {
        "names": task.named(members(task.region, task.scene)),
        "far": task.named([step.fact.subject for step in task.steps if step.depth == 3][:3]),
        "scene": task.scene.name.text(task.language),
        "turned": world.fact(task.scene, "turned").value,
    }
    criteria = _TABLE["criteria"][task.language]
    shares = draw.pick(weights["dimensions"])
    return {
        "id": task.id,
        "prompt": task.prompt,
        "dimension_weight": {name: share / 100 for name, share in zip(criteria, shares, strict=True)},
        "criterions": {
            dimension: [
                {"criterion": criterion, "explanation": fill(explanation, **words), "weight": weight / 100}
                for (criterion, explanation), weight in zip(rows, draw.pick(weights[str(len(rows))]), strict=True)
            ]
            for dimension, rows in criteria.items()
        },
    }


class _Reference:
    """Writes the reference report of a task: cited prose from the world's pages, four needed facts in five."""

    def __init__(self, world: World, task: Task, pages: Mapping[str, Page]) -> None:
        self._world, self._task, self._pages = world, task, pages
        self._draw = Draw(world.seed, "reference", task.scene.id)
        self._words: dict[str, str] = _TABLE["reference"][task.language]
        self._space = PROSE[task.language].space
        self._numbers: dict[str, int] = {}
        self._kept = [step.fact for index, step in enumerate(task.steps) if index % 5 != 4]

    def article(self) -> str:
        """Markdown with sections, inline `[n]` and a numbered list of the cited pages."""
        task, words, scene = self._task, self._words, self._task.scene.name.text(self._task.language)
        blocks = [f"# {fill('{s}', s=scene)}", words["intro"].format(scene=scene)]
        kinds = tuple(task.topic.asked)
        places = tuple(kind for kind in ("institute", "city") if kind not in kinds)
        sections = {"scene": ("scene",), "member": kinds, "person": ("person",), "place": places}
        for section, among in sections.items():
            paragraphs = self._paragraphs(among)
            if section == "scene":
                listed = words["list"].format(names=task.named(members(task.region, task.scene)))
                paragraphs.append(listed + self._mark(task.scene.url))
            if paragraphs:
                blocks += [f"## {words[section]}", *paragraphs]
        outlook = fill(words["outlook"], scene=scene, turned=self._world.fact(task.scene, "turned").value)
        closing = [*self._compared(), words["shared"], words["caution"], outlook]
        blocks += [f"## {words['assessment']}", self._space.join(closing)]
        listed = "\n".join(f"[{number}] {self._pages[url].title} - {url}" for url, number in self._numbers.items())
        return "\n\n".join([*blocks, f"## {words['references']}", listed])

    def _paragraphs(self, kinds: Sequence[str]) -> list[str]:
        """One paragraph per subject, its facts in order, each sentence with its source."""
        by_subject: dict[str, list[str]] = {}
        for fact in self._kept:
            if fact.subject.kind in kinds:
                text = state(fact, self._world.known(fact), self._draw)
                marked = f"{text[:-1]}{self._mark(self._world.source(fact))}{text[-1]}"
                by_subject.setdefault(fact.subject.id, []).append(marked)
        return [self._space.join(sentences) for sentences in by_subject.values()]

    def _mark(self, url: str) -> str:
        """Pages are numbered in the order in which they are first cited."""
        return f"{self._space}[{self._numbers.setdefault(url, len(self._numbers) + 1)}]"

    def _compared(self) -> Iterator[str]:
        """Sentences that set the counts and the years of the kept facts side by side."""
        for form, relations, largest in (
            ("largest", ("employees", "population"), True),
            ("oldest", ("founded",), False),
        ):
            found = [fact for fact in self._kept if fact.name in relations]
            if len(found) > 1:
                found.sort(key=lambda fact: fact.number, reverse=largest)
                ends = {"first": found[0].subject, "last": found[-1].subject}
                yield fill(
                    self._words[form],
                    **{end: subject.name.text(self._task.language) for end, subject in ends.items()},
                    most=spelled(found[0], found[0].value),
                    least=spelled(found[-1], found[-1].value),
                )
