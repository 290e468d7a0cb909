"""Research tasks for measuring judges: each task many times, once for every damage and degree of its report.

The reports themselves come from `agent=damaged`, which reads damage and degree from the sample's id.

The name of a damaged report: which task's report, damaged how and how much. The id that samples of it have.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, NamedTuple, Self

from pydantic import Field

from aiq.core.files import Files
from aiq.core.samples import Sample
from aiq.datasets.deep_research_bench import BenchSettings, DeepResearchBench
from aiq.datasets.truth import read_truth

UNDAMAGED = "none"
"""The damage of a report that is as it was, at degree 0."""


class Damaged(NamedTuple):
    """`degree`: how much, in percent: of the sections, sentences or citations there are, or of the length added."""

    base: str
    damage: str
    degree: int

    @property
    def id(self) -> str:
        """As `7.numbers.50`."""
        return f"{self.base}.{self.damage}.{self.degree}"

    @property
    def tags(self) -> dict[str, str]:
        """The same as a sample's tags."""
        return {"base": self.base, "damage": self.damage, "degree": str(self.degree)}

    @classmethod
    def of(cls, sample_id: str) -> Self | None:
        """Read an id; None where it is of another form."""
        base, damage, degree = ["", "", *sample_id.rsplit(".", 2)][-3:]
        return cls(base, damage, int(degree)) if base and damage and degree.isascii() and degree.isdigit() else None


Degrees = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]


class DamagedSettings(BenchSettings):
    """`damages`: degrees in percent, as `aiq.agents.external.perturbations` names them;
    None: not this damage. `tasks`: only the first n."""

    damages: Mapping[str, Degrees | None] = Field(min_length=1)
    tasks: int | None = Field(default=None, ge=1)


class DamagedBench:
    """Every task of Deep Research Bench's files with its undamaged report, then with each damage by degree.

    Ids are those of `aiq.datasets.perturbed`; tags say `base`, `damage` and `degree`. A `truth.jsonl` beside
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
