"""Sweeps: from overrides with lists, ranges and choices, and the config's section `sweep`, to the points to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from aiq.core.errors import ConfigError
from aiq.core.run_settings import SweepSettings
from aiq.experiment.compose import LISTS, compose, groups, parse, sweep_of
from aiq.runs.sweeps import Axis, Point

MOST_JOBS = 1000


@dataclass(frozen=True)
class Grid:
    """Every combination of the values of its axes, and the section `sweep` of the config."""

    settings: SweepSettings
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]


def split(overrides: Sequence[str]) -> Grid:
    """Every combination, the last axis varying fastest, as Hydra's own sweeper has it.

    An axis of the config counts unless its setting is typed, be it with one value. Raises ConfigError.
    """
    typed = [override.get_key_element() for override in parse(overrides)]
    settings = sweep_of(compose(_jobs(overrides)[0]))
    own = {name: values for name, values in settings.axes.items() if values and name not in typed}
    overrides = [*overrides, *(f"{name}={','.join(map(written, values))}" for name, values in own.items())]
    varying = [override.get_key_element() for override in parse(overrides) if override.is_sweep_override()]
    if not varying:
        raise ConfigError("-m is for sweeps, and no setting has several values; write e.g. seed=0,1,2 or drop -m")
    jobs = _jobs(overrides)
    points = [Point(number=number, axes=_axes(job, varying), overrides=job) for number, job in enumerate(jobs)]
    axes = [
        Axis(name=name, values=tuple(dict.fromkeys(point.axes[name] for point in points))) for name in points[0].axes
    ]
    return Grid(settings, tuple(axes), tuple(points))


def refuse(overrides: Sequence[str]) -> None:
    """Raises ConfigError when a single run is given several values for a setting."""
    for override in parse(overrides):
        if override.is_sweep_override():
            text = override.input_line or ""
            key, _, value = text.partition("=")
            one = "" if key in groups() and key not in LISTS else f"; for one list write {key}=[{value}]"
            raise ConfigError(f"{text}: several values are a sweep, which needs -m{one}")


def refuse_axes(config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """Raises ConfigError when a single run is made of a config that varies a setting for which no value is typed."""
    typed = [override.get_key_element() for override in parse(overrides)]
    for name, values in sweep_of(config).axes.items():
        if values and len(values) > 1 and name not in typed:
            raise ConfigError(f"{config['name']} is a sweep over {name}, which needs -m; for one run set {name}=VALUE")


def written(value: JsonValue) -> str:
    """A value as overrides have it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", r"\'"))
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, dict):
        return "{{{}}}".format(",".join(f"{key}:{written(item)}" for key, item in value.items()))
    return str(value)


def _jobs(overrides: Sequence[str]) -> list[tuple[str, ...]]:
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.errors import HydraException

    try:
        (batch,) = BasicSweeper.split_arguments(parse(overrides), None)
    except HydraException as error:
        raise ConfigError(" ".join(str(error).split())) from None
    if len(batch) > MOST_JOBS:
        raise ConfigError(f"the sweep has {len(batch)} jobs; {MOST_JOBS} at most")
    return [tuple(job) for job in batch]


def _axes(job: Sequence[str], varying: Sequence[str]) -> dict[str, str]:
    """What varies, with the values as they are meant: Hydra's sweeper gives them quoted for its grammar."""
    values = {override.get_key_element(): str(override.value()) for override in parse(job)}
    return {name.lstrip("+"): values[name] for name in varying}
