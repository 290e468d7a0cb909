"""Prompts of the official Deep Research Bench, read from a user's checkout. Its code is parsed, never executed.

The prompts are string constants at the top level of Python files, in the form of `str.format`: places such as
`{task_prompt}`, and doubled braces for single ones. Everything is read and checked before a run begins.

Deep Research Bench's result files, read strictly: RACE's scored tasks, FACT's validated citations; their summaries.

The rules of aggregation stand in `race_arithmetic.published` and `fact_arithmetic.official`.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Final, get_args

from pydantic import JsonValue

from aiq.core.base import Record
from aiq.core.errors import ConfigError, DatasetError
from aiq.core.files import Files, Row, read_rows, resolve
from aiq.judges.fact_scores import CitedPage, Judged, Verdict
from aiq.judges.wording import harmless

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


RACE_FIGURES: Final = ("comprehensiveness", "insight", "instruction_following", "readability", "overall_score")
"""The official names, in the order of `race_result.txt`."""

FACT_FIGURES: Final = ("total_citations", "total_valid_citations", "valid_rate")
"""The official names, in the order of `fact_result.txt`."""

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


class RaceTask(Record):
    """One line of `raw_results.jsonl`: `figures` by official name, 0 to 1; or `error`, why there are none."""

    id: str
    figures: Mapping[str, float] = {}
    error: str | None = None


class ValidatedReport(Record):
    """One line of `validated.jsonl`. `cites` is whether its list of citations, before de-duplication, has any."""

    id: str
    cites: bool
    pages: tuple[CitedPage, ...] = ()


def read_race(path: Path) -> list[RaceTask]:
    """The tasks of a `raw_results.jsonl`, gzipped or not. Raises DatasetError that names the row."""
    return [_race_task(row) for row in _unique(path)]


def read_validated(path: Path) -> list[ValidatedReport]:
    """The reports of a `validated.jsonl`, gzipped or not. Raises DatasetError that names row and URL."""
    return [_validated(row) for row in _unique(path)]


def race_result(figures: Mapping[str, float]) -> str:
    """`race_result.txt`: the five figures with four decimals."""
    return "".join(f"{name.replace('_', ' ').title()}: {figures[name]:.4f}\n" for name in RACE_FIGURES)


def fact_result(figures: Mapping[str, float]) -> str:
    """`fact_result.txt`: the three figures in full."""
    return "".join(f"{name}: {figures[name]}\n" for name in FACT_FIGURES)


def _unique(path: Path) -> list[Row]:
    """The rows, each id once: the official tools repeat rows after a partial resume, which would count a task twice."""
    found: dict[str, Row] = {}
    for row in read_rows(Files(), path, "FILE", ("id",)):
        key = row.required("id")
        if key in found:
            raise DatasetError(f"{row.where}: id {key} stands already in {found[key].where}; keep one")
        found[key] = row
    return list(found.values())


def _race_task(row: Row) -> RaceTask:
    if row.values.get("error"):
        return RaceTask(id=row.required("id"), error=row.text("error"))
    return RaceTask(id=row.required("id"), figures={name: _share(row, name) for name in RACE_FIGURES})


def _share(row: Row, name: str) -> float:
    value = row.values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DatasetError(f"{row.where}: {name} must be a number from 0 to 1 (or give the row an error)")
    return float(value)


def _validated(row: Row) -> ValidatedReport:
    grouped = row.values.get("citations_deduped")
    if not isinstance(grouped, dict):
        raise DatasetError(f"{row.where}: citations_deduped must be an object, pages by URL")
    listed = row.values.get("citations", list(grouped))
    if not isinstance(listed, list):
        raise DatasetError(f"{row.where}: citations must be a list")
    pages = tuple(_page(f"{row.where}, {url}", url, value) for url, value in grouped.items())
    return ValidatedReport(id=row.required("id"), cites=bool(listed), pages=pages)


def _page(where: str, url: str, value: JsonValue) -> CitedPage:
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected an object with facts and validate_res")
    if value.get("validate_error"):
        return CitedPage(url=url, error=str(value["validate_error"]))
    facts, results = value.get("facts"), value.get("validate_res") or []
    if not isinstance(facts, list) or not isinstance(results, list):
        raise DatasetError(f"{where}: facts and validate_res must be lists")
    judged = [_judged(where, facts, entry) for entry in results]
    return CitedPage(url=url, judged=tuple(judged))


def _judged(where: str, facts: Sequence[JsonValue], entry: JsonValue) -> Judged:
    index = entry.get("idx") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or isinstance(index, bool) or not isinstance(index, int):
        raise DatasetError(f"{where}: an entry of validate_res has no idx")
    if not 0 <= index < len(facts):
        raise DatasetError(f"{where}: idx {index} of validate_res is none of the {len(facts)} facts")
    for verdict in _VERDICTS:
        if entry.get("result") == verdict:
            return Judged(statement=str(facts[index]), verdict=verdict)
    raise DatasetError(f"{where}: the result of idx {index} is none of {', '.join(_VERDICTS)}")
