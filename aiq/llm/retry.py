"""The one retry policy: which failures are worth another send, and how long to wait before it."""

import re
import time
from email.utils import mktime_tz, parsedate_tz

from aiq.core.llm_settings import RetrySettings
from aiq.core.seeds import derive
from aiq.llm.http import Headers

RETRY_STATUS = frozenset({None, 200, 408, 409, 429})
"""Besides 5xx: no answer, an unreadable one, timeout, conflict with a concurrent request, too many requests."""

_RETRY_INFO = re.compile(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')

_SPENT = re.compile(
    "credit balance|billing hard limit|insufficient (balance|credit|fund)|budget has been exceeded", re.IGNORECASE
)
"""How Anthropic, OpenAI, others and LiteLLM's proxy say that an account has nothing left to spend."""

LONGEST_WAIT = 600.0
"""Seconds. An endpoint that asks for more (a spent daily quota) is not worth waiting for."""


def worth_retrying(status: int | None) -> bool:
    return status in RETRY_STATUS or (status or 0) >= 500


def is_out_of_credit(status: int | None, code: str, message: str) -> bool:
    """Whether a refusal says that the account has nothing left to spend."""
    says_spent = status in (400, 403, 429) and _SPENT.search(message) is not None
    return says_spent or status == 402 or code == "insufficient_quota"


def retry_after(headers: Headers, body: bytes = b"") -> float | None:
    """Seconds that `retry-after-ms` or `Retry-After` asks for (RFC 9110 10.2.3: a number or a date), at least 0.

    Google puts them into the body of the refusal (`google.rpc.RetryInfo`).
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) / unit)
        except ValueError:
            continue
    if match := _RETRY_INFO.search(body):
        return float(match[1])
    date = parsedate_tz(headers.get("retry-after", ""))
    try:
        return None if date is None else max(0.0, mktime_tz(date) - time.time())
    except (ValueError, OverflowError):
        return None


def next_wait(
    policy: RetrySettings, failures: int, requested_wait: float | None, *seed: object, attempts: int | None = None
) -> float | None:
    """Seconds until the next send after `failures` failed ones (from 1); None if it is not worth it.

    `requested_wait`: what the endpoint asks for, and gets; 0 (or a past date) is none. Otherwise waits double from
    `first_seconds` to `most_seconds`, drawn from the upper half by seed. `attempts` overrides `llm.retry.attempts`.
    """
    if failures >= (attempts or policy.attempts) or (requested_wait is not None and requested_wait > LONGEST_WAIT):
        return None
    if requested_wait:
        return requested_wait
    wait = policy.first_seconds * 2.0 ** min(failures - 1, 30)
    return min(policy.most_seconds, wait) * jitter(*seed, failures)


def jitter(*seed: object) -> float:
    """A factor of 0.5 to 1, drawn by seed, so that calls that waited for the same thing do not return all at once."""
    return 0.5 + 0.5 * derive(*seed) / 2**31
