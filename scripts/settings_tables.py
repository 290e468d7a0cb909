"""The settings tables of the documentation: each is between two comments that name its config and section.

`<!-- settings: OVERRIDES: SECTION -->` and `<!-- end of settings -->`. `scripts/settings_tables.py` regenerates them
from `conf/` and the settings classes; `--check` only lists pages that are not up to date, and exits with 1 if any is.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from aiq.analysis.gate import GateSettings
from aiq.core.plugins import load
from aiq.core.run_settings import RunSettings, SweepSettings
from aiq.core.tool_settings import McpServerSettings
from aiq.experiment.compose import config_of_options
from aiq.serve.settings import ServeSettings
from aiq.site.settings import in_yaml, section
from aiq.tools.mcp.events_server import EventsSettings

DOCS = Path(__file__).resolve().parent.parent / "docs"
_TABLE = re.compile(r"(<!-- settings: ([^\n]*?): ([\w.]+) -->\n)(.*?)(<!-- end of settings -->)", re.DOTALL)

_SEPARATE: Mapping[str, type[BaseModel]] = {
    "events": EventsSettings,
    "gate": GateSettings,
    "serve": ServeSettings,
    "sweep": SweepSettings,
    "tools.mcp.NAME": McpServerSettings,
}
"""Sections that are not part of a run's settings, or that can occur under several names."""


def current(text: str) -> str:
    """The page with up-to-date tables."""
    return _TABLE.sub(lambda match: f"{match[1]}{_table(match[2].split(), match[3])}\n{match[5]}", text)


def _table(overrides: list[str], path: str) -> str:
    """The settings of a section of composed config, including its inner sections, as a Markdown table."""
    group, _, option = overrides[0].lstrip("+").partition("=")
    from_group = path.partition(".")[0] == group  # composed in a third of the time
    config = config_of_options([], f"{group}/{option.strip('[]')}") if from_group else config_of_options(overrides)
    for part in path.split("."):
        config = config.get(part, {})
    kind: type[BaseModel] | None = _SEPARATE.get(path)
    if kind is None:
        kind = load(config["target"], path).Settings if "target" in config else section(RunSettings.model_fields[path])
    assert kind is not None, path
    rows = [("setting", "default", "values", "meaning"), ("---",) * 4, *_rows(config, kind, f"{path}.")]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(config: Mapping[str, Any], kind: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    schemas = kind.model_json_schema()["properties"]
    for name, field in kind.model_fields.items():
        inner = section(field)
        if inner is not None:
            yield from _rows(config[name], inner, f"{prefix}{name}.")
        elif name != "target":
            value = config.get(name, field.get_default())
            default = "to be set" if value is PydanticUndefined else f"`{in_yaml(_plain(value))}`"
            meaning = (field.description or "").replace("|", "\\|")
            yield f"`{prefix}{name}`", default, _values(schemas[name]), meaning


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _values(schema: Mapping[str, Any]) -> str:
    """The type and range of a JSON schema in words."""
    if "anyOf" in schema:
        return ", or ".join(_values(option) for option in schema["anyOf"])
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


def stale() -> Iterator[Path]:
    """The pages whose tables are not up to date."""
    return (page for page in sorted(DOCS.rglob("*.md")) if (text := page.read_text(encoding="utf-8")) != current(text))


def main() -> int:
    pages = list(stale())
    check = "--check" in sys.argv
    for page in pages:
        print(
            f"{page.relative_to(DOCS.parent)}: {'out of date; run scripts/settings_tables.py' if check else 'updated'}"
        )
        if not check:
            page.write_text(current(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if pages and check else 0


if __name__ == "__main__":
    sys.exit(main())
