"""Writes the mini Deep Research Bench: query, criteria, reference and truth, one line a task each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiq.core.samples import TruthRow
from aiq.offline.world.criteria import criteria_row
from aiq.offline.world.entities import World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.references import reference_article
from aiq.offline.world.tasks import Task
from aiq.offline.world.truth import needed
from aiq.offline.world.write import jsonl


def write_deep_research(folder: Path, world: World, tasks: Sequence[Task], pages: Mapping[str, WorldPage]) -> None:
    """The three official files and `truth.jsonl`; `pages` by address."""
    jsonl(folder / "query.jsonl", (_query(task) for task in tasks))
    jsonl(folder / "criteria.jsonl", (criteria_row(world, task) for task in tasks))
    jsonl(folder / "reference.jsonl", (_reference(world, task, pages) for task in tasks))
    jsonl(folder / "truth.jsonl", (_truth(world, task) for task in tasks))


def _query(task: Task) -> dict[str, Any]:
    return {"id": task.id, "topic": task.topic.category, "language": task.language, "prompt": task.prompt}


def _reference(world: World, task: Task, pages: Mapping[str, WorldPage]) -> dict[str, Any]:
    return {"id": task.id, "prompt": task.prompt, "article": reference_article(world, task, pages)}


def _truth(world: World, task: Task) -> TruthRow:
    return TruthRow(
        sample_id=str(task.id),
        hops=max(step.depth for step in task.steps),
        needs_depth=True,
        facts=tuple(needed(world, step.fact, step.depth) for step in task.steps),
    )
