"""The secrets of this process, masked in everything that it stores of a run or prints on stderr."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

SHORTEST = 8
"""Characters of a secret: shorter values ("test", "12345") occur by chance in ordinary text."""

_spellings: dict[str, None] = {}


def register_secrets(values: Iterable[str]) -> None:
    """Make `mask_secrets` mask these values in every text from now on.

    Only those with a digit and a letter: others may be ordinary words or numbers in the files of a run
    (`DB_PASSWORD=postgres`).
    """
    for value in values:
        if len(value) >= SHORTEST and re.search("[0-9]", value) and re.search("[A-DF-Za-df-z]", value):
            escaped = json.dumps(value, ensure_ascii=False)[1:-1]
            _spellings.update(dict.fromkeys((value, escaped, quote(value, safe=""))))


def mask_secrets(text: str) -> str:
    """The text with `***` for every secret, also where JSON or a URL spells it differently."""
    for spelling in _spellings:
        text = text.replace(spelling, "***")
    return text
