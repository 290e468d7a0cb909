"""Manifests of older versions: a setting that a config lacks comes from the shipped option; a class may have moved."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import getitem
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from aiq.core.errors import ConfigError
from aiq.core.plugins import load
from aiq.core.settings import RunSettings
from aiq.experiment.compose import groups, option_config, options
from aiq.runs.manifest import Manifest

_ABSENT: Final = object()


def brought_up_to_date(manifest: Manifest) -> tuple[Manifest, list[str]]:
    """The manifest with a config that today's settings classes accept, and a note on each thing that was changed.

    What no shipped option can mend stays as it is: whoever makes the settings says what is wrong.
    """
    config: dict[str, Any] = copy.deepcopy(dict(manifest.config))
    judges = config.get("judge") or {}
    notes = []
    for place in ("agent", "dataset", *(f"judge.{name}" for name in judges)):
        plugin = judges[place.removeprefix("judge.")] if place.startswith("judge.") else config.get(place)
        if isinstance(plugin, dict):
            notes += _mend_plugin(plugin, place, manifest.options.get(place))
    for path in _lacking(RunSettings, config):
        group = str(path[0])
        notes += _fill(config, path, _configs(group, manifest.options.get(group)), "")
    return (manifest.model_copy(update={"config": config}) if notes else manifest), notes


def _mend_plugin(plugin: dict[str, Any], place: str, option: str | None) -> list[str]:
    """Gives a plugin the class that its option names now, and the settings that its class did not have then."""
    group, notes, then = place.partition(".")[0], [], plugin["target"]
    try:
        kind = load(then, place)
    except ConfigError:
        now = option and _at(option_config(group, option), (*place.split("."), "target"))
        if not isinstance(now, str) or now == then:
            return []  # make_plan says what is wrong
        plugin["target"], kind = now, load(now, place)
        notes.append(f"{place}.target: {then} is now {now}, as {group}={option} has it")
    known = {name: value for name, value in plugin.items() if name in kind.Settings.model_fields}
    for path in _lacking(kind.Settings, known):
        notes += _fill(plugin, path, _plugins(place, plugin["target"], option, path[0]), f"{place}.")
    return notes


def _lacking(model: type[BaseModel], values: Mapping[str, Any]) -> list[tuple[int | str, ...]]:
    """The places of settings that must be set and are not."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        return [item["loc"] for item in error.errors(include_url=False) if item["type"] == "missing"]
    return []


def _configs(group: str, option: str | None) -> Iterator[Any]:
    """Configs to take a setting from: with the recorded option, the base of its group, each option, by default."""
    names = [option, "_base", *options(group)] if group in groups() else []
    return (option_config(group, name) for name in [*filter(None, dict.fromkeys(names)), None])


def _plugins(place: str, target: str, option: str | None, name: int | str) -> Iterator[Any]:
    """Sections to take a setting from: options of the class, then of classes that inherit it from the same one."""
    group, kind = place.partition(".")[0], load(target, place).Settings
    related = []
    for config in _configs(group, option):
        below = config.get(group, {})
        for section in below.values() if group == "judge" else [below]:
            other = section.get("target")
            if other == target:
                yield section
            elif other is not None and _inherited(name, kind, load(other, place).Settings):
                related.append(section)
    yield from related


def _inherited(name: int | str, one: type[BaseModel], other: type[BaseModel]) -> bool:
    """Whether both have the setting from one class."""
    common = [base for base in other.__mro__ if issubclass(base, BaseModel) and issubclass(one, base)]
    return any(name in base.model_fields for base in common)


def _fill(
    values: dict[str, Any], path: tuple[int | str, ...], sections: Iterable[Mapping[str, Any]], prefix: str
) -> list[str]:
    """Puts what is lacking in its place, from the first of the sections that has it; the note on it."""
    value = next((found for section in sections if (found := _at(section, path)) is not _ABSENT), _ABSENT)
    if value is _ABSENT:
        return []
    reduce(getitem, path[:-1], cast("Any", values))[path[-1]] = value
    name = prefix + ".".join(map(str, path))
    return [f"{name} is not in the manifest, which an older version wrote; it is {value!r} now, as shipped"]


def _at(values: Any, path: Iterable[int | str]) -> Any:
    """What is at a place of nested mappings, or _ABSENT."""
    try:
        return reduce(getitem, path, values)
    except (LookupError, TypeError):
        return _ABSENT
