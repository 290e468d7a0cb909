"""What settings are made of: the base of all settings models, a class named in config, types, environment variables."""

import os
from collections.abc import Container, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from aiq.core import plugins
from aiq.core.base import Record
from aiq.core.errors import AiqError, ConfigError
from aiq.core.secrets import hide

Count = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Settings(Record):
    """Base of all settings models: as records are, numbers finite, and no `true` for one (Python takes it for 1)."""

    model_config = ConfigDict(allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _number_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, bool) and (field := cls.model_fields.get(info.field_name or "")):
            optional = get_origin(field.annotation) in (Union, UnionType)
            kinds = get_args(field.annotation) if optional else (field.annotation,)
            if any(getattr(kind, "__origin__", kind) in (int, float) for kind in kinds):
                raise ValueError("Input should be a number")
        return value


class Plugin(Settings):
    """A class named in config; every key but `target` is that class's own setting."""

    model_config = ConfigDict(frozen=True, extra="allow")

    target: str = Field(description="the class, as package.module:Class")

    @property
    def given(self) -> dict[str, Any]:
        """The settings of the class, as they were composed."""
        return dict(self.model_extra or {})

    @property
    def settings(self) -> Any:
        """The same, validated: an instance of the class's `Settings`. Raises ConfigError."""
        return self.validated("")

    def validated(self, setting: str) -> Any:
        """Its `settings`; `setting` is where config has the plugin, for the error. Raises ConfigError."""
        kind = getattr(plugins.load(self.target, f"{setting}.target"), "Settings", None)
        if not (isinstance(kind, type) and issubclass(kind, Settings)):
            raise ConfigError(f"{setting}.target: {self.target} has no Settings, a child of aiq.core.settings.Settings")
        return plugins.validate(kind, self.given, setting)

    def make(self, setting: str) -> tuple[Any, Any]:
        """An instance of the class, and its validated settings. Raises ConfigError, also for what its making raises."""
        settings = self.validated(setting)
        try:
            return plugins.load(self.target, setting)(settings), settings
        except AiqError:
            raise
        except Exception as error:
            raise ConfigError(f"{setting}.target: {self.target} cannot be made: {plugins.failure(error)}") from error


def from_environment(setting: str, variable: str) -> str:
    """What the environment variable that a setting names holds. Raises ConfigError where that is nothing."""
    if not (value := os.environ.get(variable, "").strip()):
        raise ConfigError(f"{setting}: the environment variable {variable} is not set; export it")
    return value


def headers_of(setting: str, headers_env: Mapping[str, str]) -> dict[str, str]:
    """The headers that `headers_env` of a section names; a token alone is a bearer token. Raises ConfigError."""
    found = {}
    for name, variable in headers_env.items():
        value = from_environment(f"{setting}.headers_env.{name}", variable)
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"{setting}.headers_env.{name}={variable}: no header can have its value")
        hide((value,))
        found[name] = f"Bearer {value}" if name.lower() == "authorization" and " " not in value else value
    return found


def _endpoint(value: object) -> object:
    """An address of http or https that paths can be added to; without a key or password: the manifest shows it."""
    if isinstance(value, str):
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write an address such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc or "?" in value or "#" in value:
            raise ValueError(
                "an address has no key and ends with its path; name the key's variable in api_key_env or headers_env"
            )
        try:
            _ = parts.port
        except ValueError:  # whose words may be the first ones of a password
            raise ValueError("a port is a number up to 65535") from None
    return value


def _listed(value: object) -> object:
    """A single name needs no brackets."""
    return value if value is None or isinstance(value, list | tuple) else (value,)


Names = Annotated[tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] | None, BeforeValidator(_listed)]
OneOrMore = Annotated[tuple[str, ...], BeforeValidator(lambda value: _listed(value) or ())]

Endpoint = Annotated[str, BeforeValidator(_endpoint)]


def dotted(nested: Any, fields: Container[str] = ()) -> Any:
    """A map whose keys have dots in them, as it was before the dots of `llm.roles.aiq.planner.model=m` split it.

    `fields` are those of the map's values: where a mapping has one of them, it is a value.
    """
    if not isinstance(nested, Mapping):
        return nested
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        below = value if isinstance(value, Mapping) else {}
        own = {name: item for name, item in below.items() if name in fields}
        below = {name: item for name, item in below.items() if name not in fields}
        if own or not below:
            flat[str(key)] = own if isinstance(value, Mapping) else value
        flat |= {f"{key}.{name}": item for name, item in dotted(below, fields).items()}
    return flat


def section_of(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of a composed config as it is; empty where there is none, or something else in its place."""
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}
