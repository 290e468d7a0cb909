"""Between composed config and the settings a run works with: dotted keys, validation, dumping."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from aiq.core.plugins import validate
from aiq.core.settings import Price, RoleSettings, RunSettings


def settings_from(config: Mapping[str, Any]) -> RunSettings:
    """Composed config as settings. Raises ConfigError, one line."""
    values = dict(config)
    if isinstance(config.get("llm"), Mapping):
        values["llm"] = {
            **config["llm"],
            "roles": dotted(config["llm"].get("roles") or {}, frozenset(RoleSettings.model_fields)),
            "prices": dotted(config["llm"].get("prices") or {}, frozenset(Price.model_fields)),
        }
    return validate(RunSettings, values, "")


def config_of(settings: RunSettings) -> dict[str, JsonValue]:
    """Settings as config: what stands in the manifest, and gives the same settings again."""
    config: dict[str, JsonValue] = settings.model_dump(mode="json")
    return config


def dotted(nested: Any, fields: frozenset[str]) -> Any:
    """A map whose keys have dots in them, as it was before the dots of `llm.roles.aiq.planner.model=m` split it.

    `fields` are those of the map's values: where a mapping has one of them, it is a value.
    """
    if not isinstance(nested, Mapping):
        return nested
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if not isinstance(value, Mapping):
            flat[str(key)] = value
            continue
        own = {name: item for name, item in value.items() if name in fields}
        below = {name: item for name, item in value.items() if name not in fields}
        if own or not below:
            flat[str(key)] = own
        flat |= {f"{key}.{name}": item for name, item in dotted(below, fields).items()}
    return flat
