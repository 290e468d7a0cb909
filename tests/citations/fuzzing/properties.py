"""Properties of every report and every registry. Each is a function of a case that raises AssertionError."""

import re
import time
from collections.abc import Iterator

from aiq.citations.audit import EntryFinding, ReportAudit, UrlFinding
from aiq.citations.files import AuditCase, audited
from aiq.citations.match import Match, SourceIndex
from aiq.citations.parse import ParsedReport, parse_report, replace_spans
from aiq.citations.repair import apply_edits
from aiq.citations.urls import markdown_safe
from aiq.citations.verify import Verified, verify, verify_against
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from benchmarks.performance.linear import Found, LinearRegistry
from benchmarks.performance.plain_urls import read_address
from tests.citations.fuzzing.case import Case
from tests.citations.fuzzing.outputs import page_is_safe, record_can_be_written
from tests.settings import configured

_SANITISING = {"unsafe_scheme", "shortened_url", "ip_address_url", "private_host", "truncated_url"}
_REASON = re.compile(
    r"url_not_in_registry|citation_key_not_in_registry|unverifiable|duplicate_of_citation_\d+|" + "|".join(_SANITISING)
)
_SMALLEST, _LARGEST, _MEASURABLE, _STEEPEST = 2_000, 32_000, 0.1, 3.0
"""The first and the last size in characters, seconds long enough to compare, and the ratio that is not linear."""
_TRIES = 4
_PAGES = 10
"""A page is made of one in this many cases, because it takes longer than everything else."""
_RULES = re.compile(rf"{_REASON.pattern}|renumbered|rewritten_url|dangling")


def check(case: Case) -> None:
    """Check all properties of a case: its audit, its verified report, verifying that again, and its plan if any."""
    if case.unit:
        time_is_linear(case)
        return
    sources = list(case.sources)
    audit = audited(AuditCase(case.text, sources, configured(CitationSettings)))
    verified = audit.verified
    places_are_in_order(verified.found.report)
    sources_follow_the_rules(verified.found, [source for source in sources if source.kind == "retrieved"])
    edits_make_the_verified_report(case.text, verified)
    only_retrieved_sources_are_valid(verified, sources)
    again = verify(verified.text, sources, configured(CitationSettings))
    nothing_is_left_to_do(verified, again)
    record_can_be_written(audit.record, len(case.text))
    if len(case.text) % _PAGES == 0:
        page_is_safe(audit)
    structure_alone(case.text)
    if case.plan is not None:
        plan_is_kept(case, verified, again)
        order_of_sources_is_free(case)


def places_are_in_order(report: ParsedReport) -> None:
    """Every place is in the text, in order and within what contains it."""
    length = len(report.text)
    assert [mark.start for mark in report.marks] == sorted(mark.start for mark in report.marks), "marks out of order"
    for mark in report.marks:
        assert 0 <= mark.start <= mark.items[0] < mark.items[1] <= mark.end <= length, f"mark out of place: {mark}"
        text = report.text[slice(*mark.items)]
        assert all(str(n) in text for n in (mark.numbers[0], mark.numbers[-1])), f"mark reads {text!r}: {mark}"
    for entry in report.entries:
        assert 0 <= entry.start < entry.end <= length, f"entry out of place: {entry}"
        for use in entry.urls:
            places = [entry.start, use.start, use.url_start, use.url_end, use.end, entry.end]
            assert places == sorted(places), f"URL out of its entry: {use}"


def sources_follow_the_rules(audit: ReportAudit, sources: list[Source]) -> None:
    """Every URL of a report has the source and level that the plain rules give, or is not kept and has a reason."""
    rules = LinearRegistry([source.url or "" for source in sources])
    for finding in _url_findings(audit):
        if finding.match is not None or not finding.unsafe:
            url = finding.target
            expected = rules.find(f"https://{url}" if url.lower().startswith("www.") else url)
            same_match(url, finding.match, expected, [source.url or "" for source in sources])
    for entry in audit.entries:
        outcome_fits(entry)


def same_match(url: str, match: Match | None, wanted: Found | None, urls: list[str]) -> None:
    """The source and level found are those that the rules give, or neither finds one."""
    actual = match and (match.source.url, match.level, match.marked)
    expected = wanted and (urls[wanted.position], wanted.level, wanted.marked)
    assert actual == expected, f"{url!r} has source {actual}, the rules say {expected}"


def look_ups_follow_the_rules(urls: list[str], cited: list[str]) -> None:
    """The index finds what a scan of all sources finds."""
    index, rules = SourceIndex([Source(url=url) for url in urls]), LinearRegistry(urls)
    for url in cited:
        same_match(url, index.match_url(url), rules.find(url), urls)


def outcome_fits(entry: EntryFinding) -> None:
    """A valid entry has a source and no reason; any other has a reason that docs/citations.md names."""
    if entry.outcome == "valid":
        assert entry.match is not None, f"valid without a source: {entry}"
        assert entry.reason is None, f"valid with a reason: {entry}"
        assert entry.match.level == "document" or not entry.match.source.citation_key, f"wrong level: {entry}"
    elif entry.outcome is not None:
        assert _REASON.fullmatch(entry.reason or ""), f"unknown reason: {entry}"


def _url_findings(audit: ReportAudit) -> Iterator[UrlFinding]:
    yield from audit.body_urls
    for entry in audit.entries:
        yield from filter(None, [entry.chosen, *entry.others])
    for mark in audit.marks:
        yield from filter(None, [mark.url])


