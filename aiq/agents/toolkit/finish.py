"""Finishing a report: prompts that leaked into it go, its citations are verified, the audit is kept, an event tells."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from aiq.citations.verify import verify
from aiq.core.errors import AgentError
from aiq.core.events import Recovery, ReportWritten
from aiq.core.prompts import Prompts
from aiq.core.reports import Audit, Report
from aiq.core.session import Session

LEAK_CHARACTERS = 60
"""A prompt's line of this length is in no report by chance; one such line is what proves a leak."""

_HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*:?\s*$)")
_TEMPLATE = re.compile(r"\{[{%#].*?[}%#]\}")


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as written, and the route that led to it. `researched`: it cites, so it is to be verified."""

    text: str
    route: str
    outcome: Literal["ok", "rejected"] = "ok"
    researched: bool = True
    extras: Mapping[str, JsonValue] = field(default_factory=dict)


class LeakFilter:
    """Keeps the agent's instructions out of reports: a page may have told the model to print them.

    Passages that repeat the prompts word for word are dropped; instructions in other words are not caught.
    """

    def __init__(self, prompts: Prompts) -> None:
        lines = (line for text in prompts.sources().values() for line in text.splitlines())
        self._prompts = frozenset(_plain(line) for line in lines if not _TEMPLATE.search(line)) - {""}

    def cleaned(self, text: str, session: Session) -> str:
        """The text without leaked passages; logged as a recovery where there were any.

        A short line, such as `## References`, may be in both a prompt and a report: it goes with a long line of a
        prompt that it is next to, unless it heads what the report says next.
        """
        lines = text.splitlines()
        leaked, stretch = set[int](), list[int]()
        for place, line in enumerate([*lines, "the end"]):
            plain = _plain(line)
            if plain in self._prompts:
                stretch.append(place)
            elif plain:  # the report's own words
                while place < len(lines) and stretch and _HEADING.match(lines[stretch[-1]]):
                    stretch.pop()
                if any(len(_plain(lines[told])) >= LEAK_CHARACTERS for told in stretch):
                    leaked.update(stretch)
                stretch = []
        if not leaked:
            return text
        session.events.emit(Recovery(what="prompt_disclosed", detail=f"{len(leaked)} lines dropped"))
        return "\n".join(line for place, line in enumerate(lines) if place not in leaked).strip()


def _plain(line: str) -> str:
    return " ".join(line.split()).strip("#*>- ")


def finish(draft: Draft, leaks: LeakFilter, session: Session) -> Report:
    """The draft as a report, verified if it is researched and the run verifies. Raises AgentError for a blank one."""
    text, raw = leaks.cleaned(draft.text, session), draft.text
    if not text.strip():
        raise AgentError(f"the {draft.route} answer is empty")
    audit: Audit | None = None
    if draft.researched and session.citations.verify:
        verified = verify(text, session.sources.known(), session.citations)
        text, audit = verified.text, verified.audit
    session.events.emit(ReportWritten(text=text, raw_text=raw, route=draft.route))
    return Report(text=text, raw_text=raw, route=draft.route, outcome=draft.outcome, audit=audit, extras=draft.extras)
