"""Citations placed after writing: once the report is finished, an agent says which sentences each one supports."""

import hashlib
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.rules import citation_lines
from aiq.agents.toolkit.structured import LenientRecord, StructuredCall
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "citation-agent"

MOST_CHANGED = 0.15
"""Share of a report's text that a model may change when it adds marks itself (specification, later improvements)."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])(?:\s+|(?<=[。！？]))")
_MARK = re.compile(r"[ \t]*\[\d{1,3}\]")


class Mark(LenientRecord):
    sentence: int = Field(description="the number of the sentence")
    citation: int = Field(description="the number of the citation that supports it")
    hash: str = Field("", description="the six characters after the sentence's number")


class Marks(LenientRecord):
    """What the model is asked for."""

    marks: tuple[Mark, ...]


class Place:
    def __init__(self, tier: str, prompts: Prompts, *, strict: bool) -> None:
        """`strict`: a mark's hash must be that of its sentence or of a neighbour; otherwise only the number counts."""
        self._strict, self._prompts = strict, prompts
        self._call = StructuredCall(f"shannon.{tier}.citer", Marks, prompts, "citer", complete=ask)

    async def run(self, state: ResearchState) -> dict[str, str]:
        """The report with new marks instead of its own; unchanged if none could be placed."""
        if not state.citations:
            return {}
        bare_report = _MARK.sub("", state.written)
        lines, sentences = citation_lines(state.citations), numbered(bare_report)
        entries = [f"{n} {digest(text)} {text}" for n, text in enumerate(sentences, start=1)]
        snippets = [f"{line}\n{citation.snippet}" for line, citation in zip(lines, state.citations, strict=True)]
        reply = await or_none(self._call.ask(sentences=entries, citations=snippets), "citations_not_placed", AGENT)
        marks = [(m.sentence, m.citation, m.hash) for m in reply.marks] if reply else []
        report, count = placed_marks(bare_report, marks, len(lines), strict=self._strict)
        if not count:
            report = await self._mark_inline(state.written, snippets)
            count = len(_MARK.findall(report))
        current().events.emit(Decision(name="citations_placed", value=count, cause=f"{len(marks)} marks planned"))
        return {"written": report}

    async def _mark_inline(self, report: str, citations: Sequence[str]) -> str:
        """The report as marked by the model itself; unchanged if the model's text differs otherwise."""
        request = self._prompts.render("citer_inline.j2", report=report, citations=citations)
        call = ask(self._call.role, [Message(role="user", content=request)])
        reply = await or_none(call, "citations_not_placed", AGENT)
        return reply.text.strip() if reply and same_text(report, reply.text) else report


def numbered(text: str) -> list[str]:
    """The sentences of a text that can bear a mark: neither headings nor rows of a table."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "|"))]
    return [sentence for line in lines for sentence in _SENTENCE.split(line.strip()) if sentence.strip()]


def digest(sentence: str) -> str:
    """Six hex digits of a sentence's MD5, which reveal that a plan miscounted the sentences."""
    return hashlib.md5(sentence.encode(), usedforsecurity=False).hexdigest()[:6]


def placed_marks(
    text: str, marks: Sequence[tuple[int, int, str]], citations: int, *, strict: bool = False
) -> tuple[str, int]:
    """The text with `[n]` after the sentences named by marks (sentence, citation, hash), and how many were placed.

    Numbers count from 1; those out of range are ignored. `strict`: see `Place`; a neighbour with the hash is marked.
    """
    sentences = numbered(text)
    by_sentence: dict[int, list[int]] = {}
    for sentence, citation, mark_hash in marks:
        near = [n for n in (sentence, sentence - 1, sentence + 1) if 1 <= n <= len(sentences)]
        matches = [n for n in near if digest(sentences[n - 1]) == mark_hash] if strict else near[: sentence in near]
        if matches and 1 <= citation <= citations and citation not in by_sentence.setdefault(matches[0], []):
            by_sentence[matches[0]].append(citation)
    position, parts = 0, []
    for number, sentence_text in enumerate(sentences, start=1):
        end = text.index(sentence_text, position) + len(sentence_text)
        parts.append(text[position:end] + "".join(f" [{n}]" for n in sorted(by_sentence.get(number, ()))))
        position = end
    return "".join([*parts, text[position:]]), sum(map(len, by_sentence.values()))


def same_text(before: str, after: str) -> bool:
    """Whether two reports are the same apart from their marks: less than `MOST_CHANGED` of the text differs."""
    first, second = (_MARK.sub("", text).split() for text in (before, after))
    return 1 - SequenceMatcher(a=first, b=second, autojunk=False).ratio() < MOST_CHANGED
