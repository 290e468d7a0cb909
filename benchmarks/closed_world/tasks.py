"""The mini Deep Research Bench: tasks, the facts each needs by depth, criteria, and references with four in five."""

from collections.abc import Container, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from aiq.core.samples import TruthRow
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, World
from benchmarks.closed_world.pages import Page, members
from benchmarks.closed_world.tables import PROSE, Language, table
from benchmarks.closed_world.truth import stated, write_jsonl
from benchmarks.closed_world.wording import fill, spelled, state

_TABLE = table("tasks")
_MOST = {1: 12, 2: 7, 3: 6}
"""Needed facts of each depth at most: one round of research can find about half, two about three quarters."""


class Task:
    """A research task about a scene. `depths`: the needed facts, and how many pages lead, one to the next, to each."""

    def __init__(self, world: World, number: int, scene: Entity) -> None:
        draw = world.draw("task", scene.id)
        self.id, self.world, self.scene, self.language = number, world, scene, scene.language
        self.topic = _TABLE["topics"][scene.role]
        self.prompt = fill(draw.pick(self.topic[self.language]), scene=scene.called)
        self.depths = _depths(world, scene, self.topic, draw)

    def say(self, template: str) -> str:
        """A template of the criteria or the reference."""
        named, comma = dict[str, str](), PROSE[self.language].comma
        far = [fact.subject for fact, depth in self.depths.items() if depth == 3]
        for word, entities in (("names", members(self.scene)), ("far", far[:3])):
            named[word] = comma.join(dict.fromkeys(one.called for one in entities))
        return fill(template, scene=self.scene.called, turned=self.world.fact(self.scene, "turned").value, **named)


