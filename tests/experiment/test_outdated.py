"""Which runs a recording is of: its agent's and its judges' may be two."""

import pytest

from aiq.core.errors import UserError
from aiq.experiment.outdated import recorded_plans
from aiq.experiment.plan import RunPlan

RUN = ["experiment=shallow_freshqa", "limit=2"]


def mode_of(plan: RunPlan) -> object:
    return plan.settings.judge["fresheval"].settings.mode


def test_each_part_is_of_the_run_that_it_says() -> None:
    strict = {"overrides": [*RUN, "judge.fresheval.mode=strict"]}
    plans = recorded_plans({"agent": strict, "judge": {"overrides": RUN}})
    assert (mode_of(plans["agent"]), mode_of(plans["judge"])) == ("strict", "relaxed")
    assert {plan.settings.cassette.mode for plan in plans.values()} == {"replay"}


def test_a_recording_without_a_run() -> None:
    assert recorded_plans({"agent": {"version": 1}, "judge": {"overrides": []}}) == {}
    with pytest.raises(UserError):
        recorded_plans({"judge": {"overrides": ["judge=[fresheval]"]}})
