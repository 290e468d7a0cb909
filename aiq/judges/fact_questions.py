"""The three questions that FACT asks, in our wording or the official one, and the strict parsing of their answers."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from aiq.core.session import Session
from aiq.judges.fact_scores import Verdict
from aiq.judges.structured import ModelAnswer, OneLine, SharedQuestion, Unusable, read_as, read_list, without_thoughts
from aiq.judges.wording import wordings


def canonical(url: str) -> str:
    """A URL as pages are fetched and compared here: without its text fragment (`#:~:text=`) and surrounding spaces."""
    return url.strip().split("#:~:", 1)[0]


class FactCitation(ModelAnswer):
    """A statement and a URL that the report cites for it; `reference` is the citation's number, if it has one."""

    statement: OneLine
    reference: int | None = None
    url: Annotated[OneLine, AfterValidator(canonical)]


class FactQuestions:
    """Asks in our wording, or in that of a checkout of the official repository. Raises ConfigError if it does not fit.

    Each method raises what `structured.ask` raises.
    """

    def __init__(self, official_dir: str | None, tries: int) -> None:
        def question(name: str, file: str, **places: str) -> SharedQuestion:
            prompts = wordings("fact", f"{name}.j2", official_dir, f"utils/{file}", "prompt_template{suffix}", places)
            return SharedQuestion(f"judge.{name}", prompts, tries)

        self._official = official_dir is not None
        self.extract = question("fact_extract", "extract.py", report_text="report")
        self.dedup = question("fact_dedup", "deduplicate.py", statements="statements")
        self.validate = question("fact_validate", "validate.py", reference="page", statements="statements")

    async def citations(self, session: Session, language: str, part: str, references: str) -> list[FactCitation]:
        """The citations in a part of a report, which is shown with the report's reference list."""
        values = {"reference_list": references, "report_part": part, "report": f"{part}\n\n{references}"}
        return await self.extract.ask(session, language, partial(read_citations, official=self._official), values)

    async def distinct(self, session: Session, language: str, statements: Sequence[str]) -> list[str]:
        """The statements that do not repeat an earlier one."""
        read = partial(read_kept, statements=len(statements), official=self._official)
        numbers = await self.dedup.ask(session, language, read, {"statements": _numbered(statements)})
        return [statements[number - 1] for number in numbers]

    async def verdicts(
        self, session: Session, language: str, statements: Sequence[str], page: str, support: str
    ) -> list[Verdict]:
        """Whether a page supports each of the statements."""
        read = partial(read_verdicts, statements=len(statements), official=self._official)
        values = {"statements": _numbered(statements), "support": support, "page": page}
        return await self.validate.ask(session, language, read, values)


def _numbered(statements: Sequence[str]) -> str:
    return "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))


class _Citations(ModelAnswer):
    citations: list[FactCitation]


class _Groups(ModelAnswer):
    groups: list[Annotated[list[int], Field(min_length=1)]]


class _Result(ModelAnswer):
    statement: int
    verdict: Verdict


class _Verdicts(ModelAnswer):
    verdicts: list[_Result]


# The official prompts ask for lists, under the official names.

_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_ALONE: Final = re.compile(r"(?:^|[:：])[ \t*`]*\[[\s\d,]*\][ \t*`.。]*$", re.MULTILINE)
"""A list of numbers on lines of its own, or after a colon; elsewhere it may be part of a sentence ("[1, 2] agree")."""


def _reference(value: object) -> int | None:
    """`0` means a citation without a number."""
    text = str(value).strip()
    return int(text) or None if text.isdecimal() and len(text) < 10 else None


class _OfficialCitation(FactCitation):
    """A citation under its official names; links in a fact become their labels, as officially."""

    statement: Annotated[OneLine, AfterValidator(partial(_LINK.sub, r"[\1]"))] = Field(validation_alias="fact")
    reference: Annotated[int | None, BeforeValidator(_reference)] = Field(default=None, validation_alias="ref_idx")


class OfficialResult(ModelAnswer):
    """A verdict under its official names."""

    idx: int
    result: Verdict


def read_citations(answer: str, *, official: bool = False) -> list[FactCitation]:
    """`{"citations": [{"statement", "reference", "url"}, ...]}`, which may be empty. Raises Unusable.

    Officially `[{"fact", "ref_idx", "url"}, ...]`.
    """
    return [*read_list(_OfficialCitation, answer)] if official else read_as(_Citations, answer).citations


def read_kept(answer: str, statements: int, *, official: bool = False) -> list[int]:
    """`{"groups": [[1, 3], [2]]}`, each number from 1 in one group: the first of each, in order. Raises Unusable.

    Officially `[1, 3]`, the numbers of those that stay. The official code keeps every statement if the list is
    unusable; here the question is asked again.
    """
    if official:
        kept = read_list(int, answer)
        if not _ALONE.search(without_thoughts(answer)):
            raise Unusable("its only list of numbers is among words")
        if not kept or len(set(kept)) < len(kept) or not all(1 <= number <= statements for number in kept):
            raise Unusable(f"the list does not name some of the {statements} statements, each once")
        return sorted(kept)
    groups = read_as(_Groups, answer).groups
    if sorted(number for group in groups for number in group) != list(range(1, statements + 1)):
        raise Unusable(f"the groups do not hold each of the {statements} statements once")
    return sorted(min(group) for group in groups)


def read_verdicts(answer: str, statements: int, *, official: bool = False) -> list[Verdict]:
    """`{"verdicts": [{"statement": 1, "verdict": "supported"}, ...]}`: one for each number from 1. Raises Unusable.

    Officially `[{"idx": 1, "result": "supported"}, ...]`.
    """
    if official:
        verdicts = sorted((row.idx, row.result) for row in read_list(OfficialResult, answer))
    else:
        verdicts = sorted((row.statement, row.verdict) for row in read_as(_Verdicts, answer).verdicts)
    if [number for number, _ in verdicts] != list(range(1, statements + 1)):
        raise Unusable(f"there is not one verdict on each of the {statements} statements")
    return [verdict for _, verdict in verdicts]
