"""Flow control of calls to one endpoint: how many at once, how fast, when to pause, and when the endpoint is gone.

Concurrency adapts like TCP's congestion window: halved when half of a window's calls are lost (429, 5xx, no
connection, no answer), one more for each window of successes, never above `llm.max_connections`.
"""

import asyncio
import math
import re
from bisect import insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, get_args

from aiq.core.llm_settings import LlmSettings
from aiq.core.usage import Usage
from aiq.llm.calls import Failure
from aiq.llm.http import Response
from aiq.llm.retry import LONGEST_WAIT, jitter, retry_after

BURST_SECONDS = 1.0
"""What a budget left unspent for up to this long may be spent at once, so that a late timer wastes nothing."""

SPARE = 0.1
"""Share of a gradually refilled bucket to leave unused: calls may arrive closer together than they were sent."""

SAME_RATE = 0.2
"""Relative difference up to which two refill rates count as equal: endpoints report what is left in whole numbers."""

STORM = 3
"""The fewest lost calls that halve a window: one stray error does not, however small the window is."""

SILENCE = 5
"""Calls that must fail in a row before an endpoint counts as silent: fewer may each be a request that breaks it."""

Unit = Literal["requests", "tokens"]

_SPAN = re.compile(r"([\d.]+)(ms|[dhms])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def span(text: str) -> float | None:
    """The seconds in `20ms`, `6m0s` or a bare number of seconds; None for anything else."""
    parts = _SPAN.findall(text)
    try:
        if "".join(number + unit for number, unit in parts) == text and parts:
            return sum(float(number) * _SECONDS[unit] for number, unit in parts)
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


class Budget:
    """Units per minute, shared by all calls; None: unlimited. `due`: when the next unit may be spent."""

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._seconds = 60.0 / per_minute if per_minute else 0.0
        self.due = now

    def __bool__(self) -> bool:
        return self._seconds > 0

    def spend(self, units: float, now: float) -> None:
        """May overdraw the budget: the next call then waits until the debt is made up."""
        self.due = max(self.due, now - BURST_SECONDS) + units * self._seconds

    def give_back(self, units: float) -> None:
        """Return units that were spent but not used; negative if more were used than spent."""
        self.due -= units * self._seconds


@dataclass(slots=True)
class Bucket:
    """What an endpoint says was left for a model `at` a time of the loop; it holds `limit` again when it `resets`.

    `number`: of the send whose answer said so. `rate`: units per second if it refills gradually. Answers show that by
    implying one rate while what is left varies widely, from `lowest` to `highest`; if a bucket is refilled at once, the
    time to the reset shrinks while less is left.
    """

    remaining: float
    limit: float
    at: float
    resets: float
    number: int
    rate: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0

    def __post_init__(self) -> None:
        self.lowest = self.highest = self.remaining
        if self.resets > self.at and self.limit < math.inf:
            self.rate = (self.limit - self.remaining) / (self.resets - self.at)

    def follow(self, earlier: "Bucket") -> None:
        """Take over what the `earlier` bucket showed of the refill rate."""
        if math.isclose(self.rate, earlier.rate, rel_tol=SAME_RATE):
            self.rate = earlier.rate  # the first one, so that a growing rate does not count as one
            self.lowest, self.highest = min(self.lowest, earlier.lowest), max(self.highest, earlier.highest)

    def opens(self, cost: float, now: float) -> float:
        """The time from which it holds `cost`; infinite if only another answer can tell."""
        if now >= self.resets:
            self.remaining, self.resets = self.limit, math.inf
        elif self.resets < math.inf and self.highest - self.lowest >= self.limit / 4:
            self.remaining, self.at = self.remaining + (now - self.at) * self.rate, now
            return max(now, min(self.resets, now + (cost + self.limit * SPARE - self.remaining) / self.rate))
        return now if self.remaining >= cost else self.resets


@dataclass(slots=True)
class Silence:
    """A period in which an endpoint gave only 5xx and lost connections. `calls`: the first few that met it."""

    since: float
    sends: int = 0
    refused: bool = False
    """A connection could not be opened, which no request can cause."""
    calls: set[str] = field(default_factory=set)
    last_error: str = ""


class Send:
    """One call under way, from its turn in the flow (`async with`) until `end`, which is called if the block raises."""

    def __init__(self, flow: "Flow", model: str, digest: str, failures: int, tokens: Callable[[], int]) -> None:
        self._flow, self._count, self._tokens = flow, tokens, -1
        self.model, self.digest, self.failures = model, digest, failures
        self.number = 0
        """Its place in the order of arrival while it waits, then in the order of sending."""
        self.round, self.sent_at = 0, 0.0
        self.turn: asyncio.Future[None] | None = None

    async def __aenter__(self) -> "Send":
        await self._flow.admit(self)
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.end()

    def cost(self, unit: Unit) -> int:
        """What it takes from a budget: one request, or its estimated tokens."""
        if unit == "requests":
            return 1
        if self._tokens < 0:
            self._tokens = self._count()
        return self._tokens

    def note_response(self, response: Response) -> None:
        """An answer has begun: note what its headers say."""
        self._flow.note_response(self, response)

    def note_outcome(self, failure: Failure | None) -> None:
        """Note the outcome; None: the endpoint answered."""
        self._flow.note_outcome(self, failure)

    def end(self, usage: Usage | None = None) -> None:
        """The call is over and booked as `usage` (None: nothing). Calling this again does nothing."""
        self._flow.end(self, usage)


class Flow:
    """What all calls to one endpoint share. `share`: this process's share of the budgets, if there are several.

    Calls go in order of arrival, but one that has failed goes before all that failed less often, because its attempts
    are limited. A stream keeps its place until it is read to the end or closed. With `replayed` nothing waits.
    """

    def __init__(self, settings: LlmSettings, *, share: float = 1.0, replayed: bool = False) -> None:
        now = self._now()
        self._settings = settings
        self._replayed = replayed
        limits: dict[Unit, float | None] = {
            "requests": settings.requests_per_minute,
            "tokens": settings.tokens_per_minute,
        }
        self._budgets = {unit: Budget(limit and limit * share, now) for unit, limit in limits.items()}
        self._buckets: dict[str, dict[Unit, Bucket]] = {}
        """By model: providers limit each one separately."""
        self.window = float(settings.max_connections)
        """How many calls may be under way at once."""
        self._round = self._outcomes = self._lost = 0
        """A round begins when the window is halved; what was sent before says nothing about the smaller window."""
        self._held_until = now
        self._one_by_one = 0
        """How many calls must still go one after another, after a wait that the endpoint asked for."""
        self._under_way: set[Send] = set()
        self._waiting: list[Send] = []
        self._numbers = count(1)
        self._timer: asyncio.TimerHandle | None = None
        self._answered = False
        self._silence: Silence | None = None

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def send(self, model: str, digest: str, failures: int, tokens: Callable[[], int]) -> Send:
        """A send of the call `digest`, which failed `failures` times; `tokens` estimates its own and its answer's."""
        return Send(self, model, digest, failures, tokens)

    async def admit(self, send: Send) -> None:
        """Wait for the turn of this send."""
        if self._replayed:
            return
        send.number = next(self._numbers)
        insort(self._waiting, send, key=lambda queued: (-queued.failures, queued.number))
        self._release()
        if send in self._under_way:
            return
        send.turn = asyncio.get_running_loop().create_future()
        try:
            await send.turn
        except BaseException:
            if send in self._waiting:
                self._waiting.remove(send)
            self.end(send, None)
            raise

    def _release(self) -> None:
        """Start every send that may go now, and set a timer for the next one."""
        now = self._now()
        while self._waiting and len(self._under_way) < int(self.window):
            opens_at = max(self._held_until, *(budget.due for budget in self._budgets.values()))
            if opens_at <= now:
                next_send = next((send for send in self._waiting if self._opens_at(send, now) <= now), None)
                if next_send is not None:
                    self._start(next_send, now)
                    continue
                opens_at = min(self._opens_at(send, now) for send in self._waiting)
            if opens_at < math.inf:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_at(opens_at, self._release)
            return

    def _opens_at(self, send: Send, now: float) -> float:
        """The time from which its model's buckets have room for it; now, if no call is under way that could tell."""
        buckets = self._buckets.get(send.model)
        if not buckets:
            return now
        opens_at = max(bucket.opens(send.cost(unit), now) for unit, bucket in buckets.items())
        alone = opens_at == math.inf and not any(other.model == send.model for other in self._under_way)
        return now if alone else opens_at

    def _start(self, send: Send, now: float) -> None:
        self._waiting.remove(send)
        self._under_way.add(send)
        send.number, send.round, send.sent_at = next(self._numbers), self._round, now
        for unit, budget in self._budgets.items():
            if budget:
                budget.spend(send.cost(unit), now)
        for unit, bucket in self._buckets.get(send.model, {}).items():
            bucket.remaining -= send.cost(unit)
        if self._one_by_one:
            self._one_by_one -= 1
            seconds = self._settings.retry.first_seconds
            self._held_until = now + seconds * jitter(send.digest, send.failures) / self.window
        if send.turn is not None and not send.turn.done():
            send.turn.set_result(None)

    def end(self, send: Send, usage: Usage | None) -> None:
        """Free its place, and correct the token budget by what it really used."""
        if send not in self._under_way:
            return
        self._under_way.remove(send)
        if (budget := self._budgets["tokens"]) and not (usage and usage.unreported_calls):
            budget.give_back(send.cost("tokens") - (usage.total_tokens if usage else 0))
        self._release()

    def note_response(self, send: Send, response: Response) -> None:
        """Hold back all calls for as long as a refusal asks, and note what is left for the model."""
        if self._replayed:
            return
        now = self._now()
        wait = retry_after(response.headers) if response.status_code >= 400 else None
        if wait and wait <= LONGEST_WAIT:
            self._held_until = max(self._held_until, now + wait)
            self._one_by_one = int(self.window)
        headers = [(name.lower(), value) for name, value in response.headers.raw]
        limits = {name.decode(): value.decode("latin-1") for name, value in headers if b"ratelimit" in name}
        buckets = self._buckets.setdefault(send.model, {})
        for unit in get_args(Unit) if limits or buckets else ():
            bucket, known = _bucket(limits, unit, send.sent_at, send.number), buckets.get(unit)
            if bucket is None:
                if known is not None and known.opens(math.inf, now) == math.inf:
                    del buckets[unit]  # it was refilled, and answers no longer report it
            elif known is None or bucket.number >= known.number:
                if known is not None:
                    bucket.follow(known)
                later = (other for other in self._under_way if other.model == send.model and other.number > send.number)
                bucket.remaining -= sum(other.cost(unit) for other in later)  # the endpoint had not seen these yet
                buckets[unit] = bucket

    def note_outcome(self, send: Send, failure: Failure | None) -> None:
        """Learn from an answer (None) or a failure how many calls to allow, and whether the endpoint is there."""
        if self._replayed:
            return
        silent = failure is not None and (failure.status is None or failure.status >= 500)
        if send.round == self._round:
            self._adapt(lost=silent or (failure is not None and failure.status == 429))
        if failure is None or not silent:
            self._answered, self._silence = True, None
        else:
            silence = self._silence = self._silence or Silence(self._now())
            silence.sends += 1
            silence.refused |= failure.unreachable
            silence.last_error = failure.message
            if len(silence.calls) < SILENCE:
                silence.calls.add(send.digest)
        self._release()

    def _adapt(self, *, lost: bool) -> None:
        self._outcomes += 1
        self._lost += lost
        if not lost:
            self.window = min(float(self._settings.max_connections), self.window + 1 / self.window)
        if self._lost >= max(STORM, self.window / 2):
            self.window = max(1.0, self.window / 2)
            self._round += 1
        elif self._outcomes < max(2 * STORM, self.window):
            return
        self._outcomes = self._lost = 0

    @property
    def silent(self) -> bool:
        """Whether the endpoint now answers no call at all, so that failures are not about single requests."""
        silence = self._silence
        if silence is None:
            return False
        return (self._answered and silence.refused) or len(silence.calls) >= SILENCE

    def silence_error(self) -> str | None:
        """The error for an endpoint that has been silent for `llm.give_up_seconds`; None if it has not."""
        silence = self._silence
        if not self.silent or silence is None or silence.sends < SILENCE:
            return None
        seconds = self._now() - silence.since
        if seconds < self._settings.give_up_seconds:
            return None
        return f"has not answered for {seconds:.0f} s ({silence.sends} tries, the last: {silence.last_error})"


def _bucket(headers: Mapping[str, str], unit: Unit, start: float, number: int) -> Bucket | None:
    """What OpenAI's headers (platform.openai.com/docs/guides/rate-limits) say about a unit.

    For requests, those of draft-ietf-httpapi-ratelimit-headers-06 are read too. They do not say whether a bucket
    refills at once or gradually; until that shows, an empty one is not used before it is full. Time counts from when
    the call was sent, because it was admitted then, however long its answer took. A reset that is not worth waiting for
    (of a daily quota) is left to the refusal that will come.
    """
    templates = [("x-ratelimit-{}-" + unit)] + (["ratelimit-{}"] if unit == "requests" else [])
    for template in templates:
        left, limit, resets = (headers.get(template.format(part), "") for part in ("remaining", "limit", "reset"))
        seconds = span(resets)
        if left.isdecimal() and seconds is not None and seconds <= LONGEST_WAIT:
            return Bucket(float(left), float(limit) if limit.isdecimal() else math.inf, start, start + seconds, number)
    return None
