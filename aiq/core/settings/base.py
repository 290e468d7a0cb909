"""What all settings models share: frozen, strict, and how a plugin's own settings travel."""

from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator

_NUMBERS = (int, float, int | None, float | None)


class Settings(BaseModel):
    """Base of all settings models: frozen, no unknown keys, no `true` for a number (Python takes it for 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _number_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        field = cls.model_fields.get(info.field_name or "")
        if isinstance(value, bool) and field is not None and field.annotation in _NUMBERS:
            raise ValueError("Input should be a number")
        return value


class Plugin(Settings):
    """A class named in config; every key but `target` is that class's own setting."""

    model_config = ConfigDict(frozen=True, extra="allow")

    target: str

    @property
    def settings(self) -> dict[str, Any]:
        """The plugin's own settings, unvalidated."""
        return dict(self.model_extra or {})


def _check_port(parts: SplitResult) -> None:
    """Raises ValueError without the words of Python's, which may be the first ones of a password."""
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("a port is a number up to 65535") from None


def _endpoint(value: object) -> object:
    """An address of http or https that paths can be added to; without a key or password: it stands in the manifest."""
    if isinstance(value, str):
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write an address such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc:
            raise ValueError("an address must hold no name or password; name the key's variable in api_key_env")
        if "?" in value or "#" in value:
            raise ValueError("an address ends with its path; name the key's variable in api_key_env")
        _check_port(parts)
    return value


def _one_or_more(value: object) -> object:
    return () if value is None else (value,) if isinstance(value, str) else value


OneOrMore = Annotated[tuple[str, ...], BeforeValidator(_one_or_more)]
"""A list of names; a single one may stand without brackets."""

Endpoint = Annotated[str, BeforeValidator(_endpoint)]
