"""What attempts of AI-Q recorded about their stages, and how other escalation settings would have decided on them.

Deep research sees the question and the plan, not the shallow answer, so its report fits whichever policy escalates.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pydantic import JsonValue

from aiq.agents.ai_q.escalation import Assessment, Escalation
from aiq.agents.base import Recorded, Redecided
from aiq.core.reports import Report
from aiq.core.usage import Usage

STAGES = {
    **dict.fromkeys(("aiq.intent_classifier", "aiq.shallow_researcher"), "shallow"),
    "aiq.escalation": "escalation",
    **dict.fromkeys(("aiq.clarifier", "aiq.clarifier_planner", "user.simulated"), "deep"),
    **dict.fromkeys(("aiq.orchestrator", "aiq.planner", "aiq.researcher"), "deep"),
}
"""The stage that a role's calls belong to: `deep` is the whole cost of escalating, questions and plan included."""

DEEP = ("escalated", "deep")
"""Routes that end in a deep research report."""

_UNASSESSED = "no run has the model's assessment of this answer; add one made with agent.escalation.policy=assessed"
_NO_ANSWER = "the run did not record the shallow answer"


def usage_by_stage(usage: Mapping[str, Usage]) -> dict[str, JsonValue]:
    """Usage of each stage that made a call, in the fields of `core.usage.Usage` (tokens as reported, US dollars)."""
    stages: dict[str, Usage] = defaultdict(Usage)
    for role, amount in usage.items():
        stages[STAGES.get(role, "other")] += amount
    return {stage: asdict(amount) for stage, amount in stages.items()}


def redecided(escalation: Escalation, attempts: Sequence[Recorded]) -> Redecided | str:
    """How the first attempt would have gone with these settings, or why that cannot be known."""
    first = attempts[0]
    if first.report.route not in ("shallow", "escalated") or _record(first).get("cause") == "no research tool":
        return Redecided(0, first.report, first.usage)
    if (answer := _shallow_answer(first)) is None:
        return _NO_ANSWER
    verdict, basis = escalation.decide_without_model(answer), None
    if verdict is None:
        basis = next(
            (r for r in attempts if _record(r).get("policy") == "assessed" and _shallow_answer(r) == answer), None
        )
        if basis is None:
            return _UNASSESSED
        taken, cause = _record(basis)["taken"], str(_record(basis)["cause"])
        verdict = Assessment(bool(taken), cause) if cause.startswith("assessed:") else escalation.if_unparsed(answer)
    routes = DEEP if verdict.escalate else ("shallow",)
    candidates = [branch for branch, r in enumerate(attempts) if r.report.route in routes]
    branch = min(candidates, key=lambda branch: _shallow_answer(attempts[branch]) != answer, default=None)
    usage = _stage_usage(first, "shallow") | (_stage_usage(basis, "escalation") if basis else {})
    route = "escalated" if verdict.escalate else "shallow"
    report = Report(text="", raw_text="", route=route)
    if branch is not None:
        report = attempts[branch].report
        usage |= _stage_usage(attempts[branch], "deep", "other") if verdict.escalate else {}
    extras: dict[str, JsonValue] = {"escalation": escalation.recorded(verdict, answer), "stages": usage_by_stage(usage)}
    update = {"route": route, "extras": {**report.extras, **extras}}
    return Redecided(branch, report.model_copy(update=update), usage)


def _record(attempt: Recorded) -> Mapping[str, JsonValue]:
    """What the report records about the escalation; empty if there was nothing to decide."""
    record = attempt.report.extras.get("escalation")
    return record if isinstance(record, Mapping) else {}


def _shallow_answer(attempt: Recorded) -> str | None:
    """The answer that was decided on: the report itself, else that in its extras, in older runs the last reply."""
    if attempt.report.route == "shallow":
        return attempt.report.raw_text
    if (answer := _record(attempt).get("answer")) is not None:
        return str(answer)
    replies = [event["reply"] for event in attempt.events() if event.get("role") == "aiq.shallow_researcher"]
    answers = [reply["content"] for reply in replies if isinstance(reply, Mapping) and not reply.get("tool_calls")]
    return str(answers[-1] or "") if answers else None


def _stage_usage(attempt: Recorded, *stages: str) -> dict[str, Usage]:
    return {role: amount for role, amount in attempt.usage.items() if STAGES.get(role, "other") in stages}
