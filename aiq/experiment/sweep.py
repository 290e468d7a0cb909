"""Sweeps: from overrides with lists, ranges and choices to one list of overrides a job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiq.core.errors import ConfigError
from aiq.experiment.compose import LISTS, groups, parse

MOST_JOBS = 1000


@dataclass(frozen=True)
class Job:
    """One run of a sweep: all its overrides, and of these the ones that vary."""

    overrides: tuple[str, ...]
    axes: Mapping[str, str]


def split(overrides: Sequence[str]) -> list[Job]:
    """Every combination, the last axis varying fastest, as Hydra's own sweeper has it. Raises ConfigError."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.errors import HydraException

    parsed = parse(overrides)
    varying = [override.get_key_element() for override in parsed if override.is_sweep_override()]
    if not varying:
        raise ConfigError("-m is for sweeps, and no setting has several values; write e.g. seed=0,1,2 or drop -m")
    try:
        (batch,) = BasicSweeper.split_arguments(parsed, None)
    except HydraException as error:
        raise ConfigError(" ".join(str(error).split())) from None
    if len(batch) > MOST_JOBS:
        raise ConfigError(f"the sweep has {len(batch)} jobs; {MOST_JOBS} at most")
    return [Job(tuple(job), _axes(job, varying)) for job in batch]


def refuse(overrides: Sequence[str]) -> None:
    """Raises ConfigError when a single run is given several values for a setting."""
    for override in parse(overrides):
        if override.is_sweep_override():
            text = override.input_line or ""
            key, _, value = text.partition("=")
            one = "" if key in groups() and key not in LISTS else f"; for one list write {key}=[{value}]"
            raise ConfigError(f"{text}: several values are a sweep, which needs -m{one}")


def _axes(job: Sequence[str], varying: Sequence[str]) -> dict[str, str]:
    """What varies, with the values as they are meant: Hydra's sweeper gives them quoted for its grammar."""
    values = {override.get_key_element(): str(override.value()) for override in parse(job)}
    return {name.lstrip("+"): values[name] for name in varying}
