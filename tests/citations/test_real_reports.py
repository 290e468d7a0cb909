"""The 100 real reports and the 8 reference reports: all are read, and their own URLs as sources lose nothing."""

import gzip
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from aiq.citations.parse import ParsedReport, parse_report
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.settings import configured

pytestmark = pytest.mark.shared_data


def _reports(folder: Path, name: str) -> list[str]:
    with gzip.open(folder / "deep_research_bench" / name, "rt", encoding="utf-8") as rows:
        return [json.loads(row)["article"] for row in rows]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[str]:
    return _reports(shared_data, "raw_data/claude-3-7-sonnet-latest.jsonl.gz")


def test_all_entries_and_marks_are_read(real: list[str]) -> None:
    found: Counter[str] = Counter()
    for text in real:
        report = parse_report(text)
        numbers = [entry.number for entry in report.entries]
        assert numbers == list(range(1, len(numbers) + 1))
        assert all(len(entry.urls) == 1 for entry in report.entries)
        assert not text[report.lists[0].end :].strip()
        assert {number for mark in report.marks for number in mark.numbers} == set(numbers)
        found.update(mark.form for mark in report.marks)
        found.update(text[found.start :].split("\n", 1)[0] for found in report.lists)
        found["entries"] += len(numbers)
    assert found == {"number": 3555, "entries": 1735, "参考文献：": 87, "References": 13}


def test_the_reference_reports_too(shared_data: Path) -> None:
    found: Counter[str] = Counter()
    for text in _reports(shared_data, "reference_science.jsonl.gz"):
        report = parse_report(text)
        found.update(mark.form for mark in report.marks)
        found["entries"] += len(report.entries)
        found["lists"] += len(report.lists)
        assert [entry.number for entry in report.entries] == list(range(1, len(report.entries) + 1))
    assert found == {"entries": 601, "lists": 8, "bare_number": 1578, "group": 4, "number": 1}


def test_the_parts_of_a_report_make_the_whole(shared_data: Path, real: list[str]) -> None:
    for text in [*real, *_reports(shared_data, "reference_science.jsonl.gz")]:
        report = parse_report(text)
        parts = sorted([(found.start, found.end) for found in report.lists] + list(report.paragraphs))
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(parts))
        between = [text[end:start] for (_, end), (start, _) in itertools.pairwise([(0, 0), *parts, (len(text), 0)])]
        whole = (
            piece
            for gap, part in itertools.zip_longest(between, parts)
            for piece in (gap, text[slice(*part or (0, 0))])
        )
        assert "".join(whole) == text
        for mark in report.marks:
            inside = any(start <= mark.start and mark.end <= end for start, end in report.paragraphs)
            assert inside or _may_cite(report, mark.start)
        for found in report.lists:
            for entry, following in itertools.pairwise(found.entries):
                assert not text[entry.end : following.start].strip()


def _may_cite(report: ParsedReport, offset: int) -> bool:
    """Headings, bold lines, the head of a table and the end of a fence are no paragraphs, but cite."""
    line = report.text[slice(*report.markdown.lines[report.markdown.line_at(offset)])].strip()
    return line.startswith(("#", "**", "|", "```"))


def test_with_all_its_urls_a_report_stays_as_it_is(real: list[str]) -> None:
    for text in real[::4]:
        urls = [use.url for entry in parse_report(text).entries for use in entry.urls]
        verified = verify(text, [Source(url=url) for url in urls], configured(CitationSettings))
        assert verified.text == text
        assert len(verified.audit.valid_citations) == len(urls)


def test_with_half_of_them_the_other_half_goes(real: list[str]) -> None:
    for text in real[::4]:
        urls = [use.url for entry in parse_report(text).entries for use in entry.urls]
        sources = [Source(url=url) for url in urls[::2]]
        verified = verify(text, sources, configured(CitationSettings))
        audit = verified.audit
        exact = [valid for valid in audit.valid_citations if valid.level == "exact"]
        assert len(exact) == len(sources)
        assert len(audit.valid_citations) + len(audit.removed_citations) == len(urls)
        numbers = {number for mark in parse_report(verified.text).marks for number in mark.numbers}
        assert numbers <= set(range(1, len(audit.valid_citations) + 1))
        assert verify(verified.text, sources, configured(CitationSettings)).text == verified.text
