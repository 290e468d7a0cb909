"""What model calls cost, as the endpoint reported it, and the limits that are checked before the next call."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Protocol, get_args

from pydantic import ConfigDict, Field, TypeAdapter

from aiq.core.base import Record
from aiq.core.errors import LimitReached

SpendName = Literal["cost_usd", "tokens", "calls", "seconds"]
"""What the agent spends on an attempt: dollars, tokens in and out, model calls, wall time."""


Scope = Literal["run", "sample"]
Quantity = Literal["model_calls", "tokens", "usd", "seconds", "tool_calls"]
"""What a limit bounds; `limits.SCOPE_QUANTITY` is its setting."""

MODEL_CALL_LIMITS: Final[tuple[Quantity, ...]] = ("model_calls", "tokens", "usd")
TOOL_CALL_LIMITS: Final[tuple[Quantity, ...]] = ("tool_calls",)
"""What a call adds to, checked before the call. Time has a timer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over HTTP exchanges. Tokens as reported; `cost_usd` is None if any call has no price.

    Tokens and cost are lower bounds if there are `unreported_calls`. `estimated_tokens` and `estimated_usd` estimate
    these calls by their text and are in no other figure: only limits count them. Validated when read from plain data;
    sums, of which each model call makes several, need no validation.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported_calls: int = 0  # exchanges whose answer carried no usage, or did not come
    cost_usd: float | None = 0.0
    estimated_tokens: int = 0
    estimated_usd: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.unreported_calls + other.unreported_calls,
            None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
            self.estimated_tokens + other.estimated_tokens,
            self.estimated_usd + other.estimated_usd,
        )

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def counted_tokens(self) -> int:
        """What limits in tokens count: the known ones and the estimated ones."""
        return self.total_tokens + self.estimated_tokens

    @property
    def counted_usd(self) -> float:
        """What limits in money count: the known cost and the estimated one."""
        return (self.cost_usd or 0.0) + self.estimated_usd


USAGE: Final = TypeAdapter(Usage)
"""Reads one from plain data."""


class Account(Protocol):
    """A separate account of usage, such as that of an agent that tells its parts apart."""

    def record(self, role: str, usage: Usage) -> None:
        """Book one HTTP exchange."""


account: ContextVar[Account | None] = ContextVar("account", default=None)
"""Where exchanges made inside are booked too, besides the session's ledgers."""


class UsageLedger:
    """Usage by role, recorded once per HTTP exchange, by the transport and nothing else; and tool calls.

    `in_flight`: an estimate of what the model calls under way, whose usage is not yet known, will add; `largest`: the
    most that one call has added.
    """

    def __init__(self) -> None:
        self._by_role: defaultdict[str, Usage] = defaultdict(Usage)
        self._total = Usage()
        self._sends: Counter[str] = Counter()
        self.in_flight: defaultdict[Quantity, float] = defaultdict(float)
        self.largest: defaultdict[Quantity, float] = defaultdict(float, {"model_calls": 1.0})
        self.tool_calls = 0

    def sent(self, digest: str) -> int:
        """Count a send of the request with this digest; returns how often it was sent before."""
        self._sends[digest] += 1
        return self._sends[digest] - 1

    def begin(self, likely: Mapping[Quantity, float], sign: int = 1) -> None:
        """Note that a call which will likely add this is under way."""
        for quantity, amount in likely.items():
            self.in_flight[quantity] += sign * amount

    def end(self, likely: Mapping[Quantity, float]) -> None:
        self.begin(likely, -1)

    def record(self, role: str, usage: Usage) -> None:
        self._by_role[role] += usage
        self._total += usage
        self.largest["tokens"] = max(self.largest["tokens"], usage.counted_tokens)
        self.largest["usd"] = max(self.largest["usd"], usage.counted_usd)

    def by_role(self) -> dict[str, Usage]:
        """Usage of each role, roles in alphabetical order."""
        return dict(sorted(self._by_role.items()))

    def total(self) -> Usage:
        return self._total

    def used(self, quantity: Quantity) -> float:
        """What a limit counts: what is known, what is estimated, and what is under way."""
        amounts = {
            "model_calls": self._total.calls,
            "tokens": self._total.counted_tokens,
            "usd": self._total.counted_usd,
            "tool_calls": self.tool_calls,
        }
        return amounts[quantity] + self.in_flight[quantity]

    def estimate_note(self, quantity: Quantity) -> str:
        """Which part of a quantity is an estimate, to be added to a message; empty if none is."""
        if quantity not in _ESTIMATED:
            return ""
        field, form, least = _ESTIMATED[quantity]
        parts = {"usage not reported": getattr(self._total, field), "calls in progress": self.in_flight[quantity]}
        notes = [f"{cause}: {form.format(amount)}" for cause, amount in parts.items() if amount > least]
        return f" ({', '.join(notes)}, estimated by llm.characters_per_token)" if notes else ""