def choose_tasks(world: World, count: int) -> list[Task]:
    """`count` tasks, a third of them Chinese; ids count from 1, the English ones first.

    A language's tasks go from region to region, each time with another topic.
    """
    counts: dict[Language, int] = {"en": count - count // 3, "zh": count // 3}
    tasks: list[Task] = []
    for language, amount in counts.items():
        regions = world.of_language(language)
        for turn, place in (divmod(index, len(regions)) for index in range(amount)):
            scenes = regions[place].of("scene")
            tasks.append(Task(world, len(tasks) + 1, scenes[(place + turn) % len(scenes)]))
    return tasks


def _depths(world: World, scene: Entity, topic: Mapping[str, Any], draw: Draw) -> dict[Fact, int]:
    """The needed facts, each once and at its least depth; of each depth only so many."""
    found = [(1, world.fact(scene, name)) for name in _TABLE["scene"]]
    for member in members(scene):
        depth = 1 if member.visible else 2
        found += [(depth, world.fact(member, name)) for name in topic["asked"][member.kind]]
        person = world.fact(member, topic["link"][member.kind]).target
        found += [(depth + 1, world.fact(person, name)) for name in _TABLE["personal"]]
        found += [(3, world.path(person, way, name)[-1]) for way, names in topic["far"].items() for name in names]
    least = {fact: depth for depth, fact in sorted(found, key=itemgetter(0), reverse=True)}
    chosen: dict[Fact, int] = {}
    for depth, most in _MOST.items():
        level = list(dict.fromkeys(fact for at, fact in found if at == depth == least[fact]))
        always = level[:3] if depth == 1 else []
        chosen |= dict.fromkeys([*always, *draw.some(level[len(always) :], most - len(always))], depth)
    return chosen


def write_deep_research(folder: Path, tasks: Sequence[Task], pages: Mapping[str, Page]) -> None:
    """The three official files and `truth.jsonl`, one line a task each; `pages` by address."""
    queries = (
        {"id": task.id, "topic": task.topic["category"], "language": task.language, "prompt": task.prompt}
        for task in tasks
    )
    write_jsonl(folder / "query.jsonl", queries)
    write_jsonl(folder / "criteria.jsonl", map(_criteria, tasks))
    articles = ({"id": task.id, "prompt": task.prompt, "article": _Reference(task, pages).article()} for task in tasks)
    write_jsonl(folder / "reference.jsonl", articles)
    write_jsonl(folder / "truth.jsonl", map(_truth, tasks))


def _truth(task: Task) -> TruthRow:
    return TruthRow(
        sample_id=str(task.id),
        hops=max(task.depths.values()),
        needs_depth=True,
        facts=tuple(stated(fact, depth) for fact, depth in task.depths.items()),
    )


def _criteria(task: Task) -> dict[str, Any]:
    """One line of `criteria.jsonl`; all weights are hundredths and each set sums to 1."""
    draw, weights = task.world.draw("criteria", task.scene.id), _TABLE["weights"]
    criteria = _TABLE["criteria"][task.language]
    shares = draw.pick(weights["dimensions"])
    return {
        "id": task.id,
        "prompt": task.prompt,
        "dimension_weight": {name: share / 100 for name, share in zip(criteria, shares, strict=True)},
        "criterions": {
            dimension: [
                {"criterion": criterion, "explanation": task.say(explanation), "weight": weight / 100}
                for (criterion, explanation), weight in zip(rows, draw.pick(weights[str(len(rows))]), strict=True)
            ]
            for dimension, rows in criteria.items()
        },
    }


class _Reference:
    """Writes the reference report of a task: cited prose from the world's pages, four needed facts in five."""

    def __init__(self, task: Task, pages: Mapping[str, Page]) -> None:
        self._task, self._pages = task, pages
        self._draw = task.world.draw("reference", task.scene.id)
        self._words = {key: task.say(text) for key, text in _TABLE["reference"][task.language].items()}
        self._space = PROSE[task.language].space
        self._numbers: dict[str, int] = {}
        self._kept = [fact for index, fact in enumerate(task.depths) if index % 5 != 4]

    def article(self) -> str:
        """Markdown with sections, inline `[n]` and a numbered list of the cited pages."""
        task, words = self._task, self._words
        blocks = [f"# {fill(task.scene.called)}", words["intro"]]
        places = {"institute", "city"}.difference(task.topic["asked"])
        sections = {"scene": ["scene"], "member": task.topic["asked"], "person": ["person"], "place": places}
        for section, among in sections.items():
            paragraphs = self._paragraphs(among)
            if section == "scene":
                paragraphs.append(words["list"] + self._mark(task.scene.url))
            if paragraphs:
                blocks += [f"## {words[section]}", *paragraphs]
        closing = [*self._compared(), words["shared"], words["caution"], words["outlook"]]
        blocks += [f"## {words['assessment']}", self._space.join(closing)]
        listed = "\n".join(f"[{number}] {self._pages[url].title} - {url}" for url, number in self._numbers.items())
        return "\n\n".join([*blocks, f"## {words['references']}", listed])

    def _paragraphs(self, kinds: Container[str]) -> list[str]:
        """One paragraph per subject, its facts in order, each sentence with its source."""
        world = self._task.world
        by_subject: dict[str, list[str]] = {}
        for fact in self._kept:
            if fact.subject.kind in kinds:
                text = state(fact, world.known(fact), self._draw)
                marked = f"{text[:-1]}{self._mark(world.source(fact))}{text[-1]}"
                by_subject.setdefault(fact.subject.id, []).append(marked)
        return [self._space.join(sentences) for sentences in by_subject.values()]

    def _mark(self, url: str) -> str:
        """Pages are numbered in the order in which they are first cited."""
        return f"{self._space}[{self._numbers.setdefault(url, len(self._numbers) + 1)}]"

    def _compared(self) -> Iterator[str]:
        """Sentences that set the counts and the years of the kept facts side by side."""
        for form in _TABLE["compared"]:
            found = [fact for fact in self._kept if fact.name in form["relations"]]
            if len(found) > 1:
                found.sort(key=lambda fact: fact.number, reverse=form["largest"])
                first, last = found[0], found[-1]
                yield fill(
                    form[self._task.language],
                    first=first.subject.called,
                    last=last.subject.called,
                    most=spelled(first, first.value),
                    least=spelled(last, last.value),
                )
