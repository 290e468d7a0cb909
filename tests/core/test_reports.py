"""The citation status of a report."""

import pytest

from aiq.core.reports import Audit, RemovedCitation, ValidCitation, citation_status

VALID = ValidCitation(number=1, original_number=1, target="https://a.test", source="https://a.test", level="exact")
GONE = RemovedCitation(number=2, target="https://b.test", reason="url_not_in_registry")
TWICE = RemovedCitation(number=2, target="https://a.test", reason="duplicate_of_citation_1")


@pytest.mark.parametrize(
    ("audit", "has_sources", "status"),
    [
        (Audit(valid_citations=(VALID,)), True, "verified"),
        (Audit(valid_citations=(VALID,), removed_citations=(TWICE,)), True, "verified"),
        (Audit(valid_citations=(VALID,), removed_citations=(GONE,)), True, "partial"),
        (Audit(valid_citations=(VALID,), dangling=(3,)), True, "partial"),
        (Audit(removed_citations=(GONE,)), True, "unverified"),
        (Audit(), True, "unverified"),
        (Audit(removed_citations=(GONE,)), False, "no_sources"),
        (None, True, "unverified"),
        (None, False, "no_sources"),
    ],
)
def test_citation_status(audit: Audit | None, has_sources: bool, status: str) -> None:
    assert citation_status("shallow", audit, has_sources) == status
    assert citation_status("meta", audit, has_sources) is None