_ESTIMATED: Final[Mapping[Quantity, tuple[str, str, float]]] = {
    "tokens": ("estimated_tokens", "{:,.0f} tokens", 0.5),
    "usd": ("estimated_usd", "${:.4f}", 0.00005),
}
"""For a quantity that is estimated if unknown: the field of `Usage`, its format, and the amount too small to mention.
"""


class Limits(Record):
    """Section `limits`; None means no limit."""

    model_config = ConfigDict(allow_inf_nan=False)

    sample_seconds: float | None = Field(gt=0, description="wall time of one attempt")
    sample_tokens: int | None = Field(ge=1, description="tokens of one attempt, input and output")
    sample_usd: float | None = Field(gt=0, description="cost of one attempt, in US dollars")
    sample_model_calls: int | None = Field(ge=1, description="model calls of one attempt")
    sample_tool_calls: int | None = Field(ge=1, description="tool calls of one attempt")
    run_seconds: float | None = Field(gt=0, description="wall time of the run; it then stops, to be resumed, as below")
    run_tokens: int | None = Field(ge=1, description="tokens of the run, judges included")
    run_usd: float | None = Field(gt=0, description="cost of the run, judges included")
    run_model_calls: int | None = Field(ge=1, description="model calls of the run, judges included")
    run_tool_calls: int | None = Field(ge=1, description="tool calls of the run")
    on_limit: Literal["stop", "synthesize"] = Field(
        description="stop: a sample ends at its limit; synthesize: before it, tools are refused, to write the report"
    )
    reserve: float = Field(
        gt=0, lt=1, description="for on_limit=synthesize: the share of a sample's limit that is kept for the report"
    )

    def of(self, scope: Scope) -> dict[Quantity, float]:
        """The limits that are set."""
        bounds = {quantity: self.bound(scope, quantity) for quantity in get_args(Quantity)}
        return {quantity: bound for quantity, bound in bounds.items() if bound is not None}

    def bound(self, scope: Scope, quantity: Quantity) -> float | None:
        bound: float | None = getattr(self, f"{scope}_{quantity}")
        return bound

    def of_run(self) -> "Limits":
        """The run's limits only, none for a sample."""
        return self.model_copy(update={f"sample_{quantity}": None for quantity in get_args(Quantity)})

    def shard_share(self, shards: int, spent: UsageLedger) -> "Limits":
        """The limits of one of `shards`: an equal part of what `spent` leaves of each run limit except time."""
        bounds = {
            f"run_{quantity}": max(0.0, bound - spent.used(quantity)) / shards
            for quantity, bound in self.of("run").items()
            if quantity != "seconds"
        }
        return self.model_copy(update=bounds)

    @property
    def uses_estimates(self) -> bool:
        """Whether there is a limit in tokens or money, which counts the calls under way by estimate."""
        return any(self.bound(scope, quantity) is not None for scope in get_args(Scope) for quantity in _ESTIMATED)

    @property
    def usd_setting(self) -> str | None:
        """The setting of a limit in money, if there is one: it needs prices."""
        return next((f"limits.{name}" for name in ("run_usd", "sample_usd") if getattr(self, name) is not None), None)

    def check(self, sample: UsageLedger, run: UsageLedger, adds: Collection[Quantity] = MODEL_CALL_LIMITS) -> None:
        """Raises LimitReached if one more call, which adds to these quantities, would start beyond a limit."""
        ledgers: tuple[tuple[Scope, UsageLedger], ...] = (("run", run), ("sample", sample))
        for scope, ledger in ledgers:
            for quantity in adds:
                bound = self.bound(scope, quantity)
                if bound is not None and ledger.used(quantity) >= bound:
                    raise LimitReached(f"limits.{scope}_{quantity}", bound, ledger.estimate_note(quantity))

    def reached(self, sample: UsageLedger, seconds: float) -> str | None:
        """The sample's limit, in words, of which only the reserve is left after `seconds`; None if there is none.

        The reserve is at least the largest call so far; for tool calls it is zero, because a report needs none.
        """
        for quantity, bound in self.of("sample").items():
            reserve = 0.0 if quantity == "tool_calls" else max(self.reserve * bound, sample.largest[quantity])
            if (seconds if quantity == "seconds" else sample.used(quantity)) >= bound - reserve:
                return f"limits.sample_{quantity}={bound:g} is used up{' but for limits.reserve' if reserve else ''}"
        return None
