"""FACT: do the pages that a report cites support what it says (Deep Research Bench).

Extract (statement, URL) pairs, group them by URL, fetch each page and judge its statements by what it says. Every
question to a model (on a piece of a report, on a page with its statements) is asked once a run.
"""

from collections.abc import Sequence
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from aiq.core.errors import JudgeError, ToolError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.sources import Page
from aiq.core.tools import Reader
from aiq.judges.base import Judge, not_applicable
from aiq.judges.fact_extract import ExtractionAgreement, agreement, by_url, cited_statements, extract_by_model
from aiq.judges.fact_questions import questions
from aiq.judges.fact_scores import CitedPage, Counts, Judged, Verdict, count
from aiq.judges.structured import each_bounded
from aiq.judges.wording import language
from aiq.llm.models import read_key

_WRONG: Final = ("facts", "roles", "numbers", "nonsense", "shuffled")
_GONE: Final = ("fabricated", "sections")
_ACCURACY: Final = Metric.share(
    "fact.citation_accuracy", estimator="ratio", worst=None, notices=_WRONG, once_per_run=True
)
_ACCURACY_PER_TASK: Final = Metric.share("fact.citation_accuracy_per_task", notices=_WRONG, once_per_run=True)
_CITATIONS: Final = Metric.count("fact.citations", notices=_GONE, once_per_run=True)
_EFFECTIVE: Final = Metric.count("fact.effective_citations", notices=(*_WRONG, *_GONE), once_per_run=True)
_TOTAL: Final = Metric.count("fact.total_citations", worst=None, notices=_GONE, once_per_run=True)
_TOTAL_VALID: Final = Metric.count(
    "fact.total_valid_citations", worst=None, notices=(*_WRONG, *_GONE), once_per_run=True
)
_AGREEMENT: Final = Metric.share(
    "fact.extraction_agreement", estimator="ratio", worst=None, notices=_GONE, once_per_run=True
)

_NO_CITATIONS: Final = "the report has no citations"
_BY_WEIGHT: Final[tuple[Verdict, ...]] = ("supported", "unsupported", "unknown")
"""What one part of a page says counts for all of it: what is said anywhere is said."""


class FactSettings(Settings):
    """How FACT reads reports and pages.

    `extraction`: who finds the citing statements; with `both` the model's are judged and compared with the
    rules'. `deduplication`: who says which statements of a page are one. `support`: whether all of a statement
    must be on the page, or some of it, as officially. `tries`: questions to a model until its answer
    is usable. `max_chunk_chars`: characters of the report per extraction. `max_page_chars`: characters of a
    page that the judge reads at once, `page_chunks`: so many times. `statements_per_call`: statements of a page in
    one question; None: all. `reader`: a service that reads pages (with `{url}`), `reader_key_env`: the
    variable with its key. `official_dir`: a checkout of the official repository, whose prompts are used (which
    say for themselves what support is). `concurrency`: pages of one report fetched and judged at once.
    """

    extraction: Literal["model", "rules", "both"] = "model"
    deduplication: Literal["rules", "model"] = "rules"
    support: Literal["whole", "part"] = "whole"
    tries: int = Field(default=3, ge=1)
    max_chunk_chars: int = Field(default=12_000, ge=500)
    max_page_chars: int = Field(default=40_000, ge=100)
    page_chunks: int = Field(default=1, ge=1)
    statements_per_call: int | None = Field(default=None, ge=1)
    reader: str | None = None
    reader_key_env: str | None = None
    official_dir: str | None = None
    concurrency: int = Field(default=4, ge=1)

    @field_validator("reader")
    @classmethod
    def _is_a_template(cls, value: str | None) -> str | None:
        if value is not None and not (value.startswith(("http://", "https://")) and value.count("{url}") == 1):
            raise ValueError("write an address with {url} in it, such as https://r.jina.ai/{url}")
        return value

    @model_validator(mode="after")
    def _has_a_reader_for_the_key(self) -> Self:
        if self.reader_key_env is not None and self.reader is None:
            raise ValueError("reader_key_env is the key of a reader: set reader as well")
        return self


