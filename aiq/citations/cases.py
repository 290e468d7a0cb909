"""A report with the sources of its run, as somebody hands them over to be audited, and all that comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from aiq.citations.metrics import CitationMetrics, metrics_of
from aiq.citations.passages import CitedPassage, cited_passages
from aiq.citations.record import AuditRecord, record_of
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source


@dataclass(frozen=True)
class AuditCase:
    """`sources` are of every kind; None where nobody knows what was retrieved. `title` is for people."""

    text: str
    sources: Sequence[Source] | None
    settings: CitationSettings
    sample_id: str | None = None
    epoch: int | None = None
    title: str = ""

    @property
    def name(self) -> str:
        """Sample and epoch, as a line of a table names them."""
        return f"{self.sample_id or self.title}{f'.{self.epoch}' if self.epoch and self.epoch > 1 else ''}"


@dataclass(frozen=True)
class AuditedReport:
    """A case and its audit: what was found, the passages closest to what it states, its record and its metrics."""

    case: AuditCase
    verified: Verified
    passages: tuple[CitedPassage, ...]
    record: AuditRecord
    metrics: CitationMetrics


def audited(case: AuditCase, *, passages: bool = True) -> AuditedReport:
    """Audit a report; nothing is written. Without `passages` no source's text is read, which is all that costs time."""
    if case.sources is None:
        verified = verify_against(case.text, None)
    else:
        verified = verify(case.text, case.sources, case.settings)
    closest = cited_passages(verified.found) if passages else ()
    metrics = metrics_of(verified.audit, with_sources=verified.found.with_sources)
    return AuditedReport(case, verified, closest, record_of(verified, closest), metrics)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What stays of one audit among many."""

    sample_id: str | None
    epoch: int | None
    name: str
    record: AuditRecord
    metrics: CitationMetrics

    @classmethod
    def of(cls, audit: AuditedReport) -> "AuditLine":
        case = audit.case
        return cls(case.sample_id, case.epoch, case.name, audit.record, audit.metrics)


def total(lines: Sequence[AuditLine]) -> CitationMetrics:
    """The metrics of several reports together; there is at least one."""
    return reduce(add, (line.metrics for line in lines))


def lines_json(lines: Sequence[AuditLine]) -> dict[str, Any]:
    """Several audits as plain data: each under `reports`, and the metrics of all together."""
    reports = [
        {"sample_id": line.sample_id, "epoch": line.epoch, **line.record.model_dump(mode="json")} for line in lines
    ]
    return {"reports": reports, "metrics": total(lines).by_name()}