def edits_make_the_verified_report(text: str, verified: Verified) -> None:
    """The edits do not overlap, are in order, each with its rule, and account for every difference."""
    at = 0
    for edit in verified.edits:
        assert at <= edit.start <= edit.end <= len(text), f"edit out of order: {edit}"
        assert _RULES.fullmatch(edit.rule), f"edit without a rule: {edit}"
        at = edit.end
    assert apply_edits(text, verified.edits) == verified.text, "the edits do not make the verified report"


def only_retrieved_sources_are_valid(verified: Verified, sources: list[Source]) -> None:
    """Valid citations are numbered without gaps, and their sources were retrieved with exactly these addresses."""
    known = {source.url or source.citation_key for source in sources if source.kind == "retrieved"}
    valid = verified.audit.valid_citations
    assert [citation.number for citation in valid] == list(range(1, len(valid) + 1)), "numbers with gaps"
    for citation in valid:
        assert citation.source in known, f"source was not retrieved: {citation}"
    for removed in verified.audit.removed_citations:
        assert _REASON.fullmatch(removed.reason), f"unknown reason: {removed}"


def nothing_is_left_to_do(verified: Verified, again: Verified) -> None:
    """Verifying the verified report again gives no edits, nothing to remove and nothing dangling."""
    assert again.text == verified.text, f"verifying twice changes {verified.text!r} to {again.text!r}"
    assert again.edits == (), f"edits without effect: {again.edits}"
    assert again.audit.removed_citations == (), f"still to remove: {again.audit.removed_citations}"
    assert again.audit.dangling == (), f"still dangling: {again.audit.dangling}"


def structure_alone(text: str) -> None:
    """Without sources nothing is valid, what is unsafe is removed, and nothing else remains to do."""
    verified = verify_against(text, None)
    edits_make_the_verified_report(text, verified)
    assert not any(entry.outcome == "valid" for entry in verified.found.entries), "valid without sources"
    nothing_is_left_to_do(verified, verify_against(verified.text, None))


def plan_is_kept(case: Case, verified: Verified, again: Verified) -> None:
    """The verified report has the entries and marks that the rules give for its plan, and every other word.

    `again` is the audit of the verified report: only the sources tell whether a full stop ends a URL.
    """
    assert case.plan is not None
    numbers, urls = _planned_numbers(case)
    report = again.found.report
    targets = [finding.target for finding in again.found.entries]
    assert targets == [markdown_safe(url) for url in urls], f"entries {targets}, planned {urls}"
    assert [entry.number for entry in report.entries] == list(range(1, len(urls) + 1)), "entries with gaps"
    for position, sentence in enumerate(case.plan.sentences):
        start = verified.text.index(f"Fact-{position} ")
        end = verified.text.index("\n", start) if "\n" in verified.text[start:] else len(verified.text)
        cited = {number for mark in report.marks if start <= mark.start < end for number in mark.numbers}
        planned = {numbers[number] for number in sentence if number in numbers}
        assert cited == planned, f"{verified.text[start:end]!r} cites {cited}, planned {planned}"
    assert _words(verified.text, report) == _words(case.text, parse_report(case.text)), "other text was touched"


def _planned_numbers(case: Case) -> tuple[dict[int, int], list[str]]:
    """Each remaining entry's number in the verified report, and the URLs that the list then has."""
    assert case.plan is not None
    retrieved = [source.url or "" for source in case.sources if source.kind == "retrieved"]
    rules = LinearRegistry(retrieved)
    numbers: dict[int, int] = {}
    new_numbers: dict[int, int] = {}  # source -> its number
    for number, url in enumerate(case.plan.cited, 1):
        if match := rules.find(url):
            numbers[number] = new_numbers.setdefault(match.position, len(new_numbers) + 1)
    return numbers, [retrieved[position] for position in new_numbers]


def _words(text: str, report: ParsedReport) -> str:
    """The body without marks and white space."""
    stretches = [(mark.start, mark.end) for mark in report.marks] + [(item.start, item.end) for item in report.lists]
    return "".join(replace_spans(text, ((start, end, "") for start, end in stretches)).split())


def order_of_sources_is_free(case: Case) -> None:
    """The order of sources matters only among equal ones: any order of the others gives the same report."""
    distinct: dict[object, Source] = {}
    for source in case.sources:
        address = read_address(source.url or "")
        if address is not None:
            distinct.setdefault(address.meaning, source)
    ordered = list(distinct.values())
    settings = configured(CitationSettings)
    forward, backward = verify(case.text, ordered, settings), verify(case.text, ordered[::-1], settings)
    assert forward == backward, "the order of the sources matters"


def time_is_linear(case: Case) -> None:
    """Twice the text takes about twice the time, not four times as in quadratic code, at one of two sizes at least.

    Measures the least CPU time of several tries; on a busy machine a single size sometimes gives a false alarm.
    """
    size, seconds = _SMALLEST, 0.0
    while seconds < _MEASURABLE:
        if size > _LARGEST:
            return
        size *= 2
        seconds = _seconds(case, size)
    growth = [_growth(case, size)]
    if growth[0] >= _STEEPEST:
        growth.append(_growth(case, 2 * size))
    assert growth[-1] < _STEEPEST, f"{size} characters, doubled and doubled again: {growth} times"


def _growth(case: Case, size: int) -> float:
    """How many times as long twice the text takes; measured again as long as the ratio looks too steep."""
    ratios: list[float] = []
    least = _seconds(case, size)
    while len(ratios) < _TRIES and min(ratios, default=_STEEPEST) >= _STEEPEST:
        ratios.append(_seconds(case, 2 * size) / least)
        least = min(least, _seconds(case, size))
    return min(ratios)


def _seconds(case: Case, size: int) -> float:
    text = case.text + case.unit * max(1, size // len(case.unit))
    parse_report.cache_clear()
    start = time.process_time()
    audited(AuditCase(text, case.sources, configured(CitationSettings)))
    return time.process_time() - start
