"""API keys: random, shown once, stored as hashes; how many requests each may make per minute, and what it may spend."""

import secrets
import time
from collections import defaultdict, deque

from aiq.core.usage import Usage, UsageLedger
from aiq.serve.errors import Refused
from aiq.serve.settings import KeyLimits
from aiq.serve.store import Store

KEY_HEADER = "X-API-Key"


def new_key() -> str:
    """A key of 256 random bits, so that its plain SHA-256 cannot be guessed back and needs no salt."""
    return "aiq_" + secrets.token_urlsafe(32)


class Keys:
    """Who sends requests, how many, and for how much money. `keyless`: no key is required, as none existed at start."""

    def __init__(self, store: Store, limits: KeyLimits) -> None:
        self.keyless = not store.all_keys()
        self._store, self._limits = store, limits
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)
        self._ledgers: dict[str, UsageLedger] = {}

    def owner(self, key: str) -> str:
        """The name of the key that sends a request. Raises Refused for an unknown key, and for one request too many."""
        name = ""
        if not self.keyless:
            stored_key = self._store.key(key)
            if stored_key is None:
                raise Refused(401, "unauthorized", f"send a valid key in the header {KEY_HEADER}")
            name = stored_key.name
        now, times = time.monotonic(), self._times[name]
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= self._limits.requests_per_minute:
            raise Refused(429, "too_many_requests", "too many requests per minute", retry=times[0] + 60 - now)
        times.append(now)
        return name

    def ledger(self, owner: str) -> UsageLedger:
        """What all tasks of the owner have spent, including those of earlier starts."""
        if owner not in self._ledgers:
            self._ledgers[owner] = UsageLedger()
            self._ledgers[owner].record("earlier starts", Usage(cost_usd=self._store.spent(owner)))
        return self._ledgers[owner]

    def usd(self, owner: str) -> float | None:
        """What the owner may spend in total; None: no limit."""
        own_limit = next((key.usd for key in self._store.all_keys() if key.name == owner), None)
        return self._limits.usd if own_limit is None else own_limit

    def check_budget(self, owner: str) -> None:
        """Raises Refused if the owner's budget is used up."""
        limit = self.usd(owner)
        if limit is not None and self.ledger(owner).total().counted_usd >= limit:
            raise Refused(402, "budget_used_up", f"the budget of this key, ${limit:g}, is used up")
