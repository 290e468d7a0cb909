"""Reads `rules.toml`, the table of hosts, parameters, schemes and words that the other files go by."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from aiq.core.base import Record


class Rules(Record):
    """The lists of `rules.toml`; each is explained there."""

    shorteners: frozenset[str]
    unsafe_schemes: frozenset[str]
    private_suffixes: frozenset[str]
    trackers: frozenset[str]
    soft_trackers: frozenset[str]
    code_hosts: frozenset[str]
    api_labels: frozenset[str]
    doi_hosts: frozenset[str]
    confusables: Mapping[str, str]
    code_words: frozenset[str]


@cache
def rules() -> Rules:
    """The table, read once."""
    return Rules.model_validate(tomllib.loads((Path(__file__).with_name("rules.toml")).read_text(encoding="utf-8")))
