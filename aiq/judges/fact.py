"""FACT: whether the pages that a report cites support what it says (Deep Research Bench).

Extracts (statement, URL) pairs, groups them by URL, fetches each page and judges the statements by its text. Every
question to a model (about a piece of a report, or about a page and its statements) is asked only once per run.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from aiq.core.concurrency import gather_bounded
from aiq.core.errors import JudgeError, ModelError, ToolError
from aiq.core.reports import CAVEAT, Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.text import plural
from aiq.core.tools import Reader
from aiq.judges.base import Found, Judge, scores_of
from aiq.judges.fact_extract import agreement, cited_statements, extract_by_model
from aiq.judges.fact_questions import FactCitation, FactQuestions
from aiq.judges.fact_scores import CitedPage, Judged, Verdict, caveat, count, unread_text
from aiq.judges.wording import language
from aiq.llm.models import read_key

_CONTENT: Final = ("facts", "roles", "numbers", "nonsense", "shuffled")
_CITATION: Final = ("fabricated", "sections")
_JUDGED_SHARE: Final = "fact.judged_share"
_METRICS: Final = (
    Metric.share("fact.citation_accuracy", estimator="ratio", worst=None, notices=_CONTENT, once_per_run=True),
    Metric.share("fact.citation_accuracy_per_task", notices=_CONTENT, once_per_run=True),
    Metric.count("fact.citations", notices=_CITATION, once_per_run=True),
    Metric.count("fact.effective_citations", notices=(*_CONTENT, *_CITATION), once_per_run=True),
    Metric.count("fact.total_citations", worst=None, notices=_CITATION, once_per_run=True),
    Metric.count("fact.total_valid_citations", worst=None, notices=(*_CONTENT, *_CITATION), once_per_run=True),
    Metric.share(_JUDGED_SHARE, estimator="ratio", worst=None, notices=("fabricated",), once_per_run=True),
    Metric.share("fact.extraction_agreement", estimator="ratio", worst=None, notices=_CITATION, once_per_run=True),
)
"""The last one only if `extraction` is `both`."""

_NO_CITATIONS: Final = "the report has no citations"
_STRONGEST_FIRST: Final[tuple[Verdict, ...]] = ("supported", "unsupported", "unknown")
"""The strongest verdict of any part of a page counts for the whole page."""


class FactSettings(Settings):
    """How FACT reads reports and pages."""

    extraction: Literal["model", "rules", "both"] = Field(
        description="who finds the cited statements; both: the model's are judged and compared with those of the rules"
    )
    deduplication: Literal["rules", "model"] = Field(
        description="who merges equal statements of a page: rules (equal but for case and punctuation) or model"
    )
    support: Literal["whole", "part"] = Field(
        description="what the page must support: the whole statement, or part of it (as officially)"
    )
    tries: int = Field(ge=1, description="attempts to get a usable answer from a model")
    max_chunk_chars: int = Field(ge=500, description="characters of the report per extraction")
    unread_pages: Literal["judge", "skip"] = Field(
        description="pages that cannot be fetched: judge (by the error's text, as officially), or skip"
    )
    max_page_chars: int | None = Field(
        ge=100, description="characters of a page that the judge reads at once; null: all, as officially"
    )
    page_chunks: int = Field(
        ge=1, description="parts of max_page_chars that are read of a long page, each in a separate question"
    )
    statements_per_call: int | None = Field(
        ge=1, description="statements about a page per question; null: all, as officially"
    )
    reader: str | None = Field(
        description="a service that reads pages, e.g. https://r.jina.ai/{url} (with web=live); null: fetched directly"
    )
    reader_key_env: str | None = Field(description="the environment variable that holds the service's key")
    official_dir: str | None = Field(
        description="a checkout of the official repository, whose prompts are used; null: those of aiq"
    )
    concurrency: int = Field(ge=1, description="pages of one report that are fetched and judged at once")

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
    """`fact.citation_accuracy` (official ratio), the same per task, and citation counts per task, ours and official."""

    Settings = FactSettings
    settings: FactSettings
    version = "4"
    reads_web = True

    def __init__(self, settings: FactSettings) -> None:
        super().__init__(settings)
        self._questions = questions = FactQuestions(settings.official_dir, settings.tries)
        url, key = settings.reader, settings.reader_key_env
        self._reader = None if url is None else Reader(template=url, key_env=key)
        self.metrics = _METRICS if settings.extraction == "both" else _METRICS[:-1]
        used = (
            *((questions.extract,) if settings.extraction != "rules" else ()),
            *((questions.dedup,) if settings.deduplication == "model" else ()),
            questions.validate,
        )
        self.roles = tuple(question.role for question in used)
        self.wordings = [wording for question in used for wording in question.wordings]

    def check(self, samples: Sequence[Sample]) -> None:
        """Accept every sample. Raises ConfigError if the reader's key is missing."""
        read_key(self.settings.reader_key_env, "judge.fact.reader_key_env")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        settings, lang = self.settings, language(sample)
        by_rules = cited_statements(report.text) if settings.extraction != "model" else []
        citations, invented = by_rules, 0
        if settings.extraction != "rules":
            limits = {"max_chars": settings.max_chunk_chars, "at_once": settings.concurrency}
            citations, invented = await extract_by_model(self._questions, report.text, lang, session, **limits)

        groups = list(by_url(citations).items())
        pages = await gather_bounded(groups, lambda page: self._judge_page(*page, lang, session), settings.concurrency)
        unjudged = caveat(pages)
        detail: dict[str, JsonValue] = {
            **count(pages).model_dump(),
            "invented_by_extraction": invented,
            "extracted": [citation.model_dump(mode="json") for citation in citations],
            "pages": [page.model_dump(mode="json", exclude_defaults=True) for page in pages],
            CAVEAT: unjudged.model_dump(mode="json"),
        }
        if unjudged.n and all(page.unread or page.error for page in pages):
            reason = f"none of {plural(len(pages), 'cited page')} could be judged: {unjudged.first}"
            return _error_scores(self.metrics, reason, count(pages).statements, detail)
        values = _metric_values(pages)
        if settings.extraction == "both":
            overlap = agreement(citations, by_rules)
            total, shared = overlap["model"] + overlap["rules"], overlap["model_in_rules"] + overlap["rules_in_model"]
            values.append((shared, total) if total else _NO_CITATIONS)
            detail["extraction"] = {**overlap}
        return scores_of(self.metrics, values, detail)

    async def _judge_page(self, url: str, statements: list[str], lang: str, session: Session) -> CitedPage:
        """The verdicts on one page or the failure to fetch it; as officially, a page without verdicts is skipped."""
        unread = digest = None
        try:
            page = await session.web.fetch(url, self._reader)
            text, digest = page.content, page.digest
        except ToolError as error:
            unread = f"{error.kind.value}: {error}"
            text = unread_text(unread)
            if self.settings.unread_pages == "skip":
                return CitedPage(url=url, error=unread, unread=unread, cited=len(statements))
        try:
            if self.settings.deduplication == "model" and len(statements) > 1:
                statements = await self._questions.distinct(session, lang, statements)
            verdicts = await self._verdicts(text, statements, lang, session)
        except (JudgeError, ModelError) as error:  # for example a page that exceeds the model's context
            return CitedPage(url=url, error=str(error), unread=unread, cited=len(statements), digest=digest)
        judged = [Judged(statement=s, verdict=v) for s, v in zip(statements, verdicts, strict=True)]
        return CitedPage(url=url, judged=tuple(judged), unread=unread, digest=digest)

    async def _verdicts(self, text: str, statements: Sequence[str], lang: str, session: Session) -> list[Verdict]:
        """One verdict per statement: the strongest of any part of the page. Asks per part and `statements_per_call`."""
        settings = self.settings
        chars, size = settings.max_page_chars or len(text) or 1, settings.statements_per_call or len(statements)
        parts = [text[at : at + chars] for at in range(0, len(text) or 1, chars)][: settings.page_chunks]
        strongest: list[Verdict] = []
        for at in range(0, len(statements), size):
            batch = statements[at : at + size]
            answers = [await self._questions.verdicts(session, lang, batch, part, settings.support) for part in parts]
            strongest += [min(verdicts, key=_STRONGEST_FIRST.index) for verdicts in zip(*answers, strict=True)]
        return strongest


