"""`manifest.json`: what a run is and how far it got, and the few rules that its state and summary need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from pydantic import JsonValue, ValidationError

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.plugins import describe
from aiq.core.reports import Metric
from aiq.core.run_settings import FailureSettings
from aiq.core.samples import SampleKey
from aiq.core.settings import Settings, section_of
from aiq.stats.intervals import Method

SettingsT = TypeVar("SettingsT", bound=Settings)
RunStatus = Literal["running", "finished", "interrupted", "failed"]
FailureRule = Literal["worst", "exclude"]
"""How a failed attempt counts: as the declared worst value of each metric, or not at all."""


class SweepPlace(Record):
    """Where a run is in a sweep: the sweep's id, the job's number from 0, and its value on each axis."""

    id: str
    job: int
    axes: Mapping[str, str]


class DatasetIdentity(Record):
    """`size`: samples in the dataset; `samples`: how many of them this run takes."""

    name: str
    fingerprint: str
    size: int
    samples: int


class Hashes(Record):
    """The first 16 hex digits of SHA-256 digests. `config` is without output, runner and cassette settings."""

    config: str
    agent: str
    judges: Mapping[str, str]
    prompts: Mapping[str, str]


class Resumption(Record):
    """One later start of the same run."""

    time: str
    overrides: tuple[str, ...]


class Rescored(Record):
    """Where the reports of a rescored run, in which only judges worked, come from: the run and its agents' models.

    `overrides` compose that run with these judges.
    """

    run: str
    models: Mapping[str, str]
    overrides: tuple[str, ...] = ()


class JudgeSpec(Record):
    """What a judge declares, and the hash that tells its scores from those of other settings, prompts or models."""

    name: str
    version: str
    hash: str
    metrics: tuple[Metric, ...]


class Manifest(Record):
    """What was run, on what, with which code, and how far it got. Version 1 lacks `judges`, which resuming adds.

    `options`: the chosen config options, by their place in the config (`judge.race: race`). `elsewhere`: roles that a
    model other than the one `offline` describes answers. `structured`: by model and schema, the form that structured
    output fell back to.
    """

    schema_version: Literal[1, 2] = 2
    run_id: str
    experiment: str
    status: RunStatus
    started: str
    finished: str | None = None
    resumed: tuple[Resumption, ...] = ()
    config: Mapping[str, JsonValue]
    overrides: tuple[str, ...]
    options: Mapping[str, str] = {}
    hashes: Hashes
    judges: tuple[JudgeSpec, ...] = ()
    models: Mapping[str, str]
    dataset: DatasetIdentity
    clock: str
    offline: bool
    elsewhere: tuple[str, ...] = ()
    versions: Mapping[str, str]
    git_revision: str | None
    sweep: SweepPlace | None = None
    shard: str | None = None
    rescored: Rescored | None = None
    counts: Mapping[str, int] = {}
    structured: Mapping[str, str] = {}

    def section(self, name: str, kind: type[SettingsT]) -> SettingsT:
        """A section of the config, validated. Raises UserError if an older version wrote it with other settings."""
        try:
            return kind.model_validate(self.config.get(name, {}))
        except ValidationError as error:
            raise UserError(
                f"run {self.run_id} was made by another version: {describe(error, name)}; "
                "aiq run resume=RUN takes what is missing from the shipped config"
            ) from None

    @property
    def axes(self) -> Mapping[str, str]:
        """Its values on the axes of its sweep."""
        return self.sweep.axes if self.sweep else {}

    @property
    def agent_models(self) -> dict[str, str]:
        """Model by role, without those of judges."""
        return {role: model for role, model in self.models.items() if not role.startswith("judge.")}

    def raw_section(self, name: str) -> Mapping[str, Any]:
        """A section of the config, not validated; empty if there is none."""
        return section_of(self.config, name)

    @property
    def failures(self) -> FailureSettings:
        """How its failures count; no other setting of `runner` matters for an existing run."""
        return FailureSettings.model_validate(
            {name: self.raw_section("runner").get(name) for name in FailureSettings.model_fields}
        )

    @property
    def cassette_mode(self) -> str:
        """How the run used a recording; `off` for versions that had none."""
        return str(self.raw_section("cassette").get("mode", "off"))

    @property
    def intervals(self) -> Method:
        """How the run's intervals are computed; `score` for versions that had no other."""
        return "exact" if self.config.get("intervals") == "exact" else "score"

    def with_judges(self, judges: Iterable[JudgeSpec]) -> "Manifest":
        """The manifest, in the newest version, of the run with these judges from now on."""
        judges = tuple(judges)
        hashes = self.hashes.model_copy(update={"judges": {judge.name: judge.hash for judge in judges}})
        return self.model_copy(update={"schema_version": 2, "judges": judges, "hashes": hashes})


@dataclass(frozen=True)
class RunSpec:
    """What is to be done, which judges score it, and what counts as done, as failed and as too many failures.

    `intervals`: how the intervals of its metrics are computed.
    """

    keys: Sequence[SampleKey]
    judges: tuple[JudgeSpec, ...]
    failures: FailureSettings
    intervals: Method = "score"

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Every declared metric by name, in the order of the judges."""
        return {metric.name: metric for judge in self.judges for metric in judge.metrics}
