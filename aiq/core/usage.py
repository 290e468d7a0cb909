"""What model calls cost, as the endpoint reported it, and the limits that are checked before the next call."""

from collections import Counter, defaultdict
from contextvars import ContextVar
from typing import Final, Literal, Protocol

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from aiq.core.base import Record
from aiq.core.errors import LimitReached

SpendName = Literal["cost_usd", "tokens", "calls", "seconds"]
"""What the agent spends on an attempt: dollars, tokens in and out, model calls, wall time."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Usage:
    """Sums over HTTP exchanges. Tokens as reported; `cost_usd` is None where any call has no price.

    Tokens and cost are lower bounds where there are `unreported_calls`. `estimated_usd`, what these may have cost by
    their text, is in no other figure: only limits in money count it.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported_calls: int = 0  # exchanges whose answer carried no usage, or did not come
    cost_usd: float | None = 0.0
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
            self.estimated_usd + other.estimated_usd,
        )

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def counted_usd(self) -> float:
        """What limits in money count: the known cost and the estimated one."""
        return (self.cost_usd or 0.0) + self.estimated_usd


USAGE: Final = TypeAdapter(Usage)
"""Reads one from plain data."""


class Account(Protocol):
    """Books of somebody's own, such as an agent that tells its parts apart."""

    def record(self, role: str, usage: Usage) -> None:
        """Book one HTTP exchange."""


account: ContextVar[Account | None] = ContextVar("account", default=None)
"""Where exchanges that are made inside are booked too, beside the session's ledgers."""


class UsageLedger:
    """Usage by role, recorded once per HTTP exchange by the transport and by nobody else."""

    def __init__(self) -> None:
        self._by_role: defaultdict[str, Usage] = defaultdict(Usage)
        self._total = Usage()
        self._sends: Counter[str] = Counter()
        self.in_flight = 0
        """Model calls under way, whose usage is not yet known."""
        self.in_flight_usd = 0.0
        """What they will cost, by estimate, where a limit in money wants to know."""

    def begin(self, digest: str) -> int:
        """Count one more call in flight; how often a request of this digest was sent before."""
        self.in_flight += 1
        self._sends[digest] += 1
        return self._sends[digest] - 1

    def end(self) -> None:
        self.in_flight -= 1

    def record(self, role: str, usage: Usage) -> None:
        self._by_role[role] += usage
        self._total += usage

    def by_role(self) -> dict[str, Usage]:
        """Usage of each role, roles in alphabetical order."""
        return dict(sorted(self._by_role.items()))

    def total(self) -> Usage:
        return self._total

    def guesses(self) -> str:
        """What of the money is an estimate, to be added to a message; empty where nothing is."""
        parts = {"usage not reported": self._total.estimated_usd, "calls under way": self.in_flight_usd}
        said = [f"${usd:.4f} of it {why}" for why, usd in parts.items() if usd > 0.00005]
        return f", {', '.join(said)}: estimated by llm.characters_per_token" if said else ""


class Limits(Record):
    """Section `limits`; None means no limit."""

    sample_seconds: float | None = Field(gt=0, description="wall time of one attempt")
    sample_model_calls: int | None = Field(ge=1, description="model calls of one attempt")
    sample_usd: float | None = Field(gt=0, description="cost of one attempt, in US dollars")
    run_usd: float | None = Field(gt=0, description="cost of the run, judges included; then it stops, to be resumed")

    def of_run(self) -> "Limits":
        """The run's alone, none of a sample."""
        return Limits(sample_seconds=None, sample_model_calls=None, sample_usd=None, run_usd=self.run_usd)

    @property
    def in_money(self) -> str | None:
        """The setting of a limit in money, if there is one: it needs prices."""
        return next((f"limits.{name}" for name in ("run_usd", "sample_usd") if getattr(self, name) is not None), None)

    def check(self, sample: UsageLedger, run: UsageLedger) -> None:
        """Raises LimitReached when one more model call would start beyond a limit."""
        calls = self.sample_model_calls
        if calls is not None and sample.total().calls + sample.in_flight >= calls:
            raise LimitReached("limits.sample_model_calls", calls)
        for name, bound, ledger in (("sample_usd", self.sample_usd, sample), ("run_usd", self.run_usd, run)):
            if bound is not None and ledger.total().counted_usd + ledger.in_flight_usd >= bound:
                raise LimitReached(f"limits.{name}", bound, ledger.guesses())
