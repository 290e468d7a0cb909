"""What each stage of an attempt cost, from the attempt's usage by role: `extras["stages"]` of a report."""

from pydantic import JsonValue

from aiq.core.usage import Usage, UsageLedger

STAGES = {
    "aiq.intent_classifier": "shallow",
    "aiq.shallow_researcher": "shallow",
    "aiq.escalation": "escalation",
    "aiq.clarifier": "deep",
    "aiq.clarifier_planner": "deep",
    "user.simulated": "deep",
    "aiq.orchestrator": "deep",
    "aiq.planner": "deep",
    "aiq.researcher": "deep",
}
"""The stage that a role's calls belong to.

`shallow` is what an answer costs that stops before deep research, `escalation` what deciding about it costs, and
`deep` all that going on brings, questions to the user and the plan included. Any other role is `other`.
"""


def by_stage(ledger: UsageLedger) -> dict[str, JsonValue]:
    """Usage of each stage that made a call, as `core.usage.Usage` has it (tokens as reported, US dollars)."""
    stages: dict[str, Usage] = {}
    for role, usage in ledger.by_role().items():
        stage = STAGES.get(role, "other")
        stages[stage] = stages.get(stage, Usage()) + usage
    return {stage: usage.model_dump(mode="json") for stage, usage in stages.items()}
