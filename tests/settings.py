"""Settings for tests: those that aiq ships, with changes; so no test states a default."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from aiq.core.errors import ConfigError
from aiq.core.plugins import load
from aiq.core.run_settings import DatasetSettings, RunSettings
from aiq.experiment.choices import options
from aiq.experiment.compose import config_of_options
from aiq.site.settings import section

T = TypeVar("T", bound=BaseModel)


def configured(kind: type[T], /, **changes: Any) -> T:
    """An instance as shipped config has it, with changes; a mapping changes single settings of a section.

    What the base of a group leaves open (`llm.model`) must be given. A dataset gets the settings of its class, too.
    """
    values = dict(_of_class(kind))
    if kind is DatasetSettings:
        values = {**_of_target(changes["target"]), **values}
    return kind.model_validate(_changed(kind, values, changes))


def against_offline(**changes: Any) -> RunSettings:
    """A whole run's settings, all of whose endpoints are the offline stack's."""
    values = {
        "name": "test",
        "agent": {"target": "a:B"},
        "dataset": {"target": "a:B", "name": "d"},
        "llm": {"base_url": "http://model.offline.example/v1", "model": "offline"},
        "search": {"provider": "tavily", "base_url": "http://search.offline.example"},
        "web": {"kind": "offline"},
    }
    return configured(RunSettings, **_changed(RunSettings, values, changes))


def _of_target(target: str) -> Mapping[str, Any]:
    try:
        return _of_class(load(target, "dataset").Settings)
    except ConfigError:  # a test is about a class that there is not
        return {}


def _changed(kind: type[BaseModel], values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    changed = {**values, **changes}
    for name, value in changes.items():
        inner = section(kind.model_fields.get(name))
        if inner is not None and isinstance(value, Mapping):
            changed[name] = _changed(inner, values.get(name, {}), value)
    return changed


def _of_class(kind: type[BaseModel]) -> Mapping[str, Any]:
    """The shipped settings of a class; of one that others inherit from, those of the first of these."""
    known = _by_class()
    found = known.get(kind) or next((values for other, values in known.items() if issubclass(other, kind)), {})
    return {name: value for name, value in found.items() if name in kind.model_fields}


@cache
def _by_class() -> Mapping[type[BaseModel], Mapping[str, Any]]:
    found: dict[type[BaseModel], Mapping[str, Any]] = {}
    config = config_of_options([])
    config |= {group: config_of_options([], f"{group}/_base")[group] for group in ("llm", "search", "web", "dataset")}
    config["search"]["corpus"] = config["dataset"]["path"] = None
    for kind, values in [*_sections(RunSettings, config), *_plugins()]:
        found.setdefault(kind, values)
    return found


def _sections(kind: type[BaseModel], values: Mapping[str, Any]) -> Iterator[tuple[type[BaseModel], Mapping[str, Any]]]:
    yield kind, values
    for name, field in kind.model_fields.items():
        inner = section(field)
        if inner is not None and name in values:
            yield from _sections(inner, values[name])


def _plugins() -> Iterator[tuple[type[BaseModel], Mapping[str, Any]]]:
    for group in ("agent", "judge", "dataset"):
        for option in options(group):
            below = config_of_options([], f"{group}/{option}")[group]
            for plugin in below.values() if group == "judge" else [below]:
                yield from _sections(load(plugin["target"], group).Settings, plugin)
