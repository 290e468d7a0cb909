"""The planner's graph: initialization, then planning, execution, accumulation and completion check until the report."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import ValidationError

from aiq.agents.planner.accumulate import accumulated, with_progress, with_total
from aiq.agents.planner.completion import after_accumulation, after_empty_plan
from aiq.agents.planner.errors import categorise, with_retries
from aiq.agents.planner.policy import POLICIES, SYNTHESIZER, Ruling, synthesis
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import (
    Arguments,
    DataCall,
    FirstPlan,
    Outcome,
    PlannerDecision,
    PlannerState,
    SubAgentCall,
    plan_form,
)
from aiq.agents.planner.subagents.base import Registry, Research
from aiq.agents.planner.tools import DataTools
from aiq.agents.toolkit.structured import StructuredCall
from aiq.agents.toolkit.subagents import as_agent, gather_ordered
from aiq.core.errors import AgentError, AiqError, LimitReached, ModelError, UserError
from aiq.core.events import Decision, Recovery, Round, StageChanged
from aiq.core.models import retrying
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call

Graph = CompiledStateGraph[PlannerState, Any, Any, Any]
Changes = dict[str, Any]


class PlannerGraph:
    """The graph, compiled once for all samples."""

    def __init__(self, settings: PlannerSettings, prompts: Prompts) -> None:
        self._settings, self._registry = settings, Registry(settings, prompts)
        self._policy = POLICIES[settings.policy](settings)
        self._prompts = prompts
        self.graph = self._compile()

    def _compile(self) -> Graph:
        graph = StateGraph(PlannerState)
        stages = (
            self.initialization,
            self.planning,
            self.execute,
            self.accumulate,
            self.check_completion,
            self.synthesis,
        )
        for position, stage in enumerate(stages):
            graph.add_node(stage.__name__, _as_node(position, stage))
        graph.add_edge(START, "initialization")
        graph.add_edge("initialization", "planning")
        graph.add_conditional_edges("planning", after_planning, ["execute", "synthesis", "check_completion"])
        graph.add_edge("execute", "accumulate")
        graph.add_edge("accumulate", "check_completion")
        graph.add_conditional_edges("check_completion", lambda state: state.route, ["planning", "synthesis", END])
        graph.add_edge("synthesis", END)
        return graph.compile(checkpointer=False)

    async def run(self, state: PlannerState) -> PlannerState:
        """The state after the research. Raises AgentError, ModelError, LimitReached, RunAborted."""
        steps = 10 + 5 * self._settings.max_iterations
        return PlannerState.model_validate(await self.graph.ainvoke(state, {"recursion_limit": steps}))

    # the stages

    async def initialization(self, state: PlannerState) -> Changes:
        """Determine the question's data tools: those that page, such as those of MCP servers, else a pool of pages."""
        tools = DataTools.discover(self._settings, state.data_sources)
        current().events.emit(Decision(name="tools", value=list(tools.names), cause="pool" if tools.pool else ""))
        return {"tools": tools}

    async def planning(self, state: PlannerState) -> Changes:
        """The next plan, corrected by the policy; if the model fails, a report on what was found so far."""
        state = state.model_copy(update={"iteration": state.iteration + 1})
        error = ""
        try:
            plan = self._normalised(await self._ask_for_plan(state))
            ruling = self._policy.apply(plan, state, self._first_step(state))
        except (AgentError, ModelError) as failure:
            if isinstance(failure, ModelError) and failure.never_answered:
                raise
            error = f"the planner failed: {failure}"
            ruling = Ruling(synthesis(), error)
        decision, cause = ruling.decision, ruling.cause
        value = [*decision.agents, *(call.tool for call in decision.tool_calls)]
        detail = {"iteration": state.iteration, "next_action": decision.next_action}
        current().events.emit(Decision(name="plan", value=value, cause=cause, detail=detail))
        scan = {"needs_full_scan": False} if ruling.scans else {}
        return {
            "iteration": state.iteration,
            "decision": decision,
            "outcomes": (),
            "error": error,
            "why": cause,
            **scan,
        }

    async def execute(self, state: PlannerState) -> Changes:
        """Run sub-agents and tools concurrently, within the limit; then calls that depend on others, in order."""
        turn, decision = state.iteration, state.decision
        calls = list(enumerate(decision.sub_agent_calls))
        later = [(i, call) for i, call in calls if _must_wait(i, call, len(calls))]
        works: dict[int, Callable[[], Awaitable[Outcome]]] = {
            i: partial(self._call_agent, call, state) for i, call in calls if (i, call) not in later
        }
        works |= {len(calls) + n: partial(self._call_tool, call, state) for n, call in enumerate(decision.tool_calls)}
        results = await gather_ordered(list(works.values()), self._settings.calls.at_once, 1)
        outcomes = dict(zip(works, results, strict=True))
        for number, (i, call) in enumerate(later, start=2):
            interim = accumulated(state, [outcomes[key] for key in sorted(outcomes)], self._registry)
            if call.agent_name == SYNTHESIZER and not interim.has_material:
                continue
            with nested_call(number, turn, None):
                outcomes[i] = await self._call_agent(call, interim)
        return {"outcomes": tuple(outcomes[i] for i in sorted(outcomes))}

    async def accumulate(self, state: PlannerState) -> Changes:
        """Merge the results of sub-agents and tools, without duplicate documents and claims."""
        after = accumulated(state, state.outcomes, self._registry)
        if state.tools.pool is not None:
            size = await state.tools.pool.grow(pool_queries(after))
            after = after.model_copy(update=with_total(after, after.documents, size))
        after = with_progress(state, after, self._registry)
        known_keys = {document.key for document in state.documents}
        queries = [json.dumps(o.arguments, ensure_ascii=False) for o in state.outcomes if o.is_tool]
        current().events.emit(
            Round(
                number=state.iteration,
                queries=tuple(queries),
                new_sources=tuple(d.address for d in after.documents if d.key not in known_keys),
                gaps=tuple(gap.gap_description for gap in after.gaps),
            )
        )
        return {name: getattr(after, name) for name in PlannerState.model_fields if name != "outcomes"}

    async def check_completion(self, state: PlannerState) -> Changes:
        """Decide whether the report is due, after results or after a plan without calls."""
        rule = after_empty_plan if state.decision.is_empty else after_accumulation
        route, cause = rule(state, self._settings)
        if route == "planning" and (spent := current().spent()):
            route, cause = "synthesis", spent
        current().events.emit(Decision(name="completion", value=route, cause=cause))
        return {"route": route, "why": cause}

    async def synthesis(self, state: PlannerState) -> Changes:
        """Write the report. After the completion check, this counts as an iteration, planned as the synthesizer alone.

        Raises AgentError if there are tools but none has found anything, unless a limit cut the research short.
        """
        if state.tools.names and not state.has_material and not current().stop_reason:
            reason = next((outcome.error for outcome in state.outcomes if outcome.failed), state.why)
            raise AgentError(f"nothing was found that a report could be written from: {reason}")
        if state.decision.agents != (SYNTHESIZER,) and state.iteration < self._settings.max_iterations:
            state = state.model_copy(update={"iteration": state.iteration + 1})
        agent = self._registry.get(SYNTHESIZER)
        arguments = next((c.arguments for c in state.decision.sub_agent_calls if c.agent_name == SYNTHESIZER), {})
        output = await self._run_agent(agent.name, agent.completed(arguments, state), state)
        return {"iteration": state.iteration, **agent.accumulate(state, output, {})}

    # parts of the stages

    async def _ask_for_plan(self, state: PlannerState) -> PlannerDecision:
        """The model's plan. Raises AgentError, ModelError, LimitReached."""
        form = plan_form(
            FirstPlan if state.iteration == 1 else PlannerDecision, self._registry.names, state.tools.names
        )
        options = {"seconds": self._settings.calls.timeout_seconds}
        call = StructuredCall("planner.planner", form, self._prompts, "planner", options, repair="repair.j2")
        with retrying(self._settings.calls.retries):
            plan = await call.ask(
                state=state,
                max_iterations=self._settings.max_iterations,
                sub_agents=self._registry.listing(),
                tools=state.tools.listing(),
            )
        if plan is None:
            raise AgentError("no reply, repaired or not, is a plan")
        fields = plan.model_dump()
        return PlannerDecision.model_validate({"reasoning": fields.get("strategy", "")} | fields)

    def _normalised(self, decision: PlannerDecision) -> PlannerDecision:
        """The plan with only the arguments that sub-agents accept, and without duplicate calls."""
        calls = [
            call.model_copy(update={"arguments": self._registry.get(call.agent_name).allowed_arguments(call.arguments)})
            for call in decision.sub_agent_calls
        ]
        keys = [json.dumps([call.agent_name, call.arguments], sort_keys=True) for call in calls]
        positions = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        by_key = dict(zip(reversed(keys), reversed(calls), strict=True))  # keeps the first of equal calls
        for key, call in by_key.items():
            needs = tuple(positions[keys[n]] for n in call.depends_on if 0 <= n < len(keys))
            by_key[key] = call.model_copy(update={"depends_on": needs})
        data_calls = {json.dumps([call.tool, call.arguments], sort_keys=True): call for call in decision.tool_calls}
        update = {"sub_agent_calls": tuple(by_key[key] for key in positions), "tool_calls": tuple(data_calls.values())}
        return decision.model_copy(update=update)

    def _first_step(self, state: PlannerState) -> PlannerDecision:
        """The decomposer, and a first call of the first tool; a pool searches for the question."""
        arguments = {"query": state.query} if state.tools.pool is not None else {}
        calls = tuple(DataCall(tool=name, arguments=arguments) for name in state.tools.names[:1])
        return PlannerDecision(sub_agent_calls=(SubAgentCall(agent_name="decomposer"),), tool_calls=calls)

    async def _call_agent(self, call: SubAgentCall, state: PlannerState) -> Outcome:
        async def work() -> Outcome:
            if call.agent_name != SYNTHESIZER and (spent := current().spent()):
                raise AgentError(spent)
            agent = self._registry.get(call.agent_name)
            arguments = agent.completed(call.arguments, state)
            output = await self._run_agent(agent.name, arguments, state)
            return Outcome(name=agent.name, arguments=call.arguments, output=output)

        return await _outcome_of(call.agent_name, work())

    async def _run_agent(self, name: str, arguments: Arguments, state: PlannerState) -> Any:
        """The sub-agent's output, with retries, between the events of its start and end."""
        agent, research = self._registry.get(name), Research(state.tools, state)

        async def attempt(args: Arguments) -> Any:
            return await agent.run(args, research)

        work = with_retries(name, attempt, arguments, agent.floors, self._settings.calls)
        return await as_agent(name, state.query, work, lambda output: str(output.model_dump_json(exclude={"sources"})))

    async def _call_tool(self, call: DataCall, state: PlannerState) -> Outcome:
        async def work() -> Outcome:
            page, arguments = await state.tools.call_matching(call.tool, call.arguments)
            return Outcome(name=call.tool, is_tool=True, arguments=arguments, output=page)

        return await _outcome_of(call.tool, work(), is_tool=True)


