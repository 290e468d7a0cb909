"""What model calls cost, as the endpoint reported it.

Limits of a sample and of a run, checked before the call that would pass them.
"""

from collections import Counter, defaultdict

from pydantic import Field

from aiq.core.base import Record
from aiq.core.errors import LimitReached


class Usage(Record):
    """Sums over HTTP exchanges. Tokens as reported; `cost_usd` is None where any call has no price."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unreported_calls: int = 0  # exchanges whose answer carried no usage
    cost_usd: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            unreported_calls=self.unreported_calls + other.unreported_calls,
            cost_usd=cost,
        )

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class UsageLedger:
    """Usage by role, recorded once per HTTP exchange by the transport and by nobody else."""

    def __init__(self) -> None:
        self._by_role: defaultdict[str, Usage] = defaultdict(Usage)
        self._sends: Counter[str] = Counter()
        self.in_flight = 0
        """Model calls under way, whose usage is not yet known."""

    def begin(self, digest: str) -> int:
        """Count one more call in flight; how often a request of this digest was sent before."""
        self.in_flight += 1
        self._sends[digest] += 1
        return self._sends[digest] - 1

    def end(self) -> None:
        """Count one call less in flight."""
        self.in_flight -= 1

    def record(self, role: str, usage: Usage) -> None:
        self._by_role[role] += usage

    def by_role(self) -> dict[str, Usage]:
        """Usage of each role, roles in alphabetical order."""
        return dict(sorted(self._by_role.items()))

    def total(self) -> Usage:
        return sum(self.by_role().values(), Usage())


class Limits(Record):
    """Config group-free section `limits`; None means no limit.

    `sample_seconds`: wall time of one attempt. `sample_model_calls`: model exchanges of one
    attempt. `sample_usd`, `run_usd`: cost of one attempt and of the whole run (agents and judges).
    """

    sample_seconds: float | None = Field(default=None, gt=0)
    sample_model_calls: int | None = Field(default=None, ge=1)
    sample_usd: float | None = Field(default=None, gt=0)
    run_usd: float | None = Field(default=None, gt=0)

    @property
    def in_money(self) -> str | None:
        """The setting of a limit in money, if there is one: it needs prices."""
        names = (name for name in ("run_usd", "sample_usd") if getattr(self, name) is not None)
        return next((f"limits.{name}" for name in names), None)

    def check(self, sample: UsageLedger, run: Usage) -> None:
        """Raises LimitReached when one more model call would start beyond a limit."""
        spent = sample.total()
        if self.sample_model_calls is not None and spent.calls + sample.in_flight >= self.sample_model_calls:
            raise LimitReached("limits.sample_model_calls", self.sample_model_calls)
        if self.sample_usd is not None and (spent.cost_usd or 0.0) >= self.sample_usd:
            raise LimitReached("limits.sample_usd", self.sample_usd)
        if self.run_usd is not None and (run.cost_usd or 0.0) >= self.run_usd:
            raise LimitReached("limits.run_usd", self.run_usd)
