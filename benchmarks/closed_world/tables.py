"""The tables that the world is made from (`tables/*.toml`), read once; misspelt keys of relations are errors."""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from aiq.core.base import Record

Change = Literal["never", "slow", "fast"]
Language = Literal["en", "zh"]
ValueKind = Literal["person", "city", "institute", "country", "river", "year", "number", "month", "place"]
Texts = tuple[str, ...]

PACES: tuple[Change, ...] = ("never", "slow", "fast")
"""From the slowest to the fastest."""


@cache
def table(name: str) -> dict[str, Any]:
    """The content of `tables/{name}.toml`."""
    return tomllib.loads((Path(__file__).parent / "tables" / f"{name}.toml").read_text(encoding="utf-8"))


class Wordings(Record):
    """How one language states a relation and asks for it; `relations.toml` lists the fields of the templates."""

    ask: Texts = ()
    follow: Texts = ()
    state: Texts
    news: tuple[tuple[str, str], ...] = ()
    unchanged: Texts = ()


class Relation(Record):
    """One relation of one kind of subject. `path`: phrases that name its value via the subject, if more can follow.

    `in_document`: it is only in documents, not on web pages.
    """

    kind: str
    name: str
    value: ValueKind
    change: Change
    in_document: bool
    path: Texts = ()
    en: Wordings
    zh: Wordings | None = None


RELATIONS: dict[tuple[str, str], Relation] = {
    (kind, name): Relation(kind=kind, name=name, in_document=relations is not table("relations"), **row)
    for relations in (table("relations"), table("documents")["relations"])
    for kind, rows in relations.items()
    for name, row in rows.items()
}
"""By kind of subject and name, in the order of the tables; a name never means two different things."""


def pace(relations: Iterable[Relation]) -> Change:
    """The rate of change of the fastest one."""
    return max((relation.change for relation in relations), key=PACES.index)


def of_kind(kind: str) -> tuple[Relation, ...]:
    """The relations of one kind of subject on web pages, in the table's order."""
    return tuple(relation for relation in RELATIONS.values() if relation.kind == kind and not relation.in_document)


PROSE = {language: SimpleNamespace(**table("prose")[language]) for language in ("en", "zh")}
"""What the pages in each language say besides facts; `prose.toml` has the names."""
