"""What settings are made of: the base of all settings models, classes named in config, types, environment variables."""

import os
from collections.abc import Container, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from aiq.core import plugins
from aiq.core.base import Record
from aiq.core.errors import AiqError, ConfigError
from aiq.core.secrets import register_secrets

Count = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Settings(Record):
    """Base of all settings models: a record whose numbers are finite and never `true` (which Python takes for 1)."""

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
    """A class named in config; every key but `target` is a setting of that class."""

    model_config = ConfigDict(frozen=True, extra="allow")

    target: str = Field(description="the class, as package.module:Class")

    @property
    def given(self) -> dict[str, Any]:
        """The settings of the class, as composed."""
        return dict(self.model_extra or {})

    @property
    def settings(self) -> Any:
        """The same, validated: an instance of the class's `Settings`. Raises ConfigError."""
        return self.validated("")

    def validated(self, setting: str) -> Any:
        """The validated settings; `setting` is the plugin's place in config, for the error. Raises ConfigError."""
        kind = getattr(plugins.load(self.target, f"{setting}.target"), "Settings", None)
        if not (isinstance(kind, type) and issubclass(kind, Settings)):
            raise ConfigError(f"{setting}.target: {self.target} has no Settings based on aiq.core.settings.Settings")
        return plugins.validate(kind, self.given, setting)

    def make(self, setting: str) -> tuple[Any, Any]:
        """An instance of the class, and its validated settings. Raises ConfigError, also if its constructor fails."""
        settings = self.validated(setting)
        try:
            return plugins.load(self.target, setting)(settings), settings
        except AiqError:
            raise
        except Exception as error:
            raise ConfigError(f"{setting}.target: {self.target} cannot be created: {plugins.failure(error)}") from error


def from_environment(setting: str, variable: str) -> str:
    """The value of the environment variable that a setting names. Raises ConfigError if it is not set."""
    if not (value := os.environ.get(variable, "").strip()):
        raise ConfigError(f"{setting}: the environment variable {variable} is not set; export it")
    return value


def headers_of(setting: str, headers_env: Mapping[str, str]) -> dict[str, str]:
    """The headers that a section's `headers_env` names; a token alone becomes a bearer token. Raises ConfigError."""
    headers = {}
    for name, variable in headers_env.items():
        value = from_environment(f"{setting}.headers_env.{name}", variable)
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"{setting}.headers_env.{name}={variable}: its value cannot be a header")
        register_secrets((value,))
        headers[name] = f"Bearer {value}" if name.lower() == "authorization" and " " not in value else value
    return headers


def _endpoint(value: object) -> object:
    """An HTTP(S) address that paths can be added to, without key or password, because the manifest shows it."""
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
        except ValueError:  # its message may quote the start of a password
            raise ValueError("a port is a number up to 65535") from None
    return value


def _as_tuple(value: object) -> object:
    """A single name needs no brackets."""
    return value if value is None or isinstance(value, list | tuple) else (value,)


Names = Annotated[tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] | None, BeforeValidator(_as_tuple)]
OneOrMore = Annotated[tuple[str, ...], BeforeValidator(lambda value: _as_tuple(value) or ())]

Endpoint = Annotated[str, BeforeValidator(_endpoint)]


def dotted(nested: Any, fields: Container[str] = ()) -> Any:
    """A mapping with dotted keys, as it was before the dots of `llm.roles.aiq.planner.model=m` split it.

    `fields` are those of the mapping's values: an inner mapping that has one of them is a value.
    """
    if not isinstance(nested, Mapping):
        return nested
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        inner = value if isinstance(value, Mapping) else {}
        values = {name: item for name, item in inner.items() if name in fields}
        inner = {name: item for name, item in inner.items() if name not in fields}
        if values or not inner:
            flat[str(key)] = values if isinstance(value, Mapping) else value
        flat |= {f"{key}.{name}": item for name, item in dotted(inner, fields).items()}
    return flat


def section_of(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section of a composed config, unchanged; empty if it is missing or not a mapping."""
    section = config.get(name)
    return section if isinstance(section, Mapping) else {}
