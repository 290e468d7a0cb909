"""Settings with their meanings: a run's config as commented YAML."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from aiq.core.errors import ConfigError
from aiq.core.run_settings import RunSettings
from aiq.core.settings import Plugin

_WIDEST = 44
"""The widest setting that aligns the comments; a longer one does not push the others' comments to the right."""

Line = tuple[str, str]
"""A line of YAML and the comment on it, perhaps empty."""


def annotated_yaml(settings: RunSettings) -> str:
    """The config of these settings as YAML, the meaning of each setting as a comment beside it."""
    formatted = []
    lines = _lines(settings.model_dump(mode="json"), RunSettings, settings, "")
    for _, group in groupby(lines, key=lambda line: len(line[0]) - len(line[0].lstrip())):
        block = list(group)  # its comments are in one column
        column = max((len(text) for text, meaning in block if meaning and len(text) <= _WIDEST), default=0)
        formatted += [f"{text:<{column}}  # {meaning}" if meaning else text for text, meaning in block]
    return "\n".join(formatted) + "\n"


def _lines(config: Mapping[str, Any], kind: type[BaseModel] | None, values: Any, indent: str) -> Iterator[Line]:
    """The lines of a section. `values`: the settings themselves, which show what is a plugin, or None."""
    fields = dict(kind.model_fields) if kind else {}
    if isinstance(values, Plugin):
        with suppress(ConfigError):  # a class that cannot be loaded
            loaded = values.settings
            fields, config = dict(type(loaded).model_fields), _with_defaults(config, loaded.model_dump(mode="json"))
        fields |= dict(type(values).model_fields)
    for name, value in config.items():
        field = fields.get(name)
        meaning = (field.description if field else None) or ""
        if isinstance(value, Mapping) and value:
            yield f"{indent}{in_yaml(name)}:", meaning
            child = values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)
            child_kind = section(field) or (type(child) if isinstance(child, BaseModel) else None)
            yield from _lines(value, child_kind, child, indent + "  ")
        else:
            yield f"{indent}{in_yaml(name)}: {in_yaml(value)}", meaning


def _with_defaults(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in `config`, filled up with the defaults of a class."""
    filled = {**config, **defaults, **config}  # in the order given
    for name, value in config.items():
        if isinstance(value, Mapping) and isinstance(nested := defaults.get(name), Mapping):
            filled[name] = _with_defaults(value, nested)
    return filled


def section(field: FieldInfo | None) -> type[BaseModel] | None:
    """The settings class of a field that is a section."""
    kind = field.annotation if field else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def in_yaml(value: Any) -> str:
    """A value in YAML's flow style on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return text.removesuffix("\n...\n").strip()
