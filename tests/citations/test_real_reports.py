"""Real reports and the 8 reference reports: all is parsed, and with their own URLs as sources nothing is lost."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from aiq.citations.parse import parse_report
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.settings import configured

pytestmark = pytest.mark.shared_data

SETTINGS = configured(CitationSettings)


def _reports(folder: Path, name: str) -> list[str]:
    with gzip.open(folder / "deep_research_bench" / name, "rt", encoding="utf-8") as rows:
        return [json.loads(row)["article"] for row in rows]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[str]:
    """Every fifth report; `scripts/golden.py` audits them all."""
    return _reports(shared_data, "raw_data/claude-3-7-sonnet-latest.jsonl.gz")[::5]


def test_all_entries_and_marks_are_read(real: list[str]) -> None:
    counts: Counter[str] = Counter()
    for text in real:
        report = parse_report(text)
        numbers = [entry.number for entry in report.entries]
        assert numbers == list(range(1, len(numbers) + 1))
        assert all(len(entry.urls) == 1 for entry in report.entries)
        assert not text[report.lists[0].end :].strip()
        assert {number for mark in report.marks for number in mark.numbers} == set(numbers)
        counts.update(mark.form for mark in report.marks)
        counts.update(text[listing.start :].split("\n", 1)[0] for listing in report.lists)
        counts["entries"] += len(numbers)
    assert counts == {"number": 884, "entries": 384, "参考文献：": 18, "References": 2}


def test_the_reference_reports_too(shared_data: Path) -> None:
    counts: Counter[str] = Counter()
    for text in _reports(shared_data, "reference_science.jsonl.gz"):
        report = parse_report(text)
        counts.update(mark.form for mark in report.marks)
        counts["entries"] += len(report.entries)
        counts["lists"] += len(report.lists)
        assert [entry.number for entry in report.entries] == list(range(1, len(report.entries) + 1))
    assert counts == {"entries": 601, "lists": 8, "bare_number": 1578, "group": 4, "number": 1}


def test_with_its_urls_a_report_stays_and_with_half_of_them_the_other_half_goes(real: list[str]) -> None:
    for text in real[::4]:
        sources = [Source(url=use.url) for entry in parse_report(text).entries for use in entry.urls]
        assert verify(text, sources, SETTINGS).text == text
        half = sources[::2]
        verified = verify(text, half, SETTINGS)
        audit = verified.audit
        assert len([valid for valid in audit.valid_citations if valid.level == "exact"]) == len(half)
        assert len(audit.valid_citations) + len(audit.removed_citations) == len(sources)
        numbers = {number for mark in parse_report(verified.text).marks for number in mark.numbers}
        assert numbers <= set(range(1, len(audit.valid_citations) + 1))
        assert verify(verified.text, half, SETTINGS).text == verified.text
