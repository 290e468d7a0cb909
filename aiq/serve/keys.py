"""API keys: random, shown once, kept as hashes; and how many requests each has made in the last minute."""

import hashlib
import secrets
import time
from collections import defaultdict, deque

_PREFIX = "aiq_"


def new_key() -> str:
    """A key of 256 random bits, so that its plain SHA-256 cannot be guessed back and needs no salt."""
    return _PREFIX + secrets.token_urlsafe(32)


def digest_of_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class Rate:
    """A sliding minute for each owner; holds at most `most` times of each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def wait(self, owner: str) -> float:
        """Count one more request: 0, or the seconds after which the next one is allowed (then it is not counted)."""
        now, times = time.monotonic(), self._times[owner]
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= self._most:
            return times[0] + 60 - now
        times.append(now)
        return 0.0
