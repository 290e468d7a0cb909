"""Limits of a sample and of a run, checked before the call that would pass them."""

from pydantic import Field

from aiq.core.base import Record
from aiq.core.errors import LimitReached
from aiq.core.usage import Usage, UsageLedger


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

    def check(self, sample: UsageLedger, run: Usage, in_flight: int = 0) -> None:
        """Raises LimitReached when one more model call would start beyond a limit.

        `in_flight` calls of the sample are under way and not yet in its ledger.
        """
        spent = sample.total()
        if self.sample_model_calls is not None and spent.calls + in_flight >= self.sample_model_calls:
            raise LimitReached("limits.sample_model_calls", self.sample_model_calls)
        if self.sample_usd is not None and (spent.cost_usd or 0.0) >= self.sample_usd:
            raise LimitReached("limits.sample_usd", self.sample_usd)
        if self.run_usd is not None and (run.cost_usd or 0.0) >= self.run_usd:
            raise LimitReached("limits.run_usd", self.run_usd)
