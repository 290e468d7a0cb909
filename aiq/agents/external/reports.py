"""Existing reports as an agent: each sample gets the article that a file has for it, verbatim."""

from typing import ClassVar

from pydantic import Field

from aiq.core.errors import AgentError
from aiq.core.events import ReportWritten
from aiq.core.files import Files, distinct, read_rows, resolve
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Settings

ROUTE = "file"


class ReportsSettings(Settings):
    path: str = Field(
        description="rows of id, prompt, article, as in Deep Research Bench's raw_data/<model>.jsonl; "
        "JSONL, JSON or CSV, optionally gzipped"
    )


class Reports:
    """Returns the same report in every epoch of a sample; calls no model, retrieves nothing, repairs nothing.

    Raises DatasetError, when the run is planned, for a missing or malformed file.
    """

    Settings: ClassVar[type[ReportsSettings]] = ReportsSettings

    def __init__(self, settings: ReportsSettings) -> None:
        self._path = resolve(settings.path)
        rows = distinct(read_rows(Files(), self._path, "agent.path", ("id", "article")), "id")
        self._rows = {row.required("id"): row for row in rows}

    async def research(self, question: Question, session: Session) -> Report:
        """The file's report for the sample. Raises AgentError if it has none, or one for another task."""
        article = self.article(session.key.sample_id, question)
        session.events.emit(ReportWritten(text=article, raw_text=article, route=ROUTE))
        return Report(text=article, raw_text=article, route=ROUTE)

    def article(self, key: str, question: Question) -> str:
        """The report with this id. Raises AgentError if there is none, or if it is for another task."""
        row = self._rows.get(key)
        if row is None:
            raise AgentError(f"{self._path} has no report with id {key}; choose samples with dataset.ids")
        if not row.matches(question.text):
            raise AgentError(f"{row.where}: this report answers a different task from sample {key}; check agent.path")
        article = row.values.get("article")
        if not isinstance(article, str) or not article.strip():
            raise AgentError(f"{row.where}: the article is empty")
        return article
