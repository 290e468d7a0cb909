"""FACT: do the pages that a report cites support what it says (Deep Research Bench).

Extract (statement, URL) pairs (`fact_extract`), group them by URL, fetch each page and judge its
statements (`fact_pages`). The statistics are in `fact_arithmetic`. Every question to a model stands for
itself (a piece of a report, a page with its statements) and is asked once a run.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from aiq.core.errors import JudgeError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.tools import Reader
from aiq.judges.base import Judge, not_applicable
from aiq.judges.fact_extract import By, Extracted, Extractor
from aiq.judges.fact_pages import PageJudge
from aiq.judges.fact_questions import questions
from aiq.judges.fact_scores import CitedPage, Counts, count
from aiq.judges.race_criteria import language
from aiq.judges.statements import by_url
from aiq.judges.structured import each_bounded
from aiq.judges.wording import hash_of
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


class FactSettings(Settings):
    """How FACT reads reports and pages.

    `extraction`: who finds the citing statements; with `both` the model's are judged and compared with the
    rules'. `deduplication`: who says which statements of a page are one. `support`: whether all of a statement
    must stand on the page, or some of it, as officially. `tries`: questions to a model until its answer
    is usable. `max_chunk_chars`: characters of the report per extraction. `max_page_chars`: characters of a
    page that the judge reads at once, `page_chunks`: so many times. `statements_per_call`: statements of a page in
    one question; None: all. `reader`: a service that reads pages (with `{url}`), `reader_key_env`: the
    variable with its key. `official_dir`: a checkout of the official repository, whose prompts are used (which
    say for themselves what support is). `concurrency`: pages of one report fetched and judged at once.
    """

    extraction: By = "model"
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
        self._settings = settings
        asked = questions(settings.official_dir)
        self._extractor = Extractor(
            settings.extraction,
            asked,
            tries=settings.tries,
            max_chunk_chars=settings.max_chunk_chars,
            concurrency=settings.concurrency,
        )
        reader = None if settings.reader is None else Reader(template=settings.reader, key_env=settings.reader_key_env)
        self._pages = PageJudge(
            asked,
            tries=settings.tries,
            by_model=settings.deduplication == "model",
            reader=reader,
            max_page_chars=settings.max_page_chars,
            page_chunks=settings.page_chunks,
            statements_per_call=settings.statements_per_call,
            support=settings.support,
        )
        compared = (_AGREEMENT,) if settings.extraction == "both" else ()
        self.metrics = (_ACCURACY, _ACCURACY_PER_TASK, _CITATIONS, _EFFECTIVE, _TOTAL, _TOTAL_VALID, *compared)
        needed = (
            *((asked.extract,) if settings.extraction != "rules" else ()),
            *((asked.dedup,) if settings.deduplication == "model" else ()),
            asked.validate,
        )
        self.roles = tuple(question.role for question in needed)
        self.prompt_hash = hash_of(wording for question in needed for wording in question.wordings)

    def check(self, samples: Sequence[Sample]) -> None:
        """Every sample will do: FACT holds nothing but the report against the pages it cites.

        Raises ConfigError where the reader's key is not there.
        """
        if self._settings.reader_key_env is not None:
            read_key(self._settings.reader_key_env, "judge.fact.reader_key_env")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        found = await self._extractor.extract(report.text, language(sample), session)
        cited = list(by_url(found.citations).items())
        judge = partial(self._pages.judge, session, language(sample))
        pages = await each_bounded(cited, judge, self._settings.concurrency)
        failures = [page.error for page in pages if page.error is not None]
        unusable = [error for error in failures if error.startswith("judge.")]
        if unusable and len(failures) == len(pages):
            raise JudgeError(f"none of {len(pages)} cited pages could be judged: {unusable[0]}")
        return _scores(pages, found)


def _scores(pages: Sequence[CitedPage], found: Extracted) -> list[Score]:
    """A report without citations has no accuracy, but it has a number of citations: 0. The official counts skip it."""
    counts = count(pages)
    detail: dict[str, JsonValue] = {
        **counts.model_dump(),
        "invented_by_extraction": found.invented,
        "extracted": [citation.model_dump(mode="json") for citation in found.citations],
        "pages": [page.model_dump(mode="json", exclude_none=True) for page in pages],
    }
    if found.agreement is not None:
        detail["extraction"] = found.agreement.model_dump()
    citations, supported = float(counts.citations), float(counts.supported)
    official = (
        [Score(metric=_TOTAL.name, value=citations), Score(metric=_TOTAL_VALID.name, value=supported)]
        if pages
        else not_applicable((_TOTAL, _TOTAL_VALID), _NO_CITATIONS)
    )
    return [
        *_accuracies(counts, bool(pages), detail),
        Score(metric=_CITATIONS.name, value=citations),
        Score(metric=_EFFECTIVE.name, value=supported),
        *official,
        *_agreement(found),
    ]


def _accuracies(counts: Counts, cites: bool, detail: dict[str, JsonValue]) -> list[Score]:
    share = counts.accuracy
    if share is None:
        reason = "no citation of the report could be judged" if cites else _NO_CITATIONS
        first, second = not_applicable((_ACCURACY, _ACCURACY_PER_TASK), reason)
        return [first.model_copy(update={"detail": detail}), second]
    return [
        Score(metric=_ACCURACY.name, numerator=counts.supported, denominator=counts.citations, detail=detail),
        Score(metric=_ACCURACY_PER_TASK.name, value=share),
    ]


def _agreement(found: Extracted) -> list[Score]:
    """Of the citations that model and rules found together, the share that the other one has too."""
    both = found.agreement
    if both is None:
        return []
    if not both.model + both.rules:
        return not_applicable((_AGREEMENT,), _NO_CITATIONS)
    shared = both.model_in_rules + both.rules_in_model
    return [Score(metric=_AGREEMENT.name, numerator=shared, denominator=both.model + both.rules)]