class Fact(Judge):
    """`fact.citation_accuracy` (official ratio), the same per task, and counts of citations per task, both ways."""

    Settings = FactSettings
    name = "fact"
    version = "3"
    reads_web = True

    def __init__(self, settings: FactSettings) -> None:
        super().__init__(settings)
        self._asked = asked = questions(settings.official_dir)
        url, key = settings.reader, settings.reader_key_env
        self._reader = None if url is None else Reader(template=url, key_env=key)
        compared = (_AGREEMENT,) if settings.extraction == "both" else ()
        self.metrics = (_ACCURACY, _ACCURACY_PER_TASK, _CITATIONS, _EFFECTIVE, _TOTAL, _TOTAL_VALID, *compared)
        needed = (
            *((asked.extract,) if settings.extraction != "rules" else ()),
            *((asked.dedup,) if settings.deduplication == "model" else ()),
            asked.validate,
        )
        self.roles = tuple(question.role for question in needed)
        self.wordings = [wording for question in needed for wording in question.wordings]

    def check(self, samples: Sequence[Sample]) -> None:
        """Takes every sample. Raises ConfigError where the reader's key is not there."""
        if self.settings.reader_key_env is not None:
            read_key(self.settings.reader_key_env, "judge.fact.reader_key_env")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        settings, spoken = self.settings, language(sample)
        by_rules = cited_statements(report.text) if settings.extraction != "model" else []
        citations, invented = by_rules, 0
        if settings.extraction != "rules":
            citations, invented = await extract_by_model(
                self._asked.extract,
                report.text,
                spoken,
                session,
                tries=settings.tries,
                max_chars=settings.max_chunk_chars,
                at_once=settings.concurrency,
            )
        compared = agreement(citations, by_rules) if settings.extraction == "both" else None

        async def judge(cited: tuple[str, list[str]]) -> CitedPage:
            return await self._judge_page(*cited, spoken, session)

        pages = await each_bounded(list(by_url(citations).items()), judge, settings.concurrency)
        failures = [page.error for page in pages if page.error is not None]
        unusable = [error for error in failures if error.startswith("judge.")]
        if unusable and len(failures) == len(pages):
            raise JudgeError(f"none of {len(pages)} cited pages could be judged: {unusable[0]}")
        counts = count(pages)
        detail: dict[str, JsonValue] = {
            **counts.model_dump(),
            "invented_by_extraction": invented,
            "extracted": [citation.model_dump(mode="json") for citation in citations],
            "pages": [page.model_dump(mode="json", exclude_none=True) for page in pages],
            **({"extraction": compared.model_dump()} if compared else {}),
        }
        return [*_scores(counts, bool(pages), detail), *_agreement(compared)]

    async def _judge_page(self, url: str, statements: Sequence[str], spoken: str, session: Session) -> CitedPage:
        """The verdicts on one page. As officially, a page that cannot be read or judged is an error and skipped."""
        try:
            page = await session.web.fetch(url, self._reader)
        except ToolError as error:
            return CitedPage(url=url, error=f"{error.kind.value}: {error}")
        try:
            if self.settings.deduplication == "model" and len(statements) > 1:
                values = {"statements": _numbered(statements)}
                kept = await self._asked.dedup.ask(session, spoken, values, len(statements), tries=self.settings.tries)
                statements = [statements[number - 1] for number in kept]
            verdicts = await self._verdicts(page, statements, spoken, session)
        except JudgeError as error:
            return CitedPage(url=url, error=str(error), digest=page.digest)
        judged = [Judged(statement=s, verdict=v) for s, v in zip(statements, verdicts, strict=True)]
        return CitedPage(url=url, judged=tuple(judged), digest=page.digest)

    async def _verdicts(self, page: Page, statements: Sequence[str], spoken: str, session: Session) -> list[Verdict]:
        """Of so many statements at a time on each part of the page; the strongest verdict on each counts."""
        settings, text = self.settings, f"{page.title}\n\n{page.text}"
        most, size = settings.max_page_chars, settings.statements_per_call or len(statements)
        parts = [text[at : at + most] for at in range(0, len(text), most)][: settings.page_chunks]
        found: list[Verdict] = []
        for at in range(0, len(statements), size):
            together = statements[at : at + size]
            values = {"statements": _numbered(together), "support": settings.support}
            told = [
                await self._asked.validate.ask(
                    session, spoken, {**values, "page": part}, len(together), tries=settings.tries
                )
                for part in parts
            ]
            found += [min(verdicts, key=_BY_WEIGHT.index) for verdicts in zip(*told, strict=True)]
        return found


def _numbered(statements: Sequence[str]) -> str:
    return "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))


def _scores(counts: Counts, cites: bool, detail: dict[str, JsonValue]) -> list[Score]:
    """A report without citations has no accuracy, but it has a number of citations: 0. The official counts skip it."""
    citations, supported = counts.citations, counts.supported
    per_report = [
        Score(metric=_CITATIONS.name, value=citations),
        Score(metric=_EFFECTIVE.name, value=supported),
    ]
    official = [Score(metric=_TOTAL.name, value=citations), Score(metric=_TOTAL_VALID.name, value=supported)]
    if not cites:
        official = not_applicable((_TOTAL, _TOTAL_VALID), _NO_CITATIONS)
    if counts.accuracy is None:
        reason = "no citation of the report could be judged" if cites else _NO_CITATIONS
        first = Score(metric=_ACCURACY.name, not_applicable=reason, detail=detail)
        return [first, *not_applicable((_ACCURACY_PER_TASK,), reason), *per_report, *official]
    return [
        Score(metric=_ACCURACY.name, numerator=supported, denominator=citations, detail=detail),
        Score(metric=_ACCURACY_PER_TASK.name, value=counts.accuracy),
        *per_report,
        *official,
    ]


def _agreement(both: ExtractionAgreement | None) -> list[Score]:
    """Of the citations that model and rules found together, the share that the other one has too."""
    if both is None:
        return []
    if not both.model + both.rules:
        return not_applicable((_AGREEMENT,), _NO_CITATIONS)
    shared = both.model_in_rules + both.rules_in_model
    return [Score(metric=_AGREEMENT.name, numerator=shared, denominator=both.model + both.rules)]
