"""Prompt templates: Jinja2 files beside the code that uses them; an undefined variable is an error."""

import hashlib
import re
from pathlib import Path
from typing import Any

import jinja2


def fence(text: object, label: str) -> str:
    """Untrusted text between `<label>` tags, so that a reader can tell data from instructions.

    A closing tag of the same label inside the text is broken up, so the text cannot end its fence.
    """
    body = re.sub(rf"<\s*(/?)\s*{re.escape(label)}\b", r"<\1 " + label, str(text), flags=re.IGNORECASE)
    body = body.replace(f"</{label}", f"</ {label}").replace(f"<{label}", f"< {label}")
    return f"<{label}>\n{body}\n</{label}>"


class Prompts:
    """The templates of one folder.

    `render("x.j2", name=value, ...)` gives the text; `hash("x.j2")` the first 16 hex digits of the
    SHA-256 of the template's source, which stands in every row that the prompt produced.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=False,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701  prompts are plain text; untrusted text goes through `fence`
        )
        self._environment.filters["fence"] = fence

    def render(self, name: str, **variables: Any) -> str:
        """The prompt. Raises jinja2.UndefinedError when a variable is missing."""
        return self._environment.get_template(name).render(**variables).strip()

    def source(self, name: str) -> str:
        """The template as it stands in its file."""
        return (self._folder / name).read_text(encoding="utf-8")

    def hash(self, *names: str) -> str:
        digest = hashlib.sha256()
        for name in names:
            digest.update((self._folder / name).read_bytes())
        return digest.hexdigest()[:16]
