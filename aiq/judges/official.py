"""Prompts of the official Deep Research Bench, read from a user's checkout. Its code is parsed, never executed.

The prompts are string constants at the top level of Python files, in the form of `str.format`: places such as
`{task_prompt}`, and doubled braces for single ones. Everything is read and checked before a run begins.
"""

import ast
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Final

from aiq.core.errors import ConfigError
from aiq.core.paths import resolve
from aiq.judges.fencing import harmless

_TAG: Final = re.compile(r"<([A-Za-z][\w-]*)>")


class OfficialWording:
    """The constant `name` of `file` (relative to the checkout). `places`: our variable by its place in the prompt.

    Every place must occur, and no other. Raises ConfigError naming `setting` where the checkout does not fit.
    """

    def __init__(self, setting: str, checkout: str, file: str, name: str, places: Mapping[str, str]) -> None:
        path = resolve(checkout) / file
        self.source = _constant(setting, path, name)
        self._places = dict(places)
        self._parts = _parts(setting, f"{name} in {path}", self.source, self._places)

    def render(self, values: Mapping[str, str]) -> str:
        """The prompt, stripped; tags of its own that a value imitates are broken."""
        filled = {place: harmless(values[ours], self._labels) for place, ours in self._places.items()}
        return "".join(text + (filled[place] if place else "") for text, place in self._parts).strip()

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        """The tags that the prompt uses."""
        return tuple(dict.fromkeys(_TAG.findall(self.source)))


def _constant(setting: str, path: Path, name: str) -> str:
    """The text assigned to `name` at the top level of a file; the last assignment counts, as in Python."""
    remedy = f"{setting} must name a checkout of the official repository (or null, for the prompts that come with aiq)"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=path.name)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); {remedy}") from None
    except (SyntaxError, ValueError, RecursionError):
        raise ConfigError(f"{path} is no Python file in UTF-8; {remedy}") from None
    found = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and _assigns(node, name)]
    if not found or found[-1] is None:
        raise ConfigError(f"{path} has no constant {name}; {remedy}")
    try:
        value = ast.literal_eval(found[-1])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{name} in {path} is no plain text; {remedy}")
    return value


def _assigns(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _parts(setting: str, where: str, source: str, places: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """The prompt as pieces of text, each with the place that follows it."""
    try:
        fields = list(Formatter().parse(source))
    except ValueError as error:
        raise ConfigError(f"{where} is no template: {error}; check {setting}") from None
    named = [place for _, place, _, _ in fields if place is not None]
    missing = [place for place in places if place not in named]
    strange = [place for place in named if place not in places]
    if missing or strange:
        what = f"lacks the place {{{missing[0]}}}" if missing else f"has an unknown place {{{strange[0][:40]}}}"
        raise ConfigError(f"{where} {what}; check {setting}")
    if any(form or conversion for _, _, form, conversion in fields):
        raise ConfigError(f"{where} has a place with a format of its own; check {setting}")
    return [(text, place) for text, place, _, _ in fields]
