"""Keeps the agents' instructions out of reports: a page may have told the model to print them.

Passages of a report that repeat the prompts word for word are dropped. What a model says of its instructions in other
words is not caught.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from aiq.core.events import Recovery
from aiq.core.session import Session

TELLING = 60
"""Characters of a prompt's line that no report has by chance; one such line is what proves a disclosure."""

_HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*:?\s*$)")
_TEMPLATE = re.compile(r"\{[{%#].*?[}%#]\}")


def undisclosed(text: str, prompts: Path, session: Session) -> str:
    """The report without the passages that are in a prompt of the folder; logged as a recovery where there were any.

    A short line, such as `## References`, may stand in both: it goes with a telling line of a prompt that it
    stands beside, unless it heads what the report says next.
    """
    lines = text.splitlines()
    dropped = _disclosed(lines, _lines(prompts))
    if not dropped:
        return text
    session.events.emit(Recovery(what="prompt_disclosed", detail=f"{len(dropped)} lines dropped"))
    return "\n".join(line for place, line in enumerate(lines) if place not in dropped).strip()


def _disclosed(lines: Sequence[str], prompts: Collection[str]) -> set[int]:
    """The places of the lines to drop: of each stretch of prompt lines that has a telling one."""
    found, stretch = set[int](), list[int]()
    for place, line in enumerate(lines):
        plain = _plain(line)
        if plain in prompts:
            stretch.append(place)
        elif plain:  # the report's own words
            while stretch and _HEADING.match(lines[stretch[-1]]):
                stretch.pop()
            found |= _telling(lines, stretch)
            stretch = []
    return found | _telling(lines, stretch)


def _telling(lines: Sequence[str], stretch: Sequence[int]) -> set[int]:
    return set(stretch) if any(len(_plain(lines[place])) >= TELLING for place in stretch) else set()


@cache
def _lines(prompts: Path) -> frozenset[str]:
    """The lines of all prompts that hold no variable, without markup at their ends."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(prompts.glob("*.j2"))]
    lines = (line for text in texts for line in text.splitlines() if not _TEMPLATE.search(line))
    return frozenset(filter(None, map(_plain, lines)))


def _plain(line: str) -> str:
    return " ".join(line.split()).strip("#*>- ")
