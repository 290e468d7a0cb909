"""What a run will cost: at most, by its limits and prices, and likely, by what an earlier run used.

Amounts are by quantity, as in `limits`: `inf` if no limit bounds it, None if it is unknown.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import ceil, inf, sqrt
from statistics import fmean, stdev
from typing import Final, NamedTuple, get_args

from scipy.special import stdtrit

from aiq.core.errors import UserError
from aiq.core.run_settings import RunnerSettings
from aiq.core.usage import Quantity, Usage
from aiq.experiment.plan import RunPlan
from aiq.experiment.provenance import models_of
from aiq.experiment.rescore import JUDGES
from aiq.runs.folder import RunFolder, find_run, latest_first
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow

QUANTITIES: Final[tuple[Quantity, ...]] = get_args(Quantity)
LEVEL: Final = 0.95

Bounds = Mapping[Quantity, float | None]


class Prediction(NamedTuple):
    """A total and its 95 % prediction interval, which a single sample does not give."""

    mean: float
    low: float | None
    high: float | None


Totals = Mapping[Quantity, Prediction | None]


def at_most(plan: RunPlan) -> dict[str, Bounds]:
    """What agent, judges and both together may use. Judges are left out if none of them asks a model.

    If no limit bounds dollars but one bounds tokens, these cost the highest price of the agent's models.
    """
    settings, attempts = plan.settings, len(plan.spec.keys)
    sample, run = settings.limits.of("sample"), settings.limits.of("run")
    agent: dict[Quantity, float | None] = {name: attempts * sample.get(name, inf) for name in QUANTITIES}
    agent["seconds"] = ceil(attempts / settings.runner.concurrency) * sample.get("seconds", inf)
    if "usd" not in sample and "tokens" in sample:
        price = _highest_price(plan)
        agent["usd"] = None if price is None else attempts * sample["tokens"] * price
    usage = {"agent": agent}
    if any(judge.model for judge in plan.judges):
        usage["judges"] = {name: 0.0 if name == "tool_calls" else inf for name in QUANTITIES}
    usage["run"] = {name: sum_known(bounds[name] for bounds in usage.values()) for name in QUANTITIES}
    return {
        account: {name: _lower(bounds[name], run.get(name)) for name in QUANTITIES} for account, bounds in usage.items()
    }


def _highest_price(plan: RunPlan) -> float | None:
    """The highest price of a token, in US dollars; None if a model of the agent has no price."""
    prices = plan.settings.llm.prices
    models = {model for role, model in models_of(plan).items() if not role.startswith(JUDGES)}
    has_prices = models <= prices.keys()
    return max(prices[model].max_per_token for model in models) if has_prices else None


def sum_known(amounts: Iterable[float | None]) -> float | None:
    """The sum; None if any amount is unknown."""
    values = [*amounts]
    return None if None in values else sum(amount for amount in values if amount is not None)


def _lower(amount: float | None, limit: float | None) -> float | None:
    return limit if amount is None else amount if limit is None else min(amount, limit)


class EarlierRun:
    """A run to estimate from, read once. Raises UserError if none of its attempts has ended."""

    def __init__(self, folder: RunFolder) -> None:
        rows = {key: row for key, row in read_samples(folder, SampleRow.compact).items() if row.status != "cancelled"}
        if not rows:
            raise UserError(f"{folder.path}: none of its attempts has ended, so there is nothing to estimate from")
        manifest = folder.read_manifest()
        self.folder, self.attempts, self._judges = folder, len(rows), manifest.hashes.judges.keys()
        busy, elapsed = sum(row.timing.seconds for row in rows.values()), folder.read_summary().timing.run_seconds
        concurrency = manifest.section("runner", RunnerSettings).concurrency
        self._pace = elapsed * concurrency / busy if busy else 0.0  # judges and waiting also took workers' time
        self._rows = [
            (row, scores) for row, scores in zip(rows.values(), read_scores(folder, rows).values(), strict=True)
        ]

    def expected(self, plan: RunPlan) -> dict[str, Totals]:
        """What agent, judges and both will likely use, from what each sample used then, bounded by `at_most`.

        Dollars are the same tokens at the new run's prices; wall time, for both together, is scaled by attempts and
        `runner.concurrency`. If a judge was not in the earlier run, what the judges will use is unknown.
        """
        judges = {judge.spec.name for judge in plan.judges if judge.model}
        earlier_amounts: dict[tuple[str, Quantity], dict[str, list[float | None]]] = {}
        for row, scores in self._rows:
            judge_usage = [item for score in scores if score.judge in judges for item in (score.usage or {}).items()]
            agent_amounts, judge_amounts = _amounts(plan, row.usage.items()), _amounts(plan, judge_usage)
            if not judges <= self._judges:
                judge_amounts = dict.fromkeys(judge_amounts)
            run_amounts = {name: sum_known((agent_amounts[name], judge_amounts[name])) for name in agent_amounts}
            calls: Bounds = {"tool_calls": row.tool_calls}
            wall_time: Bounds = {"seconds": self._pace * row.timing.seconds / plan.settings.runner.concurrency}
            amounts: Mapping[str, Bounds] = {
                "agent": {**agent_amounts, **calls},
                "judges": judge_amounts,
                "run": {**run_amounts, **calls, **wall_time},
            }
            for account, name in product(amounts, QUANTITIES):
                if name in amounts[account]:
                    by_sample = earlier_amounts.setdefault((account, name), {})
                    by_sample.setdefault(row.sample_id, []).append(amounts[account][name])
        samples, epochs = len(plan.dataset.samples), plan.settings.epochs
        return {
            account: {
                name: _total([*earlier_amounts[account, name].values()], samples, epochs, bounds[name])
                for name in QUANTITIES
                if (account, name) in earlier_amounts
            }
            for account, bounds in at_most(plan).items()
        }


def _amounts(plan: RunPlan, by_role: Iterable[tuple[str, Usage]]) -> dict[Quantity, float | None]:
    """What roles used, in dollars at this plan's prices; a panel's role is priced as its most expensive model."""
    prices, total = plan.settings.llm.prices, Usage()
    dollars: list[float | None] = []
    for role, usage in by_role:
        total += usage
        models = models_of(plan, [role])[role].split(", ")
        costs = [prices[model].cost(usage) for model in models if model in prices]
        dollars.append(max(costs) if len(costs) == len(models) else None)
    return {"model_calls": total.calls, "tokens": total.total_tokens, "usd": sum_known(dollars)}


def earlier_run(plan: RunPlan, like: str | None) -> EarlierRun | None:
    """The run that `like` names, else the experiment's newest finished one with the same agent, if there is one.

    Raises UserError for a name that matches no run, or a run in which no attempt has ended.
    """
    if like is not None:
        return EarlierRun(find_run(like, plan.settings.output_dir))
    for path in latest_first(plan.settings.output_dir, plan.settings.name):
        with suppress(UserError):
            manifest = RunFolder(path).read_manifest()
            same = manifest.options.get("agent") == plan.options.get("agent")
            if same and manifest.status == "finished" and manifest.rescored is None:
                return EarlierRun(RunFolder(path))
    return None


def _total(
    by_sample: Sequence[Sequence[float | None]], samples: int, epochs: int, bound: float | None
) -> Prediction | None:
    """The total over this many samples and epochs, from the values of earlier samples' epochs; None if unknown.

    Its prediction interval covers the spread of the new samples and the uncertainty of the estimated mean (Student's
    t; Hahn and Meeker, Statistical Intervals, 1991, section 4.8).
    """
    known = [[value for value in values if value is not None] for values in by_sample]
    if [*map(len, known)] != [*map(len, by_sample)]:
        return None
    means, limit = [fmean(values) for values in known], inf if bound is None else bound
    total, low, high = samples * fmean(means), None, None
    if len(means) > 1:
        t_quantile = float(stdtrit(len(means) - 1, (1 + LEVEL) / 2))
        half_width = t_quantile * stdev(means) * sqrt(samples + samples**2 / len(means))
        low, high = min(limit, epochs * max(0.0, total - half_width)), min(limit, epochs * (total + half_width))
    return Prediction(min(limit, epochs * total), low, high)
