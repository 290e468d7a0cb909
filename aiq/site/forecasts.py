"""What `aiq run --dry-run` prints: what a run or a sweep costs at most, and what it will likely cost."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import TYPE_CHECKING, Final

from aiq.core.text import plural
from aiq.core.usage import Quantity
from aiq.experiment.forecast import QUANTITIES, Bounds, EarlierRun, Prediction, Totals, at_most, earlier_run, sum_known
from aiq.site.tables import Sheet, money, show

if TYPE_CHECKING:
    from aiq.experiment.plan import RunPlan

HEADINGS: Final[Mapping[Quantity, str]] = {
    "model_calls": "model calls",
    "tokens": "tokens",
    "usd": "US dollars",
    "seconds": "wall seconds",
    "tool_calls": "tool calls",
}
CHECKED_BEFORE: Final = "Limits are checked before each call; calls in progress may exceed one in tokens or dollars."


def print_run(plan: "RunPlan", like: str | None) -> None:
    """The forecast of one run, by account. Raises UserError as `earlier_run` does."""
    earlier = earlier_run(plan, like)
    _print(_title(plan), at_most(plan), earlier.expected(plan) if earlier else {}, earlier)


def print_sweep(plans: "Mapping[str, RunPlan]", points: int, like: str | None) -> None:
    """The forecast of a sweep, by run and in all; `plans` are the first of `points` runs, the rest assumed to be alike.

    Raises UserError as `earlier_run` does.
    """
    first, share = next(iter(plans.values())), points / len(plans)
    earlier = earlier_run(first, like)
    caps = {name: at_most(plan)["run"] for name, plan in plans.items()}
    expected = {name: earlier.expected(plan)["run"] for name, plan in plans.items()} if earlier else {}
    total = f"{plural(points, 'run')} in all"
    caps[total] = {name: _scaled(sum_known(run[name] for run in caps.values()), share) for name in QUANTITIES}
    if expected:
        expected[total] = {name: _sum([run[name] for run in expected.values()], share) for name in QUANTITIES}
    _print(f"a sweep of {_title(first)}", caps, expected, earlier)


def _title(plan: "RunPlan") -> str:
    samples, epochs = plural(len(plan.dataset.samples), "sample"), plural(plan.settings.epochs, "epoch")
    judges = ", ".join(judge.spec.name for judge in plan.judges) or "none"
    return f"{plan.settings.name}: {samples} x {epochs}, judges: {judges}; nothing is run"


def _print(title: str, caps: Mapping[str, Bounds], expected: Mapping[str, Totals], earlier: EarlierRun | None) -> None:
    rows = [
        ("at most", name, *(_bound(quantity, run[quantity]) for quantity in QUANTITIES)) for name, run in caps.items()
    ]
    for name, totals in expected.items():
        cells = (_expected(quantity, totals[quantity]) if quantity in totals else "" for quantity in QUANTITIES)
        rows.append(("expected", name, *cells))
    note = "there is no earlier run to estimate from: name one with --like RUN"
    if earlier is not None:
        base = f"{plural(earlier.attempts, 'attempt')} of {earlier.folder.path}"
        note = f"expected from {base} ({' '.join(earlier.folder.read_manifest().overrides)}); 95 % prediction intervals"
    show(Sheet(("", "", *HEADINGS.values()), rows, title, left=2), CHECKED_BEFORE, note)


def _scaled(amount: float | None, share: float) -> float | None:
    return None if amount is None else share * amount


def _sum(totals: Sequence[Prediction | None], share: float) -> Prediction | None:
    """The sum of forecasts from one earlier run; interval ends are added, as their errors go the same way."""
    if None in totals:
        return None
    parts = [sum_known(part) for part in zip(*(total for total in totals if total is not None), strict=True)]
    mean, low, high = (_scaled(part, share) for part in parts)
    return Prediction(mean or 0.0, low, high)


def _bound(name: Quantity, amount: float | None) -> str:
    if amount is None:
        return "unknown"
    return "unbounded" if isinf(amount) else _amount(name, amount)


def _expected(name: Quantity, total: Prediction | None) -> str:
    if total is None:
        return _bound(name, None)
    if total.low is None or total.high is None:
        return f"{_amount(name, total.mean)} (of one sample)"
    return f"{_amount(name, total.mean)} ({_amount(name, total.low)} to {_amount(name, total.high)})"


def _amount(name: Quantity, amount: float) -> str:
    return money(amount) if name == "usd" else f"{amount:,.0f}"
