"""The retry policy's arithmetic and the dates and numbers of Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiq.core.llm_settings import RetrySettings
from aiq.llm.http import Headers
from aiq.llm.retry import next_wait, retry_after
from tests.cases import table
from tests.settings import configured

each = table(__file__)


@each("headers")
def test_retry_after_numbers_and_dates(headers: dict[str, str], expected: float | None, body: str | None) -> None:
    assert retry_after(Headers(headers), (body or "").encode()) == expected
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after(Headers({"retry-after": later})) == pytest.approx(30, abs=2)


@example("Mon, 01 Jan 99999999999999999999 00:00:00 GMT")
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_retry_after_never_raises(value: str) -> None:
    seconds = retry_after(Headers({"retry-after": value}))
    assert seconds is None or seconds >= 0


def test_waits_double_with_seeded_spread_and_end() -> None:
    policy = configured(RetrySettings, attempts=6, first_seconds=1, most_seconds=5)
    waits = [next_wait(policy, n, None, "seed") for n in range(1, 6)]
    for wait, longest in zip(waits, [1, 2, 4, 5, 5], strict=True):
        assert wait is not None
        assert longest / 2 <= wait <= longest
    assert waits == [next_wait(policy, n, None, "seed") for n in range(1, 6)]
    assert waits != [next_wait(policy, n, None, "other") for n in range(1, 6)]


@each("failures")
def test_attempts_are_limited_and_a_requested_wait_is_never_shortened(
    failures: int, asked: float | None, attempts: int | None, sent: bool
) -> None:
    policy = configured(RetrySettings, attempts=6, first_seconds=1, most_seconds=5)
    wait = next_wait(policy, failures, asked, "seed", attempts=attempts)
    assert (wait is not None) is sent
    assert not (sent and asked) or wait == asked
