"""Prompts from either of two places: our own templates, or the official ones of a user's checkout.

Both are filled with the same variables and put the material under judgement between tags that it cannot forge.

Fences of judge prompts that the text under judgement cannot forge.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from aiq.core.prompts import Prompts

PROMPTS: Final = Prompts(Path(__file__).parent / "prompts")
"""The judges' templates."""

LABELS: Final = (
    "question", "accepted_answers", "response",
    "task", "criteria", "dimension", "article", "article_1", "article_2",
    "reference_list", "report_part", "page", "statements",
)  # fmt: skip
"""Every label that a judge prompt fences data with."""


@cache
def _tags(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(map(re.escape, labels))})\b)", re.IGNORECASE)


def harmless(text: str, labels: Sequence[str] = ()) -> str:
    """The text with each tag broken that looks like a fence of any judge prompt, or has one of these labels.

    `fence` itself protects a text only against its own label; a report could open another one.
    """
    return _tags((*LABELS, *labels)).sub("< ", text)


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
