"""Planning policies: how a plan is corrected before it is executed (specification 4.6)."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import PlannerDecision, PlannerState, SubAgentCall

SYNTHESIZER, SCANNER, AGGREGATOR = "synthesizer", "scanner", "aggregator"
_FINAL_ACTIONS = ("complete", "synthesize")
_FORCED_BATCHES = 10


class Ruling(NamedTuple):
    """The plan to execute, and why; `scans`: the plan scans the unfetched documents."""

    decision: PlannerDecision
    cause: str
    scans: bool = False


Rule = Callable[[PlannerDecision, PlannerState], Ruling | None]


class DocumentPolicy:
    """The rules of the design document: validators and gap analyzers may run before the report. The first plan always
    has a decomposer and a first tool call."""

    def __init__(self, settings: PlannerSettings) -> None:
        self._settings = settings
        self.rules: Sequence[Rule] = (self.last_iteration, self.unfetched, self.no_material, self.ends)

    def apply(self, decision: PlannerDecision, state: PlannerState, first: PlannerDecision) -> Ruling:
        """The first rule that applies decides. `first`: the document's first step, which a first plan must include."""
        ruling = next(filter(None, (rule(decision, state) for rule in self.rules)), None)
        ruling = ruling or Ruling(decision, decision.reasoning or "as planned")
        return ruling._replace(decision=self.first_plan(ruling.decision, first)) if state.iteration == 1 else ruling

    def first_plan(self, decision: PlannerDecision, first: PlannerDecision) -> PlannerDecision:
        """The first plan with a decomposer, and with a tool call if it would fetch no data otherwise."""
        missing = tuple(call for call in first.sub_agent_calls if call.agent_name not in decision.agents)
        agent_calls = (*decision.sub_agent_calls, *missing)  # at the end, because `depends_on` counts positions
        brings_data = decision.tool_calls or {SCANNER, AGGREGATOR} & {*decision.agents}
        tool_calls = decision.tool_calls if brings_data else first.tool_calls
        return decision.model_copy(update={"sub_agent_calls": agent_calls, "tool_calls": tool_calls})

    def last_iteration(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        is_over = state.iteration > self._settings.max_iterations
        return Ruling(synthesis(), "Max iterations reached") if is_over else None

    def unfetched(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        """If some documents are not fetched, there must be a scan, planned or not."""
        if not state.needs_full_scan:
            return None
        if SCANNER in decision.agents:
            return Ruling(decision, decision.reasoning or "a scan is planned", scans=True)
        batch_size = self._settings.scanner.forced_batch_size
        scan = SubAgentCall(agent_name=SCANNER, arguments={"batch_size": batch_size, "max_batches": _FORCED_BATCHES})
        plan = PlannerDecision(sub_agent_calls=(scan, *self.after_scan(decision)))
        return Ruling(plan, f"{state.unfetched} documents are not fetched, and no scan is planned", scans=True)

    def after_scan(self, decision: PlannerDecision) -> tuple[SubAgentCall, ...]:
        """Planned calls to keep after a forced scan, since they work on what it finds."""
        calls = (call for call in decision.sub_agent_calls if call.agent_name != SYNTHESIZER)
        return tuple(call.model_copy(update={"depends_on": (0,)}) for call in calls)

    def no_material(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        """If there is nothing to write a report from yet, do not end."""
        if state.has_material or not (decision.next_action in _FINAL_ACTIONS or decision.agents == (SYNTHESIZER,)):
            return None
        calls = tuple(call for call in decision.sub_agent_calls if call.agent_name != SYNTHESIZER)
        plan = decision.model_copy(update={"sub_agent_calls": calls, "next_action": "call_sub_agents"})
        return Ruling(plan, "nothing was found yet that a report could be written from")

    def ends(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        """A plan that ends the research only writes the report."""
        only_synthesis = decision.agents == (SYNTHESIZER,) and not decision.tool_calls
        if decision.next_action in _FINAL_ACTIONS or only_synthesis:
            return Ruling(synthesis(), decision.reasoning or "the planner ends the research")
        return None


class StrictSourcePolicy(DocumentPolicy):
    """The safeguards of the original source code: the report is written as soon as there are statistics and nothing is
    left to scan, whatever was planned, and a forced scan replaces the plan."""

    def __init__(self, settings: PlannerSettings) -> None:
        super().__init__(settings)
        self.rules = (self.last_iteration, self.enough, self.unfetched, self.no_material, self.ends)

    def enough(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        is_complete = state.aggregations and not state.needs_full_scan
        if state.iteration >= 2 and is_complete and decision.next_action not in _FINAL_ACTIONS:
            return Ruling(synthesis(), "there are statistics, and no full scan is needed")
        return None

    def first_plan(self, decision: PlannerDecision, first: PlannerDecision) -> PlannerDecision:
        return decision

    def unfetched(self, decision: PlannerDecision, state: PlannerState) -> Ruling | None:
        return super().unfetched(decision, state) if state.aggregations else None

    def after_scan(self, decision: PlannerDecision) -> tuple[SubAgentCall, ...]:
        return ()


POLICIES: Mapping[str, type[DocumentPolicy]] = {"document": DocumentPolicy, "strict_source": StrictSourcePolicy}


def synthesis() -> PlannerDecision:
    """The plan that consists of one call of the synthesizer."""
    return PlannerDecision(next_action="synthesize", sub_agent_calls=(SubAgentCall(agent_name=SYNTHESIZER),))
