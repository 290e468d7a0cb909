"""Classes named in config as `package.module:Class`: how agents, datasets and judges are found."""

import difflib
import importlib
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from aiq.core.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ModelT = TypeVar("ModelT", bound=BaseModel)


def add_cwd_to_path() -> None:
    """Let config name classes and functions in files of the current folder."""
    if (cwd := str(Path.cwd())) not in sys.path:
        sys.path.append(cwd)


def load(target: str, setting: str) -> Any:
    """The object that `target` names. `setting` is the config key it came from, for the error.

    Raises ConfigError if module or attribute do not exist, or importing the module fails.
    """
    module_name, _, attribute = target.partition(":")
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        raise ConfigError(f"{setting}: '{target}' is not of the form package.module:Class (or :function)")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise ConfigError(f"{setting}: there is no module '{error.name}' (from '{target}')") from None
        raise ConfigError(f"{setting}: module {module_name} cannot be imported: {failure(error)}") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{setting}: module {module_name} cannot be imported: {failure(error)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise ConfigError(f"{setting}: module {module_name} has no '{attribute}'") from None


def failure(error: BaseException) -> str:
    """What the user's own code raised, and where, in one line."""
    *_, last = traceback.extract_tb(error.__traceback__)
    place = "" if isinstance(error, SyntaxError) else f" ({last.filename}, line {last.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def validate(model: type[ModelT], values: object, prefix: str) -> ModelT:
    """`values` as a settings model; raises ConfigError, one line for the first few wrong settings."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(describe(error, prefix, model)) from None


def describe(error: ValidationError, prefix: str = "", settings: type[BaseModel] | None = None) -> str:
    """A ValidationError as one line: `agent.shallow.max_tool_iterations=-1: Input should be ...`.

    `settings`: the model, if the values are settings; then the line says how to write them.
    """
    items = error.errors(include_url=False)
    text = "; ".join(_problem(item, prefix, settings) for item in items[:3])
    if len(items) > 3:
        text += f" (and {len(items) - 3} more)"
    if settings is not None and any(item["type"] == "missing" for item in items):
        text += "; a config file inherits shipped settings with `defaults: [OPTION, _self_]`"
    return text


def _problem(item: "ErrorDetails", prefix: str, settings: type[BaseModel] | None) -> str:
    """What is wrong with one value, and how to write it instead if pydantic does not say."""
    name = ".".join(filter(None, (prefix, *map(str, item["loc"]))))
    message = item["msg"].removeprefix("Value error, ")
    match item["type"] if name else "":
        case "extra_forbidden":
            inner = _section(settings, item["loc"][:-1])
            siblings = [".".join(map(str, (*item["loc"][:-1], setting))) for setting in _names(inner)]
            known = [".".join(filter(None, (prefix, setting))) for setting in (*_names(settings), *siblings)]
            return f"{name}: there is no such {'setting' if settings else 'field'}{did_you_mean(name, known)}"
        case "missing":
            return f"{name}: must be set"
        case "tuple_type" | "list_type" if settings:
            message = f"write a list: {name}=[...]"
        case "string_type" if settings and isinstance(item["input"], int | float):
            text = str(item["input"]).lower() if isinstance(item["input"], bool) else item["input"]
            message = f"is not text; give it quotes of its own: {name}='\"{text}\"'"
        case "dict_type" | "mapping_type" if settings:
            message = f"write {name}.KEY=VALUE"
        case "model_type" | "model_attributes_type" if section := _section(settings, item["loc"]):
            fields = section.model_fields
            option = next((field for field in fields if item["input"] in get_args(fields[field].annotation)), None)
            message = f"is a section; write {name}.{next(iter(fields))}=VALUE (its settings: {', '.join(fields)})"
            if option is not None:
                message = f"is a section; did you mean {name}.{option}={item['input']}?"
    if not name:
        return message
    if item["type"] == "value_error" and _section(settings, item["loc"]):  # the message names the section's settings
        return f"{name}: {message}"
    return f"{name}={_short_repr(item['input'])}: {message}"


def _names(kind: type[BaseModel] | None) -> Iterator[str]:
    """The settings of a model, dotted, including those of its sections."""
    for name, field in kind.model_fields.items() if kind else ():
        inner = field.annotation
        children = _names(inner) if isinstance(inner, type) and issubclass(inner, BaseModel) else ()
        yield from (name, *(f"{name}.{child}" for child in children))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where something known is close: by the whole name, its beginning, or its last part."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6) or [text for text in known if text.startswith(name)]
    if not close:
        parts = {text.rpartition(".")[2]: text for text in reversed(known)}
        close = [parts[match] for match in difflib.get_close_matches(name.rpartition(".")[2], parts, n=1, cutoff=0.7)]
    return f"; did you mean {close[0]}?" if close else ""


def _section(kind: Any, place: Sequence[int | str]) -> type[BaseModel] | None:
    """The model at a place of a settings model, if there is one."""
    for part in place:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(part))
            kind = None if field is None else field.annotation
        else:  # Mapping[str, Model]
            kind = next(iter(get_args(kind)[1:]), None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _short_repr(value: object) -> str:
    """The value's repr, at most 100 characters (a row may hold a report), addresses without password or key."""
    text = re.sub(r"(?<=://)[^\s@'\"]+@", "...@", repr(value)[:1000])
    text = re.sub(r"(://[^\s?#'\"]*[?#])[^\s'\"]+", r"\1...", text)
    return text if len(text) <= 100 else f"{text[:97]}..."
