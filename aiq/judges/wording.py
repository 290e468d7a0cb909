"""Prompts from either of two places: our own templates, or the official ones of a user's checkout.

Both are filled with the same variables and put the material under judgement between tags that it cannot forge.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from aiq.judges.fencing import PROMPTS, harmless

LANGUAGES: Final = ("en", "zh")
"""The languages that Deep Research Bench is written and judged in."""


class Wording(Protocol):
    """One prompt. `source`: the text that decides what is asked, for the hash in every row."""

    @property
    def source(self) -> str: ...

    def render(self, values: Mapping[str, str]) -> str:
        """The prompt with these values in their places."""


class OwnWording:
    """A template of ours."""

    def __init__(self, template: str) -> None:
        self._template = template

    @property
    def source(self) -> str:
        return PROMPTS.source(self._template)

    def render(self, values: Mapping[str, str]) -> str:
        return PROMPTS.render(self._template, **{name: harmless(value) for name, value in values.items()})


def hash_of(wordings: Iterable[Wording]) -> str:
    """First 16 hex digits of the SHA-256 over the sources in turn."""
    digest = hashlib.sha256()
    for wording in wordings:
        digest.update(wording.source.encode())
    return digest.hexdigest()[:16]
