"""Research tasks for measuring judges: each task once for every perturbation and severity of its report.

The reports come from `agent=perturbed`, which reads perturbation and severity from the sample's id.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, NamedTuple, Self

from pydantic import Field

from aiq.core.samples import Sample
from aiq.datasets.base import DatasetSource, read_truth
from aiq.datasets.deep_research_bench import BenchSettings, DeepResearchBench

UNPERTURBED = "none"
"""The perturbation of an unchanged report, at severity 0."""


class Perturbed(NamedTuple):
    """A task's report and its damage: `severity` in percent of sections, sentences or citations, or of length.

    For the undamaged reports by others, `severity` is their number.
    """

    base: str
    perturbation: str
    severity: int

    @property
    def id(self) -> str:
        """The sample's id, such as `7.numbers.50`."""
        return f"{self.base}.{self.perturbation}.{self.severity}"

    @property
    def tags(self) -> dict[str, str]:
        """The fields as a sample's tags."""
        return {name: str(value) for name, value in self._asdict().items()}

    @classmethod
    def parse(cls, sample_id: str) -> Self | None:
        """Parse a sample's id; None if it has another form."""
        base, perturbation, severity = ["", "", *sample_id.rsplit(".", 2)][-3:]
        is_number = severity.isascii() and severity.isdigit()
        return cls(base, perturbation, int(severity)) if base and perturbation and is_number else None


Severities = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]


class PerturbedSettings(BenchSettings):
    perturbations: Mapping[str, Severities | None] = Field(
        min_length=1,
        description="severities in percent, by the names that agent=perturbed knows (for `independent`: "
        "the places of files in agent.independent); null: not this one",
    )
    tasks: int | None = Field(ge=1, description="only the first n tasks")


class PerturbedBench(DatasetSource):
    """Every task of Deep Research Bench's files with its unchanged report, then with each perturbation by severity.

    Tags: `base`, `perturbation` and `severity`. A `truth.jsonl` beside the tasks applies to all reports of a task.
    """

    Settings = PerturbedSettings

    def __init__(self, settings: PerturbedSettings) -> None:
        super().__init__(settings)
        self._tasks = DeepResearchBench(settings)

    @property
    def fingerprint(self) -> str:
        return f"{self._tasks.fingerprint}{self.files.fingerprint}"

    def samples(self) -> Iterator[Sample]:
        """Task by task, the unchanged report first."""
        truths = read_truth(self.files, self.settings.path, None)
        damages = [
            (name, severity)
            for name, severities in self.settings.perturbations.items()
            for severity in sorted(set(severities or ()))
        ]
        for task in islice(self._tasks.samples(), self.settings.tasks):
            for name, severity in [(UNPERTURBED, 0), *damages]:
                variant = Perturbed(task.id, name, severity)
                update = {"id": variant.id, "tags": {**task.tags, **variant.tags}, "truth": truths.get(task.id)}
                yield task.model_copy(update=update)
