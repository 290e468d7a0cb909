"""Sweeps: from overrides with several values and the config's section `sweep` to points; from a point to a config."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from aiq.core.errors import ConfigError
from aiq.core.run_settings import Strategy, SweepSettings
from aiq.experiment.choices import groups
from aiq.experiment.compose import LISTS, compose, parse, sweep_of
from aiq.experiment.search import Places, random_points
from aiq.runs.sweeps import Axis, Point, Sweep

MOST_JOBS: Final = 1000
_RUN_SETTINGS: Final = ("name", "output_dir", "limit", "runner", "cassette", "sweep", "telemetry")
"""Settings of a sweep that are not part of what it found best."""

_STRATEGIES: Final[Mapping[str, tuple[Strategy, ...]]] = {
    "sweep.points": ("random", "optuna"),
    "sweep.rungs": ("halving",),
    "sweep.error": ("halving",),
    "sweep.runs": ("rescore",),
    "sweep.record": ("rescore",),
}


@dataclass(frozen=True)
class Grid:
    """The points that a sweep begins with, its axes, and the section `sweep` of the config.

    `choices`: for each override, in the order given and with those of the config's axes last, one override for each
    of its values.
    """

    settings: SweepSettings
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    choices: tuple[tuple[str, ...], ...]

    def point(self, number: int, places: Places) -> Point:
        """The point with these values, each given by its place on its axis."""
        return _point(number, self.choices, places)


def split(overrides: Sequence[str]) -> Grid:
    """The points that the strategy begins with, in grid order (the last axis varies fastest).

    They are the whole grid, except for `ablation`, `random` and `optuna`. An axis of the config counts unless its
    setting is typed, even with one value. Raises ConfigError.
    """
    typed_names = [override.get_key_element() for override in parse(overrides)]
    config = compose([choice[0] for choice in _choices(overrides)])
    settings = sweep_of(config)
    base = {name: values for name, values in settings.axes.items() if values and name not in typed_names}
    choices = _choices([*overrides, *(f"{name}={','.join(map(as_override, values))}" for name, values in base.items())])
    varying = [choice for choice in choices if len(choice) > 1]
    if not varying:
        raise ConfigError("-m is for sweeps, but no setting has several values; write e.g. seed=0,1,2 or drop -m")
    if duplicate := next((text for choice in varying for text in choice if choice.count(text) > 1), None):
        raise ConfigError(f"{duplicate} is given more than once; keep one")
    sizes = [len(choice) for choice in varying]
    point_counts = {"random": settings.points, "optuna": min(settings.points, 2 * len(sizes) + 1)}
    point_counts["ablation"] = 1 + sum(size - 1 for size in sizes)
    n = point_counts.get(settings.strategy, math.prod(sizes))
    if n > MOST_JOBS:
        raise ConfigError(f"the sweep has {n} points, more than {MOST_JOBS} (sweep.strategy=random draws some of them)")
    places = ablation_points(sizes) if settings.strategy == "ablation" else random_points(sizes, n, config["seed"])
    points = [_point(number, choices, place) for number, place in enumerate(places)]
    axes = [
        Axis(name=name, values=tuple(_value(override) for override in choice))
        for name, choice in zip(points[0].axes, varying, strict=True)
    ]
    return Grid(settings, tuple(axes), tuple(points), choices)


def ablation_points(sizes: Sequence[int]) -> list[Places]:
    """The first value of every axis; then each other value of one axis, with the first values of the others."""
    base = (0,) * len(sizes)
    changes = [(axis, value) for axis, size in enumerate(sizes) for value in range(1, size)]
    return [base, *((*base[:axis], value, *base[axis + 1 :]) for axis, value in changes)]


def refuse_sweep(overrides: Sequence[str]) -> None:
    """Raises ConfigError if a single run is given several values for a setting."""
    for override in parse(overrides):
        if override.is_sweep_override():
            text = override.input_line or ""
            key, _, value = text.partition("=")
            remedy = "" if key in groups() and key not in LISTS else f"; for a list write {key}=[{value}]"
            raise ConfigError(f"{text}: several values make a sweep, which needs -m{remedy}")


def refuse_unused(grid: Grid, overrides: Sequence[str]) -> None:
    """Raises ConfigError for a typed setting that the sweep's strategy does not use, and for drawing every point."""
    strategy = grid.settings.strategy
    for override in parse(overrides):
        strategies = _STRATEGIES.get(override.get_key_element())
        if strategies is not None and strategy not in strategies:
            raise ConfigError(
                f"{override.input_line}: only sweep.strategy={' or '.join(strategies)} uses it, and this is "
                f"sweep.strategy={strategy}; drop it"
            )
    grid_size = math.prod(len(axis.values) for axis in grid.axes)
    if strategy == "random" and grid.settings.points >= grid_size:
        raise ConfigError(
            f"sweep.strategy=random: sweep.points={grid.settings.points}: the grid has only {grid_size}; "
            "set fewer (sweep.points=N), or drop the strategy"
        )


