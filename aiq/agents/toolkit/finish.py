"""Finishing a report: thoughts and leaked prompts are removed, citations verified and audited, an event emitted."""

import re
from itertools import groupby
from typing import Any

from aiq.citations.verify import verify
from aiq.core.errors import AgentError
from aiq.core.events import Recovery, ReportWritten
from aiq.core.prompts import Prompts
from aiq.core.replies import why_no_answer, without_thoughts
from aiq.core.reports import Audit, Report, citation_status
from aiq.core.session import Session

LEAK_CHARACTERS = 60
"""A prompt line of at least this length is in no report by chance, so one such line proves a leak."""

HEADING = re.compile(r"\s*(?:#|\*\*[^*]+\*\*:?\s*$)")
"""Matches the beginning of a heading, in Markdown or in bold."""

_TEMPLATE = re.compile(r"\{[{%#].*?[}%#]\}")


class LeakFilter:
    """Keeps the agent's instructions out of reports: a page may have told the model to print them.

    Passages that repeat the prompts word for word are dropped; instructions in other words are not caught.
    """

    def __init__(self, prompts: Prompts) -> None:
        lines = (line for text in prompts.sources().values() for line in text.splitlines())
        self._prompts = frozenset(_plain(line) for line in lines if not _TEMPLATE.search(line)) - {""}

    def cleaned(self, text: str, session: Session) -> str:
        """The text without leaked passages; logs a recovery if there were any.

        A short line, such as `## References`, may be in both a prompt and a report: it is dropped only if it adjoins
        a long prompt line, and not if it is the heading of what the report says next.
        """
        lines = text.splitlines()
        plain = [_plain(line) for line in lines]
        repeats = [not line or line in self._prompts for line in plain]
        leaked = set[int]()
        for in_prompts, group in groupby(range(len(lines)), repeats.__getitem__):
            block = list(group)
            stretch = [i for i in block if in_prompts and plain[i]]
            while block[-1] + 1 < len(lines) and stretch and HEADING.match(lines[stretch[-1]]):
                stretch.pop()
            if any(len(plain[i]) >= LEAK_CHARACTERS for i in stretch):
                leaked.update(stretch)
        if not leaked:
            return text
        session.events.emit(Recovery(what="prompt_disclosed", detail=f"{len(leaked)} lines dropped"))
        return "\n".join(line for i, line in enumerate(lines) if i not in leaked).strip()


def _plain(line: str) -> str:
    return " ".join(line.split()).strip("#*>- ")


def finish(
    answer: str, route: str, leaks: LeakFilter | None, session: Session, researched: bool = True, **fields: Any
) -> Report:
    """The answer as a report; `fields`: its other fields. Raises AgentError if it is no answer, see `why_no_answer`.

    `leaks`: None for an agent whose prompts are unknown. Citations are verified if the answer is `researched` and the
    run verifies.
    """
    text = without_thoughts(answer)
    if leaks is not None:
        text = leaks.cleaned(text, session)
    if reason := why_no_answer(text, session.replies):
        raise AgentError(f"the {route} route gave no answer: {reason}")
    audit: Audit | None = None
    if researched and session.citations.verify:
        verified = verify(text, session.sources.known(), session.citations)
        text, audit = verified.text, verified.audit
    session.events.emit(ReportWritten(text=text, raw_text=answer, route=route))
    fields.setdefault("citation_status", citation_status(route, audit, bool(session.sources.all())))
    return Report(text=text, raw_text=answer, route=route, audit=audit, **fields)
