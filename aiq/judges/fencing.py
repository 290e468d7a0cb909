"""Fences of judge prompts that the text under judgement cannot forge."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

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