def refuse_axes(config: Mapping[str, Any], overrides: Sequence[str]) -> None:
    """Raises ConfigError if the config of a single run varies a setting for which no value is typed."""
    typed_names = [override.get_key_element() for override in parse(overrides)]
    axes = sweep_of(config).axes.items()
    if names := [name for name, values in axes if values and len(values) > 1 and name not in typed_names]:
        remedy = " ".join(f"{name}=VALUE" for name in names)
        listing = " and ".join(names)
        raise ConfigError(f"{config['name']} is a sweep over {listing}, which needs -m; for one run set {remedy}")


def as_override(value: JsonValue) -> str:
    """A value as written in overrides."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", r"\'"))
    if isinstance(value, list):
        return f"[{','.join(map(as_override, value))}]"
    if isinstance(value, dict):
        return "{{{}}}".format(",".join(f"{key}:{as_override(item)}" for key, item in value.items()))
    return str(value)


def _choices(overrides: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """For each override, one override for each of its values. Raises ConfigError."""
    from hydra.errors import HydraException

    choices = []
    for text, override in zip(overrides, parse(overrides), strict=True):
        try:
            values = override.sweep_string_iterator() if override.is_sweep_override() else None
            choice = (text,) if values is None else tuple(f"{override.get_key_element()}={value}" for value in values)
        except HydraException as error:
            raise ConfigError(f"{text}: {' '.join(str(error).split())}") from None
        choices.append(choice)
    return tuple(choices)


def _point(number: int, choices: Sequence[Sequence[str]], places: Places) -> Point:
    indices = iter(places)
    overrides = [choice[next(indices)] if len(choice) > 1 else choice[0] for choice in choices]
    varying = [text for text, choice in zip(overrides, choices, strict=True) if len(choice) > 1]
    axes = {parse([text])[0].get_key_element().lstrip("+"): _value(text) for text in varying}
    return Point(number=number, axes=axes, overrides=tuple(overrides))


def _value(override: str) -> str:
    """The value itself, without the quotes that Hydra's grammar needs."""
    (parsed,) = parse([override])
    value: Any = parsed.value()
    return value if isinstance(value, str) else as_override(value)


def as_experiment(sweep: Sweep, point: Point, name: str) -> str:
    """A point as the config file of an experiment with this name, which inherits from the sweep's experiment.

    Raises ConfigError for an override that a file cannot express.
    """
    from omegaconf import OmegaConf

    defaults: list[Any] = []
    settings = OmegaConf.create({"name": name, "limit": None})
    for override in parse(point.overrides):
        key, value = override.get_key_element().lstrip("+"), override.value()
        if override.is_delete():
            raise ConfigError(f"{override.input_line}: a config file cannot delete a setting; write one by hand")
        if key == "experiment":
            defaults.insert(0, value)
        elif key.partition(".")[0] in _RUN_SETTINGS:
            continue
        elif key in groups():
            defaults.append({f"override /{key}": value})
        else:
            OmegaConf.update(settings, key, value)
    typed_names = {override.get_key_element().lstrip("+") for override in parse(sweep.overrides)}
    if config_axes := {axis.name: None for axis in sweep.axes if axis.name not in typed_names}:
        settings["sweep"] = {"axes": config_axes}
    config = OmegaConf.to_yaml(OmegaConf.merge({"defaults": [*defaults, "_self_"]}, settings))
    return f"# @package _global_\n# {sweep.label(point)}, as sweep {sweep.sweep_id} recommends\n{config}"