def _metric_values(pages: Sequence[CitedPage]) -> list[Found]:
    """The values of `_METRICS`, without the last. A report without citations has no accuracy, and its counts are 0.

    The official counts skip such a report.
    """
    counts = count(pages)
    citations, supported = counts.citations, counts.supported
    unjudged = "no citation of the report could be judged" if pages else _NO_CITATIONS
    accuracy = [(supported, citations), supported / citations] if citations else [unjudged] * 2
    official = [citations, supported] if pages else [_NO_CITATIONS] * 2
    return [*accuracy, citations, supported, *official, (citations, counts.statements) if pages else _NO_CITATIONS]


def _error_scores(metrics: Sequence[Metric], reason: str, statements: int, detail: dict[str, JsonValue]) -> list[Score]:
    """An error for every metric but the share of statements judged, which is 0; the first metric gets the detail."""
    scores = [Score(metric=metric.name, error=reason, detail={} if i else detail) for i, metric in enumerate(metrics)]
    share = Score(metric=_JUDGED_SHARE, numerator=0, denominator=statements)
    return [share if score.metric == share.metric else score for score in scores]


def by_url(citations: Iterable[FactCitation]) -> dict[str, list[str]]:
    """The statements of each URL in order of appearance, once if they differ only in case and punctuation."""
    grouped: dict[str, dict[str, str]] = {}
    for citation in citations:
        key = "".join(char for char in citation.statement.casefold() if char.isalnum())
        grouped.setdefault(citation.url, {}).setdefault(key, citation.statement)
    return {url: list(statements.values()) for url, statements in grouped.items()}
