"""The secrets of this process, which nothing has that it keeps of a run or says on stderr."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

SHORTEST = 8
"""Characters of a secret: shorter values ("test", "12345") occur by chance in ordinary text."""

_spellings: dict[str, None] = {}


def hide(values: Iterable[str]) -> None:
    """Let `hidden` take these out of every text from now on.

    Only those with a digit and a letter: others may be words or numbers that the files of a run are made of
    (`DB_PASSWORD=postgres`).
    """
    for value in values:
        if len(value) >= SHORTEST and re.search("[0-9]", value) and re.search("[A-DF-Za-df-z]", value):
            spelled = json.dumps(value, ensure_ascii=False)[1:-1]
            _spellings.update(dict.fromkeys((value, spelled, quote(value, safe=""))))


def hidden(text: str) -> str:
    """The text with `***` for every secret, also as JSON and URLs spell it."""
    for spelling in _spellings:
        text = text.replace(spelling, "***")
    return text
