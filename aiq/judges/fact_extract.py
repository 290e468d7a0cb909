"""FACT's first step: what a report says and which URLs it cites for it, by a model, by rules, or both compared."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from aiq.citations.parse import split_references
from aiq.core.base import Record
from aiq.core.session import Session
from aiq.judges.fact_questions import Questions
from aiq.judges.statements import Citation, chunks, cited_statements, urls
from aiq.judges.structured import ask_once, each_bounded

By = Literal["model", "rules", "both"]

ALIKE: Final = 0.6
"""Share of words from which two wordings of one sentence count as the same statement; see `alike`."""

_WORD: Final = re.compile(r"[^\W_\u3040-\u9fff]+|[\u3040-\u9fff]")


class Agreement(Record):
    """How many citations two ways of extraction found, and how many of them the other one has too."""

    model: int
    rules: int
    model_in_rules: int
    rules_in_model: int


class Extracted(Record):
    """A report's citations in order, of URLs that stand in it. `invented`: those left out because theirs do not."""

    citations: tuple[Citation, ...]
    invented: int = 0
    agreement: Agreement | None = None


class Extractor:
    """Finds citations. With `both` it is the model's that are judged, and the rules' that they are compared with."""

    def __init__(self, by: By, questions: Questions, *, tries: int, max_chunk_chars: int, concurrency: int) -> None:
        self._by = by
        self._asked = questions.extract
        self._tries = tries
        self._max_chunk_chars = max_chunk_chars
        self._concurrency = concurrency

    async def extract(self, report: str, language: str, session: Session) -> Extracted:
        """`language`: of the task, `en` or `zh`. Raises JudgeError where an answer about the report stays unusable."""
        rules = cited_statements(report) if self._by != "model" else []
        if self._by == "rules":
            return Extracted(citations=tuple(rules))
        known = {url.rstrip("/"): url for url in urls(report)}
        found = await self._ask(report, language, session) if known else []
        real = [c.model_copy(update={"url": known[key]}) for c in found if (key := c.url.rstrip("/")) in known]
        compared = agreement(real, rules) if self._by == "both" else None
        return Extracted(citations=tuple(real), invented=len(found) - len(real), agreement=compared)

    async def _ask(self, report: str, language: str, session: Session) -> list[Citation]:
        body, references = split_references(report)
        pieces = chunks(body, self._max_chunk_chars)
        ask = partial(self._ask_piece, session, language, references)
        found = await each_bounded(pieces, ask, self._concurrency)
        return [citation for piece in found for citation in piece]

    async def _ask_piece(self, session: Session, language: str, references: str, piece: str) -> list[Citation]:
        values = {"reference_list": references, "report_part": piece, "report": f"{piece}\n\n{references}"}
        prompt = self._asked.wording[language].render(values)
        return await ask_once(session, self._asked.role, prompt, self._asked.read, tries=self._tries)


def agreement(model: Sequence[Citation], rules: Sequence[Citation]) -> Agreement:
    """Which citations of either have one with the same URL and a statement alike in the other."""
    return Agreement(
        model=len(model),
        rules=len(rules),
        model_in_rules=_had(model, rules),
        rules_in_model=_had(rules, model),
    )


def _had(these: Sequence[Citation], those: Sequence[Citation]) -> int:
    there: dict[str, list[frozenset[str]]] = {}
    for citation in those:
        there.setdefault(citation.url, []).append(_words(citation.statement))
    return sum(any(_alike(_words(c.statement), other) for other in there.get(c.url, [])) for c in these)


def alike(one: str, other: str) -> bool:
    """Whether two statements are one in other words: they share ALIKE of the words of the shorter one.

    Of the shorter one, because a model completes what rules leave as it stands ("It grew." becomes "The
    port of Tessmark grew."). Words are compared without case; a Chinese character is a word.
    """
    return _alike(_words(one), _words(other))


def _words(statement: str) -> frozenset[str]:
    return frozenset(_WORD.findall(statement.casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * max(1, min(len(one), len(other)))
