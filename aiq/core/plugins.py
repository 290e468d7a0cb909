"""Classes named in config as `package.module:Class`: how agents, datasets and judges are found."""

import importlib
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from aiq.core.errors import ConfigError

ModelT = TypeVar("ModelT", bound=BaseModel)


def load(target: str, setting: str) -> Any:
    """The object that `target` names. `setting` is the config key it came from, for the error.

    Raises ConfigError when module or attribute do not exist; errors inside the module pass through.
    """
    module_name, _, attribute = target.partition(":")
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        raise ConfigError(f"{setting}: '{target}' is not of the form package.module:Class")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise ConfigError(f"{setting}: there is no module '{error.name}' (from '{target}')") from None
        raise
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise ConfigError(f"{setting}: module {module_name} has no '{attribute}'") from None


def validate(model: type[ModelT], values: object, prefix: str) -> ModelT:
    """`values` as a settings model; raises ConfigError, one line for the first few wrong settings."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(describe(error, prefix)) from None


def describe(error: ValidationError, prefix: str = "") -> str:
    """A ValidationError as one line: `agent.shallow.max_tool_iterations=-1: Input should be ...`."""
    parts = []
    for item in error.errors(include_url=False)[:3]:
        name = ".".join([*([prefix] if prefix else []), *(str(part) for part in item["loc"])])
        if item["type"] == "extra_forbidden":
            parts.append(f"{name}: there is no such setting")
        elif item["type"] == "missing":
            parts.append(f"{name}: must be set")
        else:
            message = item["msg"].removeprefix("Value error, ")
            parts.append(f"{name}={_shown(item['input'])}: {message}" if name else message)
    more = error.error_count() - len(parts)
    return "; ".join(parts) + (f" (and {more} more)" if more > 0 else "")


def _shown(value: object) -> str:
    """The value as Python writes it, in 100 characters (a row may hold a whole report) and without a password."""
    text = re.sub(r"(?<=://)[^/@]+@", "...@", repr(value))
    return text if len(text) <= 100 else f"{text[:97]}..."
