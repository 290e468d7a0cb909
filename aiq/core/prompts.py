"""Prompt templates: Jinja2 files beside the code that uses them; an undefined variable is an error."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta

from aiq.core.errors import ConfigError


def fence(text: object, label: str) -> str:
    """Untrusted text between `<label>` tags, so that a reader can tell data from instructions.

    A closing tag of the same label inside the text is broken up, so the text cannot end its fence.
    """
    body = re.sub(rf"<\s*(/?)\s*{re.escape(label)}\b", r"<\1 " + label, str(text), flags=re.IGNORECASE)
    body = body.replace(f"</{label}", f"</ {label}").replace(f"<{label}", f"< {label}")
    return f"<{label}>\n{body}\n</{label}>"


@cache
def _environment(folders: tuple[Path, ...]) -> jinja2.Environment:
    """The templates of these folders, each compiled when first used and whenever its file has changed."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701  prompts are plain text; untrusted text goes through `fence`
    )
    environment.filters["fence"] = fence
    return environment


class Prompts:
    """The templates of one folder, and of a second one (`variants`) that replaces some of them by name.

    Raises ConfigError, naming `setting`, for a variant that replaces nothing, is not a valid template, or uses a
    variable that the shipped one does not.
    """

    def __init__(self, folder: Path, variants: Path | None = None, setting: str = "prompts_dir") -> None:
        self._environment = _environment((folder,) if variants is None else (variants, folder))
        self._names = sorted(path.name for path in folder.glob("*.j2"))
        if variants is not None:
            self._check(folder, variants, setting)

    def render(self, name: str, **variables: Any) -> str:
        """The prompt. Raises jinja2.UndefinedError when a variable is missing."""
        return self._environment.get_template(name).render(**variables).strip()

    def source(self, name: str) -> str:
        """The template's text."""
        return Path(str(self._environment.get_template(name).filename)).read_text(encoding="utf-8")

    def sources(self) -> Mapping[str, str]:
        """Every template in use, by name."""
        return {name: self.source(name) for name in self._names}

    def hash(self, *names: str) -> str:
        """The first 16 hex digits of the SHA-256 of the templates' sources."""
        return hashlib.sha256("".join(map(self.source, names)).encode()).hexdigest()[:16]

    def _check(self, folder: Path, variants: Path, setting: str) -> None:
        if not variants.is_dir():
            raise ConfigError(f"{setting}: there is no folder {variants}")
        for path in sorted(variants.glob("*.j2")):
            if path.name not in self._names:
                names = ", ".join(self._names)
                raise ConfigError(f"{setting}: {path.name} replaces no prompt; there are: {names}")
            try:
                used, available = self._variables(path), self._variables(folder / path.name)
            except jinja2.TemplateSyntaxError as error:
                raise ConfigError(f"{setting}: {path}, line {error.lineno}: {error.message}") from None
            if unknown := ", ".join(sorted(used - available)):
                hint = f"it is given: {', '.join(sorted(available)) or 'nothing'}"
                raise ConfigError(f"{setting}: {path} uses {unknown}, which this prompt is not given; {hint}")

    def _variables(self, path: Path) -> set[str]:
        return jinja2.meta.find_undeclared_variables(self._environment.parse(path.read_text(encoding="utf-8")))
