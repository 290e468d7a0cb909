"""FACT: do the pages that a report cites support what it says (Deep Research Bench).

Extract (statement, URL) pairs, group them by URL, fetch each page, judge the statements page by
page. The statistics are in `fact_arithmetic`, extraction by rules in `statements`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from pydantic import Field, JsonValue

from aiq.citations.body import split_references
from aiq.core.errors import JudgeError, ToolError
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.asking import ask, each_bounded
from aiq.judges.base import not_applicable
from aiq.judges.fact_answers import read_citations, read_verdicts
from aiq.judges.fact_arithmetic import CitedPage, Counts, Judged, count
from aiq.judges.fencing import PROMPTS, harmless
from aiq.judges.statements import Citation, by_url, chunks, cited_statements, urls

_EXTRACT: Final = "judge.fact_extract"
_VALIDATE: Final = "judge.fact_validate"

_ACCURACY: Final = Metric.share("fact.citation_accuracy", estimator="ratio", worst=None)
_ACCURACY_PER_TASK: Final = Metric.share("fact.citation_accuracy_per_task")
_CITATIONS: Final = Metric.count("fact.citations")
_EFFECTIVE: Final = Metric.count("fact.effective_citations")


class FactSettings(Settings):
    """How FACT reads reports and pages.

    `extraction`: who finds the citing statements. `tries`: questions to a model until its answer is
    usable. `max_chunk_chars`: characters of the report per extraction; `max_page_chars`: characters
    of a page that the judge reads. `concurrency`: pages of one report fetched and judged at once.
    """

    extraction: Literal["model", "rules"] = "model"
    tries: int = Field(default=3, ge=1)
    max_chunk_chars: int = Field(default=12_000, ge=500)
    max_page_chars: int = Field(default=40_000, ge=100)
    concurrency: int = Field(default=4, ge=1)


class Fact:
    """`fact.citation_accuracy` (official ratio), the same per task, and counts of citations per task."""

    Settings = FactSettings
    name = "fact"
    version = "1"
    metrics = (_ACCURACY, _ACCURACY_PER_TASK, _CITATIONS, _EFFECTIVE)

    def __init__(self, settings: FactSettings) -> None:
        self._settings = settings
        self.roles = (_EXTRACT, _VALIDATE) if settings.extraction == "model" else (_VALIDATE,)
        self.prompt_hash = PROMPTS.hash(*(f"{role.removeprefix('judge.')}.j2" for role in self.roles))

    def check(self, samples: Sequence[Sample]) -> None:
        """Every sample will do: FACT holds nothing but the report against the pages it cites."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        found = await self.extract(report.text, session)
        known = {url.rstrip("/"): url for url in urls(report.text)}
        real = [c.model_copy(update={"url": known[key]}) for c in found if (key := c.url.rstrip("/")) in known]
        cited = by_url(real)
        pages = await each_bounded(list(cited.items()), partial(self._judge_page, session), self._settings.concurrency)
        failures = [page.error for page in pages if page.error is not None]
        if failures and len(failures) == len(pages) and all(error.startswith(_VALIDATE) for error in failures):
            raise JudgeError(f"none of {len(pages)} cited pages could be judged: {failures[0]}")
        return _scores(pages, invented=len(found) - len(real))

    async def extract(self, report: str, session: Session) -> list[Citation]:
        """The report's citations in order, as a model or the rules see them; none where it has no URL."""
        if self._settings.extraction == "rules":
            return cited_statements(report)
        if not urls(report):
            return []
        body, references = split_references(report)
        pieces = chunks(body, self._settings.max_chunk_chars)
        found = await each_bounded(
            pieces, partial(self._extract_piece, session, references), self._settings.concurrency
        )
        return [citation for piece in found for citation in piece]

    async def _extract_piece(self, session: Session, references: str, piece: str) -> list[Citation]:
        prompt = PROMPTS.render("fact_extract.j2", reference_list=harmless(references), report_part=harmless(piece))
        return (await ask(session, _EXTRACT, prompt, read_citations, tries=self._settings.tries))[0]

    async def _judge_page(self, session: Session, cited: tuple[str, list[str]]) -> CitedPage:
        """The verdicts on one page. As officially, a page that cannot be read or judged is an error and skipped."""
        url, statements = cited
        try:
            page = await session.web.fetch(url)
        except ToolError as error:
            return CitedPage(url=url, error=f"{error.kind.value}: {error}")
        prompt = PROMPTS.render(
            "fact_validate.j2",
            page=harmless(f"{page.title}\n\n{page.text}"[: self._settings.max_page_chars]),
            statements=harmless("\n".join(f"{n}. {statement}" for n, statement in enumerate(statements, 1))),
        )
        read = partial(read_verdicts, statements=len(statements))
        try:
            verdicts, _ = await ask(session, _VALIDATE, prompt, read, tries=self._settings.tries)
        except JudgeError as error:
            return CitedPage(url=url, error=str(error))
        judged = [Judged(statement=s, verdict=v) for s, v in zip(statements, verdicts, strict=True)]
        return CitedPage(url=url, judged=tuple(judged))


def _scores(pages: Sequence[CitedPage], invented: int) -> list[Score]:
    """A report without citations has no accuracy, but it has a number of citations: 0."""
    counts = count(pages)
    detail: dict[str, JsonValue] = {
        **counts.model_dump(),
        "invented_by_extraction": invented,
        "pages": [page.model_dump(mode="json", exclude_none=True) for page in pages],
    }
    return [
        *_accuracies(counts, bool(pages), detail),
        Score(metric=_CITATIONS.name, value=float(counts.citations)),
        Score(metric=_EFFECTIVE.name, value=float(counts.supported)),
    ]


def _accuracies(counts: Counts, cites: bool, detail: dict[str, JsonValue]) -> list[Score]:
    share = counts.accuracy
    if share is None:
        reason = "no citation of the report could be judged" if cites else "the report has no citations"
        first, second = not_applicable((_ACCURACY, _ACCURACY_PER_TASK), reason)
        return [first.model_copy(update={"detail": detail}), second]
    return [
        Score(metric=_ACCURACY.name, numerator=counts.supported, denominator=counts.citations, detail=detail),
        Score(metric=_ACCURACY_PER_TASK.name, value=share),
    ]
