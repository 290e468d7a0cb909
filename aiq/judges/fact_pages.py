"""FACT's second step, one cited page: fetch it, take repeated statements out, and judge the rest by what it says."""

from collections.abc import Sequence
from typing import Final

from aiq.core.errors import JudgeError, ToolError
from aiq.core.session import Session
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.judges.fact_questions import Questions
from aiq.judges.fact_scores import CitedPage, Judged, Verdict
from aiq.judges.structured import ask_once

_BY_WEIGHT: Final[tuple[Verdict, ...]] = ("supported", "unsupported", "unknown")
"""What one part of a page says counts for all of it: what is said anywhere is said."""


class PageJudge:
    """Judges the statements that cite a page.

    `page_chunks` parts of `max_page_chars` characters are read; `statements_per_call`: at most so many
    statements in one question, None for all of a page; `support`: how much of a statement must be there.
    """

    def __init__(
        self,
        questions: Questions,
        *,
        tries: int,
        by_model: bool,
        reader: Reader | None,
        max_page_chars: int,
        page_chunks: int,
        statements_per_call: int | None,
        support: str,
    ) -> None:
        self._questions = questions
        self._tries = tries
        self._by_model = by_model
        self._reader = reader
        self._max_page_chars = max_page_chars
        self._page_chunks = page_chunks
        self._statements_per_call = statements_per_call
        self._support = support

    async def judge(self, session: Session, language: str, cited: tuple[str, Sequence[str]]) -> CitedPage:
        """The verdicts on one page. As officially, a page that cannot be read or judged is an error and skipped."""
        url, statements = cited
        try:
            page = await session.web.fetch(url, self._reader)
        except ToolError as error:
            return CitedPage(url=url, error=f"{error.kind.value}: {error}")
        try:
            if self._by_model and len(statements) > 1:
                statements = await self._distinct(session, language, statements)
            verdicts = await self._verdicts(session, language, page, statements)
        except JudgeError as error:
            return CitedPage(url=url, error=str(error), digest=page.digest)
        judged = [Judged(statement=s, verdict=v) for s, v in zip(statements, verdicts, strict=True)]
        return CitedPage(url=url, judged=tuple(judged), digest=page.digest)

    async def _distinct(self, session: Session, language: str, statements: Sequence[str]) -> list[str]:
        """Those that the model finds to say something of their own, in the order of the report."""
        asked = self._questions.dedup
        prompt = asked.wording[language].render({"statements": _numbered(statements)})

        def read(answer: str) -> list[int]:
            return asked.read(answer, len(statements))

        kept = await ask_once(session, asked.role, prompt, read, tries=self._tries)
        return [statements[number - 1] for number in kept]

    async def _verdicts(self, session: Session, language: str, page: Page, statements: Sequence[str]) -> list[Verdict]:
        text = f"{page.title}\n\n{page.text}"
        most = self._max_page_chars
        parts = [text[at : at + most] for at in range(0, len(text), most)][: self._page_chunks]
        size = self._statements_per_call or len(statements)
        found: list[Verdict] = []
        for at in range(0, len(statements), size):
            together = statements[at : at + size]
            told = [await self._ask(session, language, part, together) for part in parts]
            found += [min(verdicts, key=_BY_WEIGHT.index) for verdicts in zip(*told, strict=True)]
        return found

    async def _ask(self, session: Session, language: str, part: str, statements: Sequence[str]) -> list[Verdict]:
        asked = self._questions.validate
        values = {"page": part, "statements": _numbered(statements), "support": self._support}

        def read(answer: str) -> list[Verdict]:
            return asked.read(answer, len(statements))

        return await ask_once(session, asked.role, asked.wording[language].render(values), read, tries=self._tries)


def _numbered(statements: Sequence[str]) -> str:
    return "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))
