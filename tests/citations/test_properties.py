"""Properties of any report and any registry, checked on generated ones and on the corpus of those that once failed.

`scripts/fuzz` tries many more of them; the properties are in `tests/citations/fuzzing/properties.py`.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiq.citations.sanitise import broken_rule
from aiq.citations.urls import parse_url
from aiq.citations.verify import verify
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source
from tests.citations.fuzzing import fragments
from tests.citations.fuzzing.case import CORPUS, Case, read_case
from tests.citations.fuzzing.properties import check, look_ups_follow_the_rules, time_is_linear
from tests.citations.fuzzing.reports import hostile_cases, look_ups, planned_cases
from tests.settings import configured

generated = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@given(hostile_cases)
@settings(generated, max_examples=25)
def test_hostile_reports(case: Case) -> None:
    check(case)


@given(planned_cases)
@settings(generated, max_examples=25)
def test_planned_reports(case: Case) -> None:
    check(case)


@given(look_ups)
@settings(generated, max_examples=40)
def test_look_ups(case: tuple[list[str], list[str]]) -> None:
    look_ups_follow_the_rules(*case)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_cases_that_once_failed(path: Path) -> None:
    check(read_case(path))


@pytest.mark.timing
@pytest.mark.parametrize("before", ["", "So [1].\n\n## References\n\n[1] ", "| a | b |\n|---|---|\n| "])
@pytest.mark.parametrize("unit", fragments.UNITS, ids=ascii)
def test_time_is_linear(unit: str, before: str) -> None:
    time_is_linear(Case(text=before, unit=unit, sources=(Source(url="https://v.com/1"),)))


@given(st.text(alphabet="abc XYZ.,;!?-_*#>|`~$\\(){}<&'\"\n\r\t0123456789中文，。：é", max_size=200))
@settings(generated, max_examples=100)
def test_a_text_without_brackets_and_urls_is_unchanged(text: str) -> None:
    assert verify(text, [Source(url="https://v.com/1")], configured(CitationSettings)).text == text


@given(st.text(max_size=60))
@settings(generated, max_examples=100)
def test_no_text_is_a_url_that_crashes(text: str) -> None:
    for url in (text, f"https://{text}", f"https://v.com/{text}", f"http://{text}:80/{text}?{text}#{text}"):
        parsed = parse_url(url)
        broken_rule(url)
        assert parsed is None or parse_url(parsed.raw) == parsed
