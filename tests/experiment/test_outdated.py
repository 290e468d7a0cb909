"""Which run a recording is of, where a judge's part was recorded by `aiq rescore`: with overrides of judging only."""

import pytest

from aiq.core.errors import UserError
from aiq.experiment.outdated import recorded_plans
from aiq.experiment.plan import RunPlan

RUN = ["experiment=shallow_freshqa", "limit=2", "judge.fresheval.mode=strict", "cassette=record", "cassette.dir=x"]


def mode_of(plan: RunPlan) -> object:
    return plan.settings.judge["fresheval"].settings.mode


@pytest.mark.parametrize(
    ("judging", "mode"),
    [
        (["judge=[fresheval]", "cassette=auto"], "relaxed"),
        (["judge.fresheval.mode=relaxed"], "relaxed"),
        (["limits.run_usd=3"], "strict"),
        (["experiment=shallow_freshqa"], "relaxed"),
    ],
)
def test_a_rescored_run_is_the_agents_with_other_judging(judging: list[str], mode: str) -> None:
    plans = recorded_plans({"agent": {"overrides": RUN}, "judge": {"overrides": judging}})
    assert mode_of(plans["agent"]) == "strict"
    assert mode_of(plans["judge"]) == mode
    assert {plan.settings.cassette.mode for plan in plans.values()} == {"replay"}


def test_a_recording_without_a_run() -> None:
    assert recorded_plans({"agent": {"version": 1}, "judge": {"overrides": []}}) == {}
    with pytest.raises(UserError):
        recorded_plans({"judge": {"overrides": ["judge=[fresheval]"]}})
