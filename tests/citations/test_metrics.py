"""The citation metrics: which citations a rate counts, and when a metric cannot be computed."""

from aiq.citations.metrics import metrics_of, ratios_of
from aiq.core.reports import Audit, MatchLevel, RemovedCitation, ValidCitation


def valid(level: MatchLevel, *, marked: bool = False) -> ValidCitation:
    return ValidCitation(number=1, original_number=1, target="t", source="s", level=level, marked=marked)


def removed(reason: str) -> RemovedCitation:
    return RemovedCitation(number=1, target="t", reason=reason)


def test_all_levels_are_valid_and_only_some_exact() -> None:
    levels = [valid("exact"), valid("document"), valid("truncation", marked=True)]
    levels += [valid("truncation"), valid("prefix"), valid("child_path"), valid("query_subset")]
    removals = (removed("url_not_in_registry"), removed("duplicate_of_citation_1"))
    audit = Audit(valid_citations=tuple(levels), removed_citations=removals)
    assert ratios_of(audit) == {"citations.valid_rate": (7, 8), "citations.exact_rate": (3, 8)}
    names = ["citations.valid_rate", "citations.exact_rate", "citations.kept", "citations.removed"]
    assert metrics_of(audit) == dict(zip(names, [7 / 8, 3 / 8, 7, 2], strict=True))
    combined = metrics_of(audit, Audit(removed_citations=(removed("unverifiable"),)), Audit())
    assert list(combined.values()) == [7 / 9, 3 / 9, 7, 3]


def test_metrics_that_cannot_be_computed_are_none() -> None:
    assert list(metrics_of(Audit()).values()) == [None, None, 0, 0]
    blind = metrics_of(Audit(removed_citations=(removed("shortened_url"),)), with_sources=False)
    assert list(blind.values()) == [None, None, None, 1]


def test_rows_of_older_runs_are_read() -> None:
    valid_row = '{"number": 1, "original_number": 2, "target": "t", "source": "s", "level": "exact"}'
    removed_row = '{"number": null, "target": "t", "reason": "unverifiable"}'
    row = f'{{"valid_citations": [{valid_row}], "removed_citations": [{removed_row}], "dangling": [3], "unused": []}}'
    audit = Audit.model_validate_json(row)
    assert audit.uncited_paragraphs is None
    assert ratios_of(audit)["citations.valid_rate"] == (1, 2)
