"""What model calls cost, as the endpoint reported it."""

from collections import defaultdict

from aiq.core.base import Record


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

    def record(self, role: str, usage: Usage) -> None:
        self._by_role[role] += usage

    def by_role(self) -> dict[str, Usage]:
        """Usage of each role, roles in alphabetical order."""
        return dict(sorted(self._by_role.items()))

    def total(self) -> Usage:
        return sum(self.by_role().values(), Usage())
