"""Literal reports and look-ups: what is parsed and verified of each, and that verifying twice changes nothing.

A row of `reports.jsonl` has a `text` and mostly `sources` (null: unknown); what `expected` omits is empty, and a report
whose `verified` text is omitted is unchanged. A row of `lookups.jsonl`: sources, cited URL, level, source.
"""

from typing import Any

import pytest

from aiq.citations.match import SourceIndex
from aiq.citations.repair import apply_edits
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.citations.rows import rows
from tests.settings import configured


def _verified(text: str, sources: list[str | dict[str, str]] | None, settings: dict[str, Any]) -> Verified:
    if sources is None:
        return verify_against(text, None)
    known = [Source(url=source) if isinstance(source, str) else Source.model_validate(source) for source in sources]
    return verify(text, known, configured(CitationSettings, **settings))


def _summary(text: str, verified: Verified) -> dict[str, Any]:
    """The result of a verification as plain data, without what is empty."""
    report, audit = verified.found.report, verified.audit
    fields = {
        "entries": [[e.entry.number, [use.url for use in e.entry.urls], e.outcome] for e in verified.found.entries],
        "marks": [[text[mark.start : mark.end], mark.form, list(mark.numbers)] for mark in report.marks],
        "urls": [[use.url, use.form] for use in report.body_urls],
        "verified": verified.text if verified.text != text else None,
        "valid": [[v.number, v.original_number, v.level, v.source] for v in audit.valid_citations],
        "removed": [[removed.number, removed.reason] for removed in audit.removed_citations],
        "dangling": list(audit.dangling),
    }
    return {name: value for name, value in fields.items() if value not in (None, [])}


@pytest.mark.parametrize("row", rows("reports.jsonl"), ids=lambda row: row["name"])
def test_reports(row: dict[str, Any]) -> None:
    text, sources, settings = row["text"], row.get("sources", []), row.get("settings", {})
    verified = _verified(text, sources, settings)
    assert _summary(text, verified) == row["expected"]
    assert apply_edits(text, verified.edits) == verified.text
    again = _verified(verified.text, sources, settings)
    assert (again.text, again.edits, again.audit.removed_citations, again.audit.dangling) == (verified.text, (), (), ())


def test_look_ups() -> None:
    for sources, cited, level, source in rows("lookups.jsonl"):
        match = SourceIndex([Source(url=url) for url in sources]).match_url(cited)
        assert (match and match.level, match and match.source.url) == (level, source), (sources, cited)
