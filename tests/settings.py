"""Settings for tests: the shipped ones with changes, so that no test repeats a default."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from typing import Any, TypeVar

from pydantic import BaseModel

from aiq.core.errors import ConfigError
from aiq.core.files import shipped
from aiq.core.plugins import load
from aiq.core.run_settings import DatasetSettings, RunSettings
from aiq.experiment.compose import config_of_options
from aiq.site.settings import section

T = TypeVar("T", bound=BaseModel)


def configured(kind: type[T], /, **changes: Any) -> T:
    """An instance with the shipped values and these changes; a mapping changes single settings of a section.

    What the base of a group leaves open (`llm.model`) must be given. A dataset also gets the settings of its class.
    """
    values = dict(_class_values(kind))
    if kind is DatasetSettings:
        values = {**_target_values(changes["target"]), **values}
    return kind.model_validate(_with_changes(kind, values, changes))


def against_offline(**changes: Any) -> RunSettings:
    """The settings of a whole run whose endpoints are all in the offline stack."""
    values = {
        "name": "test",
        "agent": {"target": "a:B"},
        "dataset": {"target": "a:B", "name": "d"},
        "llm": {"base_url": "http://model.offline.example/v1", "model": "offline"},
        "search": {"provider": "tavily", "base_url": "http://search.offline.example"},
        "web": {"kind": "offline"},
    }
    return configured(RunSettings, **_with_changes(RunSettings, values, changes))


def _target_values(target: str) -> Mapping[str, Any]:
    try:
        return _class_values(load(target, "dataset").Settings)
    except ConfigError:  # the test is about a class that does not exist
        return {}


def _with_changes(kind: type[BaseModel], values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**values, **changes}
    for name, value in changes.items():
        inner = section(kind.model_fields.get(name))
        if inner is not None and isinstance(value, Mapping):
            merged[name] = _with_changes(inner, values.get(name, {}), value)
    return merged


def _class_values(kind: type[BaseModel]) -> Mapping[str, Any]:
    """The shipped settings of a class; for a base class, those of its first subclass that has any."""
    known = places()
    file, *path = known.get(kind) or next((place for other, place in known.items() if issubclass(other, kind)), [""])
    node: Mapping[str, Any] = reduce(lambda values, name: values.get(name, {}), path, _composed(file) if file else {})
    return {name: value for name, value in node.items() if name in kind.model_fields}


@cache
def _composed(file: str) -> Mapping[str, Any]:
    """The config of a file; in that of a whole run, groups hold what all their options share, not the chosen option."""
    config = config_of_options([], file)
    if file == "config":
        config |= {name: config_of_options([], f"{name}/_base")[name] for name in ("llm", "search", "web", "dataset")}
        config["search"]["corpus"] = config["dataset"]["path"] = None
    return config


@cache
def places() -> Mapping[type[BaseModel], tuple[str, ...]]:
    """Where the settings of each class are: the config file that names the plugin, and the path of keys inside it."""
    by_class: dict[type[BaseModel], tuple[str, ...]] = {}
    for kind, place in [*_sections(RunSettings, "config"), *_plugins()]:
        by_class.setdefault(kind, place)
    return by_class


def _sections(kind: type[BaseModel], *place: str) -> Iterator[tuple[type[BaseModel], tuple[str, ...]]]:
    yield kind, place
    for name, field in kind.model_fields.items():
        if inner := section(field):
            yield from _sections(inner, *place, name)


def _plugins() -> Iterator[tuple[type[BaseModel], tuple[str, ...]]]:
    for group in ("agent", "judge", "dataset"):
        for file in sorted((shipped("conf") / group).glob("*.yaml")):
            if match := re.search(r"^target: (\w.*)", file.read_text(encoding="utf-8"), re.MULTILINE):
                keys = (file.stem,) if group == "judge" else ()
                yield from _sections(load(match[1], group).Settings, f"{group}/{file.stem}", group, *keys)
