"""What each stage of an attempt cost."""

from importlib import resources

from aiq.agents.ai_q.agent import STAGES, by_stage
from aiq.core.usage import Usage, UsageLedger

PRICED = Usage(calls=1, input_tokens=100, output_tokens=10, cost_usd=0.5)


def test_every_role_of_ai_q_has_its_stage() -> None:
    prompts = {path.name.removesuffix(".j2") for path in (resources.files("aiq.agents.ai_q") / "prompts").iterdir()}
    roles = {name for name in prompts if not name.endswith(("_request", "_repair"))}
    assert {f"aiq.{role}" for role in roles} == {role for role in STAGES if role.startswith("aiq.")}


def test_roles_of_a_stage_are_summed_and_unknown_ones_are_other() -> None:
    ledger = UsageLedger()
    for role in ("aiq.planner", "aiq.researcher", "aiq.researcher", "aiq.shallow_researcher", "my.tool"):
        ledger.record(role, PRICED)
    stages = {name: Usage.model_validate(usage) for name, usage in by_stage(ledger).items()}
    assert {name: (usage.calls, usage.total_tokens, usage.cost_usd) for name, usage in stages.items()} == {
        "deep": (3, 330, 1.5),
        "shallow": (1, 110, 0.5),
        "other": (1, 110, 0.5),
    }


def test_a_call_without_a_price_leaves_its_stage_without_one() -> None:
    ledger = UsageLedger()
    ledger.record("aiq.planner", PRICED)
    ledger.record("aiq.researcher", PRICED.model_copy(update={"cost_usd": None}))
    ledger.record("aiq.shallow_researcher", PRICED)
    stages = {name: Usage.model_validate(usage) for name, usage in by_stage(ledger).items()}
    assert (stages["deep"].cost_usd, stages["shallow"].cost_usd) == (None, 0.5)
