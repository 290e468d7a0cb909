"""The flow of calls to one endpoint: how many at once, how fast, when none may go, and when the endpoint is gone.

Calls at once are adapted as TCP adapts its window: halved when half of a window's calls are lost (429, 5xx, no
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
from aiq.llm.retry import LONGEST_WAIT, retry_after, spread

BURST_SECONDS = 1.0
"""Of a budget: what was not spent for so long may be spent at once, so that a late timer wastes nothing."""

SPARE = 0.1
"""Of a bucket that fills bit by bit: what is left in it, for calls that arrive sooner after others than they went."""

SAME_RATE = 0.2
"""By so much told rates may differ and be one: what is left is told in whole numbers."""

STORM = 3
"""Lost calls, at least: one stray error halves no window, however small."""

SILENCE = 5
"""Calls that met nothing but failures, one after another: fewer may each be a request that breaks the endpoint."""

Unit = Literal["requests", "tokens"]

_SPAN = re.compile(r"([\d.]+)(ms|[dhms])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def span(text: str) -> float | None:
    """Seconds of `20ms`, `6m0s` or a bare number of seconds; None for anything else."""
    parts = _SPAN.findall(text)
    try:
        if "".join(number + unit for number, unit in parts) == text and parts:
            return sum(float(number) * _SECONDS[unit] for number, unit in parts)
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


class Budget:
    """So many units a minute, shared by all who spend; None: any number. `due`: when the next may be spent."""

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._seconds = 60.0 / per_minute if per_minute else 0.0
        self.due = now

    def __bool__(self) -> bool:
        return self._seconds > 0

    def spend(self, units: float, now: float) -> None:
        """Also more than there is: the next waits until it is made up for."""
        self.due = max(self.due, now - BURST_SECONDS) + units * self._seconds

    def give_back(self, units: float) -> None:
        """Units that were spent and not used; negative for more than were spent."""
        self.due -= units * self._seconds


@dataclass(slots=True)
class Bucket:
    """What an endpoint says was left for a model `at` a time of the loop; all of `limit` is there when it `resets`.

    `number`: of the send whose answer said so. `rate`: what comes in a second where it fills bit by bit. That shows in
    answers that tell one rate while what is left, `lowest` and `highest`, differs much: of a bucket that is filled at
    once the time left shrinks while more is missing.
    """

    left: float
    limit: float
    at: float
    resets: float
    number: int
    rate: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0

    def __post_init__(self) -> None:
        self.lowest = self.highest = self.left
        if self.resets > self.at and self.limit < math.inf:
            self.rate = (self.limit - self.left) / (self.resets - self.at)

    def follow(self, known: "Bucket") -> None:
        """It is what a later answer than that of `known` says."""
        if math.isclose(self.rate, known.rate, rel_tol=SAME_RATE):
            self.rate = known.rate  # that of the first: a rate that grows is none
            self.lowest, self.highest = min(self.lowest, known.lowest), max(self.highest, known.highest)

    def opens(self, cost: float, now: float) -> float:
        """The time from which so much is in it, infinite where only another answer can tell."""
        if now >= self.resets:
            self.left, self.resets = self.limit, math.inf
        elif self.resets < math.inf and self.highest - self.lowest >= self.limit / 4:
            self.left, self.at = self.left + (now - self.at) * self.rate, now
            return max(now, min(self.resets, now + (cost + self.limit * SPARE - self.left) / self.rate))
        return now if self.left >= cost else self.resets


@dataclass(slots=True)
class Silence:
    """A time in which an endpoint gave nothing but 5xx and lost connections. `calls`: the first few that met it."""

    since: float
    sends: int = 0
    refused: bool = False
    """No connection came about, which no request can be the reason of."""
    calls: set[str] = field(default_factory=set)
    said: str = ""


class Send:
    """One call on its way, from its turn in the flow (`async with`) until `end`, which follows if the block raises."""

    def __init__(self, flow: "Flow", model: str, digest: str, failures: int, tokens: Callable[[], int]) -> None:
        self._flow, self._count, self._tokens = flow, tokens, -1
        self.model, self.digest, self.failures = model, digest, failures
        self.number = 0
        """Its place in the order of coming while it waits, then in that of going."""
        self.round, self.went = 0, 0.0
        self.turn: asyncio.Future[None] | None = None

    async def __aenter__(self) -> "Send":
        await self._flow.admit(self)
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.end()

    def cost(self, unit: Unit) -> int:
        """What it takes of a budget: itself, or its estimated tokens."""
        if unit == "requests":
            return 1
        if self._tokens < 0:
            self._tokens = self._count()
        return self._tokens

    def told(self, response: Response) -> None:
        """An answer has begun, with what its headers say."""
        self._flow.told(self, response)

    def came(self, failure: Failure | None) -> None:
        """How the endpoint took it; None: it answered."""
        self._flow.came(self, failure)

    def end(self, usage: Usage | None = None) -> None:
        """It is over, booked as `usage` (None: as nothing). Only the first time counts."""
        self._flow.ended(self, usage)


class Flow:
    """What all calls of one endpoint share. `share`: of the budgets, for one of several processes.

    Calls go in the order of their coming; one that has failed goes before all that failed less often, because its
    attempts are few. A stream keeps its place until it is read to its end or closed. With `replayed` nothing waits.
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
        """By model: providers limit each for itself."""
        self.window = float(settings.max_connections)
        """Calls at once."""
        self._round = self._outcomes = self._lost = 0
        """A round begins when the window is halved; what was sent before says nothing about the smaller one."""
        self._held = now
        self._one_by_one = 0
        """How many are yet to go one after another, after a wait that the endpoint asked for."""
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
        """For the call of this digest, which failed so often before; `tokens` estimates its own and its answer's."""
        return Send(self, model, digest, failures, tokens)

    async def admit(self, send: Send) -> None:
        """Return when it is the turn of this send."""
        if self._replayed:
            return
        send.number = next(self._numbers)
        insort(self._waiting, send, key=lambda one: (-one.failures, one.number))
        self._let_go()
        if send in self._under_way:
            return
        send.turn = asyncio.get_running_loop().create_future()
        try:
            await send.turn
        except BaseException:
            if send in self._waiting:
                self._waiting.remove(send)
            self.ended(send, None)
            raise

    def _let_go(self) -> None:
        """Let go who may, and come back when the next may."""
        now = self._now()
        while self._waiting and len(self._under_way) < int(self.window):
            opens = max(self._held, *(budget.due for budget in self._budgets.values()))
            if opens <= now:
                first = next((send for send in self._waiting if self._opens(send, now) <= now), None)
                if first is not None:
                    self._go(first, now)
                    continue
                opens = min(self._opens(send, now) for send in self._waiting)
            if opens < math.inf:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_at(opens, self._let_go)
            return

    def _opens(self, send: Send, now: float) -> float:
        """The time from which the buckets of its model have room for it; now, where nobody could tell of more."""
        buckets = self._buckets.get(send.model)
        if not buckets:
            return now
        opens = max(bucket.opens(send.cost(unit), now) for unit, bucket in buckets.items())
        alone = opens == math.inf and not any(other.model == send.model for other in self._under_way)
        return now if alone else opens

    def _go(self, send: Send, now: float) -> None:
        self._waiting.remove(send)
        self._under_way.add(send)
        send.number, send.round, send.went = next(self._numbers), self._round, now
        for unit, budget in self._budgets.items():
            if budget:
                budget.spend(send.cost(unit), now)
        for unit, bucket in self._buckets.get(send.model, {}).items():
            bucket.left -= send.cost(unit)
        if self._one_by_one:
            self._one_by_one -= 1
            first = self._settings.retry.first_seconds
            self._held = now + first * spread(send.digest, send.failures) / self.window
        if send.turn is not None and not send.turn.done():
            send.turn.set_result(None)

    def ended(self, send: Send, usage: Usage | None) -> None:
        """Its place is free, and the budget of tokens knows what it took."""
        if send not in self._under_way:
            return
        self._under_way.remove(send)
        if (tokens := self._budgets["tokens"]) and not (usage and usage.unreported_calls):
            tokens.give_back(send.cost("tokens") - (usage.total_tokens if usage else 0))
        self._let_go()

    def told(self, send: Send, response: Response) -> None:
        """Hold all calls for as long as a refusal asks, and note what is left for the model."""
        if self._replayed:
            return
        now = self._now()
        asked = retry_after(response.headers) if response.status_code >= 400 else None
        if asked and asked <= LONGEST_WAIT:
            self._held = max(self._held, now + asked)
            self._one_by_one = int(self.window)
        raw = [(name.lower(), value) for name, value in response.headers.raw]
        limits = {name.decode(): value.decode("latin-1") for name, value in raw if b"ratelimit" in name}
        buckets = self._buckets.setdefault(send.model, {})
        for unit in get_args(Unit) if limits or buckets else ():
            found, known = _bucket(limits, unit, send.went, send.number), buckets.get(unit)
            if found is None:
                if known is not None and known.opens(math.inf, now) == math.inf:
                    del buckets[unit]  # it was filled anew, and answers do not tell of it any more
            elif known is None or found.number >= known.number:
                if known is not None:
                    found.follow(known)
                later = (one for one in self._under_way if one.model == send.model and one.number > send.number)
                found.left -= sum(one.cost(unit) for one in later)  # the endpoint had not seen these
                buckets[unit] = found

    def came(self, send: Send, failure: Failure | None) -> None:
        """Learn from an answer (None) or a failure how many calls at once, and whether anybody is there."""
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
            silence.refused |= failure.nobody
            silence.said = failure.message
            if len(silence.calls) < SILENCE:
                silence.calls.add(send.digest)
        self._let_go()

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
        """Whether the endpoint answers nobody now: no failure is about one request."""
        silence = self._silence
        if silence is None:
            return False
        return (self._answered and silence.refused) or len(silence.calls) >= SILENCE

    def gone(self) -> str | None:
        """What to say of an endpoint that has been silent for `llm.give_up_seconds`; None: it has not."""
        silence = self._silence
        if not self.silent or silence is None or silence.sends < SILENCE:
            return None
        seconds = self._now() - silence.since
        if seconds < self._settings.give_up_seconds:
            return None
        return f"has not answered for {seconds:.0f} s ({silence.sends} tries, the last: {silence.said})"


def _bucket(headers: Mapping[str, str], unit: Unit, went: float, number: int) -> Bucket | None:
    """What OpenAI's headers (platform.openai.com/docs/guides/rate-limits) say of a unit.

    Of requests also what those of draft-ietf-httpapi-ratelimit-headers-06 say. Whether a bucket fills at once or bit by
    bit they do not say; until that shows an empty one is left alone until it is full. Time counts from when the call
    went, as it was admitted then, however long its answer took. A reset that is not worth waiting for (of a day's
    requests) is left to the refusal that comes.
    """
    forms = [("x-ratelimit-{}-" + unit)] + (["ratelimit-{}"] if unit == "requests" else [])
    for form in forms:
        left, limit, resets = (headers.get(form.format(what), "") for what in ("remaining", "limit", "reset"))
        seconds = span(resets)
        if left.isdecimal() and seconds is not None and seconds <= LONGEST_WAIT:
            return Bucket(float(left), float(limit) if limit.isdecimal() else math.inf, went, went + seconds, number)
    return None
