"""Settings with their meanings: a run's config as commented YAML, and the tables of the documentation."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from aiq.core.errors import ConfigError
from aiq.core.settings import Plugin, RunSettings

_WIDEST = 44
"""Columns of a setting beside which its comment stands; a longer one does not push the others' comments away."""

Line = tuple[str, str]
"""A line of YAML and the comment on it, perhaps empty."""


def explained(settings: RunSettings) -> str:
    """The config of these settings as YAML, the meaning of each setting as a comment beside it."""
    return _aligned(_lines(settings.model_dump(mode="json"), RunSettings, settings, ""))


def _lines(config: Mapping[str, Any], kind: type[BaseModel] | None, values: Any, indent: str) -> Iterator[Line]:
    """The lines of a section. `values`: the settings themselves, which tell plugins, or None."""
    fields = dict(kind.model_fields) if kind else {}
    if isinstance(values, Plugin):
        fields = own_fields(values) | dict(type(values).model_fields)
    for name, value in config.items():
        field = fields.get(name)
        meaning = (field.description if field else None) or ""
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_yaml(name)}:", meaning
            below = _get(values, name)
            yield from _lines(value, section(field), below, indent + "  ")
        else:
            yield f"{indent}{_yaml(name)}: {_yaml(value)}", meaning


def _get(values: Any, name: str) -> Any:
    return values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)


def own_fields(plugin: Plugin) -> dict[str, FieldInfo]:
    """The settings of the plugin's class, by name; none where the class is not to be had."""
    try:
        return dict(type(plugin.settings).model_fields)
    except ConfigError:
        return {}


def section(field: FieldInfo | None) -> type[BaseModel] | None:
    """The settings class of a field that is a section."""
    kind = field.annotation if field else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _yaml(value: Any) -> str:
    """A value in YAML's flow style on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return text.removesuffix("\n...\n").strip()


def _aligned(lines: Iterator[Line]) -> str:
    """The lines, those of a block of the same depth with their comments in one column."""
    out: list[str] = []
    blocks: list[list[Line]] = []
    for line in lines:
        depth = len(line[0]) - len(line[0].lstrip())
        if not blocks or len(blocks[-1][0][0]) - len(blocks[-1][0][0].lstrip()) != depth:
            blocks.append([])
        blocks[-1].append(line)
    for block in blocks:
        column = max((len(text) for text, meaning in block if meaning and len(text) <= _WIDEST), default=0)
        out += [f"{text:<{column}}  # {meaning}" if meaning else text for text, meaning in block]
    return "\n".join(out) + "\n"


def table(config: Mapping[str, Any], kind: type[BaseModel], place: str) -> str:
    """The settings of a section of composed config as a Markdown table, those of its inner sections with it."""
    rows = [("setting", "default", "values", "meaning"), ("---",) * 4, *_rows(config, kind, f"{place}.")]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(config: Mapping[str, Any], kind: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    schemas = kind.model_json_schema()["properties"]
    for name, field in kind.model_fields.items():
        inner = section(field)
        if inner is not None:
            yield from _rows(config[name], inner, f"{prefix}{name}.")
        elif name != "target":
            default = f"`{_yaml(config[name])}`" if name in config else "to be set"
            meaning = (field.description or "").replace("|", "\\|")
            yield f"`{prefix}{name}`", default, _values(schemas[name]), meaning


def _values(schema: Mapping[str, Any]) -> str:
    """The type and range of a JSON schema in words."""
    if "anyOf" in schema:
        return ", or ".join(_values(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return "a list"
    kind = _KINDS.get(str(schema.get("type")), "")
    least, above, most = (schema.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    if least is not None:
        return f"{kind}, {least:g} to {most:g}" if most is not None else f"{kind}, {least:g} or more"
    if above is not None:
        return f"{kind}, above {above:g}" + (f", at most {most:g}" if most is not None else "")
    return kind


_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "string": "text",
    "object": "a map",
    "null": "`null`",
}
