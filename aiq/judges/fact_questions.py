"""The three questions that FACT asks, in our wording or the official one, and the strict reading of their answers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeVar

from pydantic import BeforeValidator, Field

from aiq.core.base import Record
from aiq.core.session import Session
from aiq.judges.fact_scores import Verdict
from aiq.judges.structured import (
    ModelAnswer,
    NonBlank,
    OneLine,
    Unusable,
    ask_once,
    read_as,
    read_list,
    without_thoughts,
)
from aiq.judges.wording import Wording, wordings

T = TypeVar("T")


class FactCitation(Record):
    """A statement and a URL that the report cites for it; `reference` is its number, where it has one."""

    statement: str
    reference: int | None
    url: str


def canonical(url: str) -> str:
    """A URL as pages are asked for and compared here: without the text fragment (`#:~:text=`) and spaces around it."""
    return url.strip().split("#:~:", 1)[0]


@dataclass(frozen=True)
class FactQuestion(Generic[T]):
    """A question that is asked once a run: its role, its prompt by language, and how its answer is read."""

    role: str
    prompts: Mapping[str, Wording]
    read: Callable[..., T]
    tries: int

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """Every prompt once."""
        return tuple(dict.fromkeys(self.prompts.values()))

    async def ask(self, session: Session, language: str, values: Mapping[str, str], *about: int) -> T:
        """The answer. `about`: what reading it takes besides the text. Raises what `structured.ask` raises."""
        prompt = self.prompts[language].render(values)
        return await ask_once(session, self.role, prompt, lambda text: self.read(text, *about), tries=self.tries)


@dataclass(frozen=True)
class FactQuestions:
    """Values that fill them: `reference_list`, `report_part`, `report` (both); `statements`; `page`, `support`."""

    extract: FactQuestion[list[FactCitation]]
    dedup: FactQuestion[list[int]]
    validate: FactQuestion[list[Verdict]]


def questions(official_dir: str | None, tries: int) -> FactQuestions:
    """Ours, or those of a checkout of the official repository. Raises ConfigError where it does not fit."""

    def prompts(template: str, file: str, places: Mapping[str, str]) -> dict[str, Wording]:
        return wordings("fact", template, official_dir, file, "prompt_template{suffix}", places)

    extract = prompts("fact_extract.j2", "utils/extract.py", {"report_text": "report"})
    dedup = prompts("fact_dedup.j2", "utils/deduplicate.py", {"statements": "statements"})
    pages = {"reference": "page", "statements": "statements"}
    validate = prompts("fact_validate.j2", "utils/validate.py", pages)
    ours = official_dir is None
    return FactQuestions(
        FactQuestion("judge.fact_extract", extract, read_citations if ours else read_official_citations, tries),
        FactQuestion("judge.fact_dedup", dedup, read_kept if ours else read_official_kept, tries),
        FactQuestion("judge.fact_validate", validate, read_verdicts if ours else read_official_verdicts, tries),
    )


class _Cited(ModelAnswer):
    statement: OneLine
    reference: int | None = None
    url: NonBlank


class _Citations(ModelAnswer):
    citations: list[_Cited]


class _Groups(ModelAnswer):
    groups: list[Annotated[list[int], Field(min_length=1)]]


class _Result(ModelAnswer):
    statement: int
    verdict: Verdict


class _Verdicts(ModelAnswer):
    verdicts: list[_Result]


def read_citations(answer: str) -> list[FactCitation]:
    """`{"citations": [{"statement", "reference", "url"}, ...]}`; the list may be empty. Raises Unusable."""
    return [
        FactCitation(statement=one.statement, reference=one.reference, url=canonical(one.url))
        for one in read_as(_Citations, answer).citations
    ]


def read_kept(answer: str, statements: int) -> list[int]:
    """`{"groups": [[1, 3], [2]]}`, each number from 1 in one group: the first of each, in order. Raises Unusable."""
    groups = read_as(_Groups, answer).groups
    if sorted(number for group in groups for number in group) != list(range(1, statements + 1)):
        raise Unusable(f"the groups do not hold each of the {statements} statements once")
    return sorted(min(group) for group in groups)


def read_verdicts(answer: str, statements: int) -> list[Verdict]:
    """`{"verdicts": [{"statement": 1, "verdict": "supported"}, ...]}`: one for each number from 1. Raises Unusable."""
    return _in_order([(one.statement, one.verdict) for one in read_as(_Verdicts, answer).verdicts], statements)


def _in_order(found: Sequence[tuple[int, Verdict]], statements: int) -> list[Verdict]:
    numbers = sorted(number for number, _ in found)
    if numbers != list(range(1, statements + 1)):
        raise Unusable(f"there are verdicts on {numbers[:10]}, not one on each of the {statements} statements")
    return [verdict for _, verdict in sorted(found)]


# The official prompts ask for lists, under the official names.

_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_ALONE: Final = re.compile(r"(?:^|[:：])[ \t*`]*\[[\s\d,]*\][ \t*`.。]*$", re.MULTILINE)
"""A list of numbers on lines of its own, or after a colon; elsewhere it may be words ("[1, 2] are alike")."""


def _reference(value: object) -> int | None:
    """`0` means a citation without a number."""
    text = str(value).strip()
    return int(text) or None if text.isdecimal() and len(text) < 10 else None


class _OfficialCited(ModelAnswer):
    fact: OneLine
    ref_idx: Annotated[int | None, BeforeValidator(_reference)] = None
    url: NonBlank


class _OfficialResult(ModelAnswer):
    idx: int
    result: Verdict


def read_official_citations(answer: str) -> list[FactCitation]:
    """`[{"fact", "ref_idx", "url"}, ...]`; links in a fact become their words, as officially. Raises Unusable."""
    return [
        FactCitation(statement=_LINK.sub(r"[\1]", one.fact), reference=one.ref_idx, url=canonical(one.url))
        for one in read_list(_OfficialCited, answer)
    ]


def read_official_kept(answer: str, statements: int) -> list[int]:
    """`[1, 3]`: the numbers of the statements that stay, each once, in order. Raises Unusable.

    The official code keeps every statement where the list is of no use; here the question is asked again.
    """
    kept = read_list(int, answer)
    if not _ALONE.search(without_thoughts(answer)):
        raise Unusable("its only list of numbers is among words")
    if not kept or len(set(kept)) < len(kept) or not all(1 <= number <= statements for number in kept):
        raise Unusable(f"the list does not name some of the {statements} statements, each once")
    return sorted(kept)


def read_official_verdicts(answer: str, statements: int) -> list[Verdict]:
    """`[{"idx": 1, "result": "supported"}, ...]`: one for each number from 1. Raises Unusable."""
    return _in_order([(one.idx, one.result) for one in read_list(_OfficialResult, answer)], statements)
