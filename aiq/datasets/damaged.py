"""Research tasks for measuring judges: each task many times, once for every damage and degree of its report.

The reports themselves come from `agent=damaged`, which reads damage and degree from the sample's id.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field

from aiq.core.damage import UNDAMAGED, Damaged
from aiq.core.files import Files
from aiq.core.samples import Sample
from aiq.datasets.deep_research_bench import BenchSettings, DeepResearchBench
from aiq.datasets.truth import read_truth

Degrees = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]


class DamagedSettings(BenchSettings):
    """`damages`: degrees in percent, as `aiq.agents.external.damages` names them;
    None: not this damage. `tasks`: only the first n."""

    damages: Mapping[str, Degrees | None] = Field(min_length=1)
    tasks: int | None = Field(default=None, ge=1)


class DamagedBench:
    """Every task of Deep Research Bench's files with its undamaged report, then with each damage by degree.

    Ids are those of `aiq.core.damage`; tags say `base`, `damage` and `degree`. A `truth.jsonl` beside
    the tasks holds for all of a task's reports.
    """

    Settings = DamagedSettings

    def __init__(self, settings: DamagedSettings) -> None:
        self._settings = settings
        self._tasks = DeepResearchBench(settings)
        self._truth = Files()

    @property
    def fingerprint(self) -> str:
        return f"{self._tasks.fingerprint}{self._truth.fingerprint}"

    def samples(self) -> Iterator[Sample]:
        """Task by task, the undamaged report first."""
        truths = read_truth(self._truth, self._settings.path, None)
        for task in islice(self._tasks.samples(), self._settings.tasks):
            for damaged in _variants(task.id, self._settings.damages):
                tags = {**task.tags, **damaged.tags}
                yield task.model_copy(update={"id": damaged.id, "tags": tags, "truth": truths.get(task.id)})


def _variants(base: str, damages: Mapping[str, Sequence[int] | None]) -> Iterator[Damaged]:
    yield Damaged(base, UNDAMAGED, 0)
    for damage, degrees in damages.items():
        for degree in sorted(set(degrees or ())):
            yield Damaged(base, damage, degree)