def after_planning(state: PlannerState) -> str:
    """A plan of the synthesizer alone leads to the report, an empty one to the completion check."""
    if state.decision.agents == (SYNTHESIZER,) and not state.decision.tool_calls:
        return "synthesis"
    return "check_completion" if state.decision.is_empty else "execute"


def pool_queries(state: PlannerState) -> list[str]:
    """Queries for the pool: the sub-questions, then gaps of high importance."""
    gaps = [gap for gap in state.gaps if gap.importance == "high"]
    gap_queries = [str(gap.suggested_params.get("query") or gap.gap_description) for gap in gaps]
    return [*(question.question for question in state.sub_questions), *gap_queries]


def _must_wait(position: int, call: SubAgentCall, count: int) -> bool:
    """Whether a call must run after the others: it depends on one of them, or it writes the report."""
    is_dependent = any(0 <= dependency < count and dependency != position for dependency in call.depends_on)
    return is_dependent or call.agent_name == SYNTHESIZER


async def _outcome_of(name: str, work: Awaitable[Outcome], *, is_tool: bool = False) -> Outcome:
    """The outcome of a call; a failure is logged with its category and changes nothing."""
    try:
        return await work
    except (LimitReached, UserError):
        raise
    except (AiqError, ValidationError, TimeoutError, OSError) as error:
        if isinstance(error, ModelError) and error.never_answered:
            raise
        category = categorise(error)
        current().events.emit(Recovery(what=category, detail=f"{name}: {error}"))
        return Outcome(name=name, is_tool=is_tool, error=f"{category}: {error}")


def _as_node(position: int, stage: Callable[[PlannerState], Awaitable[Changes]]) -> Any:
    """A stage as a node that emits its event; sources are numbered in the order of iterations and stages."""

    async def node(state: PlannerState) -> Changes:
        current().events.emit(StageChanged(stage=stage.__name__))
        with nested_call(state.iteration, position, None):
            return await stage(state)

    return node
