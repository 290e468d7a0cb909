"""Citation audit as a judge: what verification kept and removed of a report, and what its sources bear out.

Asks no model. Whether a source bears out a statement is decided by the rules of
`aiq.citations.claims`; FACT asks a model, and reads the pages afresh.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from aiq.citations.audit import audit_report
from aiq.citations.claims.checks import check_claims
from aiq.citations.claims.records import ClaimCheck
from aiq.citations.matching import SourceIndex
from aiq.citations.metrics import EXACT_RATE, KEPT, REMOVED, SUPPORTED_RATE, VALID_RATE, Ratio, metrics_of
from aiq.citations.parsing import parse_report
from aiq.core.audit import Audit
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import CitationSettings, Settings
from aiq.core.sources import Source
from aiq.judges.base import not_applicable

_VALID_RATE: Final = Metric.share(VALID_RATE, estimator="ratio", worst=None)
_EXACT_RATE: Final = Metric.share(EXACT_RATE, estimator="ratio", worst=None)
_SUPPORTED_RATE: Final = Metric.share(SUPPORTED_RATE, estimator="ratio", worst=None)
_KEPT: Final = Metric.count(KEPT)
_REMOVED: Final = Metric.count(REMOVED, worst=None, higher_is_better=False)
_MOST_SHOWN: Final = 20


class CitationAuditSettings(Settings):
    """The audit judge has none."""


class CitationAudit:
    """Ratios over all citations (`citations.valid_rate`, `.exact_rate`, `.supported_rate`), and counts per report.

    A reference that merely repeats another one is removed but not invalid: it counts in
    `citations.removed` and in neither of the first two rates. `citations.supported_rate` is taken
    over the (statement, source) pairs of the verified report whose source could be read. A report
    without citations has no rate, but it has counts: 0.
    """

    Settings = CitationAuditSettings
    name = "citation_audit"
    version = "3"
    metrics = (_VALID_RATE, _EXACT_RATE, _SUPPORTED_RATE, _KEPT, _REMOVED)
    roles: tuple[str, ...] = ()
    prompt_hash: str | None = None

    def __init__(self, settings: CitationAuditSettings) -> None:
        self._settings = settings

    def check(self, samples: Sequence[Sample]) -> None:
        """Every sample will do."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        audit = session.audit
        if audit is None:
            return not_applicable(self.metrics, "the agent's citations were not verified")
        checks = await asyncio.to_thread(_check, report.text, session.sources.known(), session.citations)
        return _scores(audit, checks)


def _check(text: str, sources: Sequence[Source], settings: CitationSettings) -> tuple[ClaimCheck, ...]:
    """The claims of a verified report against what the run retrieved."""
    accepted = [source for source in sources if source.kind in settings.accept]
    index = SourceIndex(accepted, pages=settings.pages, page_window=settings.page_window)
    return check_claims(audit_report(parse_report(text), index))


def _scores(audit: Audit, checks: Sequence[ClaimCheck]) -> list[Score]:
    found = metrics_of(audit, checks)
    reasons = Counter(citation.reason.split("_of_")[0] for citation in audit.removed_citations)
    detail: dict[str, JsonValue] = {
        "levels": dict(sorted(Counter(citation.level for citation in audit.valid_citations).items())),
        "removed": dict(sorted(reasons.items())),
    }
    nothing = _why_no_rate(audit)
    return [
        _ratio(VALID_RATE, found.valid, detail, nothing),
        _ratio(EXACT_RATE, found.exact, {}, nothing),
        _ratio(SUPPORTED_RATE, found.supported, _verdicts(checks), _why_none_checked(checks)),
        Score(metric=KEPT, value=float(len(audit.valid_citations))),
        Score(metric=REMOVED, value=float(found.removed)),
    ]


def _ratio(name: str, ratio: Ratio | None, detail: dict[str, JsonValue], otherwise: str) -> Score:
    if ratio is None:
        return Score(metric=name, not_applicable=otherwise)
    return Score(metric=name, numerator=ratio.numerator, denominator=ratio.denominator, detail=detail)


def _verdicts(checks: Sequence[ClaimCheck]) -> dict[str, JsonValue]:
    """How many checks ended how, and the first statements that their source does not support, with the reasons."""
    unsupported: list[JsonValue] = [
        {
            "statement": check.statement.text,
            "source": check.source.url or check.source.citation_key or "",
            "reasons": list(check.support.reasons),
        }
        for check in checks
        if check.support.verdict == "unsupported"
    ]
    counts = Counter(check.support.verdict for check in checks)
    return {"verdicts": dict(sorted(counts.items())), "unsupported": unsupported[:_MOST_SHOWN]}


def _why_no_rate(audit: Audit) -> str:
    return "every reference repeats another one" if audit.removed_citations else "the report has no citations"


def _why_none_checked(checks: Sequence[ClaimCheck]) -> str:
    if checks:
        return f"no cited source has a text that can be read ({checks[0].support.reasons[0]})"
    return "no statement of the report cites a source"
