"""Reports that already exist, damaged by a known degree, as an agent: what judges are measured with.

A sample's id says which report, what damage and how much (`aiq.datasets.perturbed`).
"""

from random import Random
from typing import ClassVar

from aiq.agents.external.perturbations import DAMAGES
from aiq.agents.external.reports import Reports, ReportsSettings
from aiq.citations.parse import parse_report
from aiq.citations.verify import verify
from aiq.core.errors import AgentError, ToolError
from aiq.core.events import ReportWritten
from aiq.core.reports import Audit, Report
from aiq.core.samples import Question
from aiq.core.seeds import derive
from aiq.core.session import Session
from aiq.core.sources import Source
from aiq.datasets.perturbed import UNDAMAGED, Damaged

ROUTE = "damaged"


class DamagedSettings(ReportsSettings):
    """`seed`: which parts of a report are damaged. `sources`: whether the pages that the undamaged report cites
    count as retrieved, so that citations can be audited."""

    seed: int = 0
    sources: bool = True


class DamagedReports:
    """Gives the same damaged report at every epoch, unverified: judges must see the damage; the audit is there.

    Raises AgentError for an id that names no damage, or a report that the damage cannot change.
    """

    Settings: ClassVar[type[DamagedSettings]] = DamagedSettings

    def __init__(self, settings: DamagedSettings) -> None:
        self._reports = Reports(ReportsSettings(path=settings.path))
        self._seed = settings.seed
        self._sources = settings.sources

    async def research(self, question: Question, session: Session) -> Report:
        wanted = Damaged.of(session.key.sample_id)
        if wanted is None or wanted.damage not in (UNDAMAGED, *DAMAGES):
            raise AgentError(f"sample {session.key.sample_id} names no damage; use dataset=drb_damaged with this agent")
        given = self._reports.article(wanted.base, question)
        text = self.damage(given, wanted)
        audit: Audit | None = None
        if self._sources:
            await _retrieve(given, session)
            audit = verify(text, session.sources.known(), session.citations).audit
        session.events.emit(ReportWritten(text=text, raw_text=text, route=ROUTE))
        return Report(text=text, raw_text=text, route=ROUTE, audit=audit)

    def damage(self, report: str, wanted: Damaged) -> str:
        """The report damaged as wanted. Raises AgentError where the damage finds nothing to damage."""
        if wanted.damage == UNDAMAGED:
            return report
        random = Random(derive(self._seed, wanted.base, wanted.damage))
        text = DAMAGES[wanted.damage](report, wanted.degree / 100, random)
        if text == report:
            raise AgentError(f"sample {wanted.id}: there is nothing in the report that {wanted.damage} could damage")
        return text


async def _retrieve(report: str, session: Session) -> None:
    """Register the pages that the report's references name, as far as the run's web has them."""
    entries = parse_report(report).entries
    for position, url in enumerate(dict.fromkeys(use.url for entry in entries for use in entry.urls)):
        try:
            page = await session.web.fetch(url)
        except ToolError:
            continue  # a page that is not there cannot have been retrieved; the audit says so of its citation
        source = Source(url=url, title=page.title, text=page.text, published=page.published, tool="fetch_page")
        session.sources.add(source, (position,))
