"""Which runs a recording belongs to: the agent's and the judges' parts may be of different runs."""

import pytest

from aiq.core.errors import UserError
from aiq.experiment.outdated import recorded_plans
from aiq.experiment.plan import RunPlan

RUN = ["experiment=shallow_freshqa", "limit=2"]


def mode_of(plan: RunPlan) -> object:
    return plan.settings.judge["fresheval"].settings.mode


def test_agent_and_judges_of_a_recording_are_planned_from_their_own_runs() -> None:
    strict = {"overrides": [*RUN, "judge.fresheval.mode=strict"]}
    plans = recorded_plans({"agent": strict, "judge": {"overrides": RUN}})
    assert (mode_of(plans["agent"]), mode_of(plans["judge"])) == ("strict", "relaxed")
    assert {plan.settings.cassette.mode for plan in plans.values()} == {"replay"}


def test_a_recording_without_a_run() -> None:
    assert recorded_plans({"agent": {"version": 1}, "judge": {"overrides": []}}) == {}
    with pytest.raises(UserError):
        recorded_plans({"judge": {"overrides": ["judge=[fresheval]"]}})
