"""What in a recording no longer fits its run: prompts that have changed, samples that are gone."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from aiq import datasets
from aiq.cassettes.recorder import SHARED, Account
from aiq.cassettes.store import Store
from aiq.experiment.compose import compose_with_options, settings_from
from aiq.experiment.plan import RunPlan, make_plan
from aiq.experiment.provenance import prompts_of

_AGENT_PROMPTS: Final = ("agent", "user")  # their prompts are in the agent's cassettes; all other names are judges


def recorded_plans(recorded: Mapping[Account, Mapping[str, Any]]) -> dict[Account, RunPlan]:
    """The plans of the run whose agent and of the run whose judges were recorded, composed again; they need no key.

    `recorded`: what each part of a recording says about itself; an imported one names no run, and gives no plan.
    Raises UserError if a run can no longer be composed.
    """
    cached = cache(_plan)  # agent and judges usually come from one run
    return {account: cached(tuple(about["overrides"])) for account, about in recorded.items() if about.get("overrides")}


def _plan(overrides: tuple[str, ...]) -> RunPlan:
    replay_overrides = (*overrides, "cassette=replay")  # a recording does not state `cassette` itself
    config, options = compose_with_options(replay_overrides)
    return make_plan(settings_from(config), replay_overrides, options=options)


def outdated(account: Account, store: Store, plan: RunPlan) -> Iterator[str]:
    """A line for each prompt that differs from the recorded one, and each cassette whose sample is gone."""
    current = prompts_of(plan)
    for name, recorded in sorted(store.about.get("prompts", {}).items()):
        if (name in _AGENT_PROMPTS) == (account == "agent") and current.get(name) != recorded:
            yield (
                f"{store.path}: the prompts of {name} have changed since; re-record what they affect: cassette=refresh"
            )
    no_filters = dict.fromkeys(("ids", "split", "language", "type", "sample"))
    settings = plan.settings.dataset.model_copy(update=no_filters)  # the last recording run may have used only a part
    dataset = datasets.load(settings, seed=plan.settings.seed, limit=None)
    for name in store.names():
        sample = name.rpartition("/")[0]
        if name != SHARED and sample not in dataset.samples.ids:
            yield (
                f"{store.path}: {name}: {dataset.name} has no sample {sample}; "
                f"`aiq cassettes forget {store.path.parent} {sample}` deletes it"
            )
