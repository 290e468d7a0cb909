"""Keeps the agents' instructions out of reports: a page may have told the model to print them.

Lines of a report that repeat the prompts word for word are dropped. What a model says of its instructions in other
words is not caught.
"""

import re
from functools import cache
from pathlib import Path

from aiq.core.events import Recovery
from aiq.core.session import Session

TELLING = 60
"""Characters of a prompt's line that no report has by chance; one such line is what proves a disclosure."""

_PROMPTS = Path(__file__).parent / "prompts"
_TEMPLATE = re.compile(r"\{[{%#].*?[}%#]\}")


def undisclosed(text: str, session: Session) -> str:
    """The report without the lines that stand in a prompt; logged as a recovery where there were any.

    As long as no telling line of a prompt stands in the text, nothing is touched: short lines, such as
    `## References`, may stand in both.
    """
    prompts = _lines()
    lines = text.splitlines()
    if not any(len(line) >= TELLING and line in prompts for line in map(_plain, lines)):
        return text
    kept = [line for line in lines if not _plain(line) or _plain(line) not in prompts]
    session.events.emit(Recovery(what="prompt_disclosed", detail=f"{len(lines) - len(kept)} lines dropped"))
    return "\n".join(kept).strip()


@cache
def _lines() -> frozenset[str]:
    """The lines of all prompts that hold no variable, without markup at their ends."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(_PROMPTS.glob("*.j2"))]
    lines = (line for text in texts for line in text.splitlines() if not _TEMPLATE.search(line))
    return frozenset(filter(None, map(_plain, lines)))


def _plain(line: str) -> str:
    return " ".join(line.split()).strip("#*>- ")
