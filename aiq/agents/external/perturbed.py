"""An agent that returns existing reports, perturbed at a known severity, to measure judges.

As a control, it also returns undamaged reports that other agents wrote on the same tasks.
"""

from random import Random
from typing import ClassVar

from pydantic import Field

from aiq.agents.external.perturbations import PERTURBATIONS, perturbed
from aiq.agents.external.reports import Reports, ReportsSettings
from aiq.citations.parse import parse_report
from aiq.citations.verify import verify
from aiq.core.errors import AgentError, ToolError
from aiq.core.events import ReportWritten
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.seeds import derive
from aiq.core.session import Session
from aiq.core.sources import Source

ROUTE = "perturbed"
INDEPENDENT = "independent"
"""Not a perturbation but another, undamaged report; the severity is the position of its file."""


class PerturbedReportsSettings(ReportsSettings):
    independent: tuple[str, ...] = Field(
        description="files like `path` for the control `independent`: undamaged reports of other agents or seeds"
    )
    seed: int = Field(description="seed that decides which parts of a report are changed")
    sources: bool = Field(
        description="count the pages that the unchanged report cites as retrieved, so that citations can be audited"
    )


class PerturbedReports(Reports):
    """Returns the same perturbed report in every epoch, audited but not repaired: judges must see the damage.

    A sample's id names report, perturbation and severity in percent: `7.numbers.50`, `7.none.0` for the unchanged
    report, `7.independent.1` for that of the first independent file. Raises AgentError for any other id, and for a
    report that the perturbation cannot change.
    """

    Settings: ClassVar[type[PerturbedReportsSettings]] = PerturbedReportsSettings

    def __init__(self, settings: PerturbedReportsSettings) -> None:
        super().__init__(settings)
        self._seed, self._sources = settings.seed, settings.sources
        self._independent = [Reports(settings.model_copy(update={"path": path})) for path in settings.independent]

    async def research(self, question: Question, session: Session) -> Report:
        sample = session.key.sample_id
        base, name, severity = ["", "", *sample.rsplit(".", 2)][-3:]
        if not base or name not in ("none", INDEPENDENT, *PERTURBATIONS) or not severity.isdecimal():
            raise AgentError(f"sample {sample} names no perturbation; use dataset=drb_perturbed with this agent")
        reports = self._other_reports(int(severity)) if name == INDEPENDENT else self
        original = text = reports.article(base, question)
        if name in PERTURBATIONS:
            text = perturbed(name, original, int(severity) / 100, Random(derive(self._seed, base, name)))
            if text == original:
                raise AgentError(f"sample {sample}: the report has nothing that the perturbation {name} could change")
        audit = None
        if self._sources:
            await _retrieve(original, session)
            audit = verify(text, session.sources.known(), session.citations).audit
        session.events.emit(ReportWritten(text=text, raw_text=text, route=ROUTE))
        return Report(text=text, raw_text=text, route=ROUTE, audit=audit)

    def _other_reports(self, number: int) -> Reports:
        if not 1 <= number <= len(self._independent):
            raise AgentError(
                f"agent.independent names {len(self._independent)} files, so there is no number {number}; "
                "name as many files as dataset.perturbations.independent lists"
            )
        return self._independent[number - 1]


async def _retrieve(report: str, session: Session) -> None:
    """Register the pages in the report's references as sources, if the run's web has them."""
    entries = parse_report(report).entries
    for position, url in enumerate(dict.fromkeys(use.url for entry in entries for use in entry.urls)):
        try:
            page = await session.web.fetch(url)
        except ToolError:
            continue  # a page that does not exist cannot have been retrieved; the audit marks its citation
        source = Source(url=url, title=page.title, text=page.text, published=page.published, tool="fetch_page")
        session.sources.add(source, (position,))
