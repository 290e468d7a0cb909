"""Properties of the files that an audit writes, whatever the report: the record, and the HTML page."""

import json

from aiq.citations.files import AuditedReport, AuditRecord
from aiq.site.audit_page import audit_page
from tests.site.seen import Seen


def record_can_be_written(record: AuditRecord, length: int) -> None:
    """The audit as JSON has places within the report, outcomes with their reasons, and metrics that are shares."""
    row = json.loads(json.dumps(record.model_dump(mode="json")))
    for place in (*row["citations"], *row["entries"], *row["edits"], *row["passages"]):
        assert 0 <= place["start"] <= place["end"] <= length, f"out of the report: {place}"
    for entry in row["entries"]:
        assert (entry["outcome"] == "valid") == (entry["reason"] is None), f"outcome and reason differ: {entry}"
        assert (entry["outcome"] == "valid") == (entry["level"] is not None), f"outcome and level differ: {entry}"
    for name, value in row["metrics"].items():
        assert value is None or value >= 0, f"{name} is {value}"
        assert not (name.endswith("_rate") and value is not None and value > 1), f"{name} is {value}"


def page_is_safe(audit: AuditedReport) -> None:
    """Nothing from the report runs, loads or styles anything in the page, and its links lead to the web."""
    page = Seen(audit_page(audit))
    assert page.is_harmless(), "the page has more than text and web links"
    assert page.scripts() == 0, "the page has a script"
    findings = audit.verified.found
    known = {f"m{n}" for n in range(len(findings.marks))} | {f"u{n}" for n in range(len(findings.body_urls))}
    assert {chip["id"] for chip in page.classed("cite")} <= known, "a citation that the audit does not know"
    assert len(page.classed("entry")) == len(findings.entries), "entries are missing"
