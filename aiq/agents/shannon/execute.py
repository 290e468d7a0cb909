"""Stage 2, execute: subtasks by one ReAct loop, or by agents in parallel, by dependencies, or one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from aiq.agents.shannon.react import React
from aiq.agents.shannon.records import AgentResult, Subtask
from aiq.agents.shannon.rules import model_tier, route_pattern, search_line, topological_order
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.state import Pattern, ResearchState
from aiq.agents.shannon.worker import Task, Worker, call, kind_of, result_of
from aiq.agents.toolkit.subagents import as_agent
from aiq.agents.toolkit.toolset import research_tools
from aiq.core.errors import AgentError
from aiq.core.events import Decision
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call
from aiq.core.tools import Tool

Work = Callable[[Task], Awaitable[AgentResult]]


class Execute:
    def __init__(self, settings: ShannonSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        worker = Worker(prompts, settings.execution.tool_rounds)
        self._worker, self._react = worker, React(settings.execution, prompts, worker)

    async def run(self, state: ResearchState) -> dict[str, tuple[AgentResult, ...]]:
        """A result for each task, in the order of the plan. Raises AgentError for a plan that has no order."""
        pattern = self.pattern(state)
        current().events.emit(Decision(name="pattern", value=pattern, cause=f"complexity {state.plan.complexity:g}"))
        if pattern == "react":
            whole = Subtask(id="react", description=state.refined.refined_query)
            results = [await self.react(state, whole, self._settings.of("react_max_iterations"))]
        else:
            results = await self._scheduled(state, pattern)
        if self._settings.execution.force_search and not any(o.success for r in results for o in r.tool_outputs):
            results += await self._forced_search(state)
        return {"results": tuple(results)}

    async def react(self, state: ResearchState, subtask: Subtask, iterations: int) -> AgentResult:
        """One ReAct loop over a task."""
        return await self._one(self._react.work, replace(self._task(state, subtask), max_iterations=iterations))

    def pattern(self, state: ResearchState) -> Pattern:
        """How this plan is worked off: as config says, or by complexity, dependencies and strategy."""
        settings = self._settings.execution
        if settings.pattern != "auto":
            return settings.pattern
        return route_pattern(
            state.plan.complexity,
            len(state.plan.subtasks),
            bool(self._settings.react_per_task),
            self._settings.research_strategy or "",
            any(task.dependencies for task in state.plan.subtasks),
            settings.react_below,
            settings.per_task_above,
        )

    async def _scheduled(self, state: ResearchState, pattern: Pattern) -> list[AgentResult]:
        """All subtasks: each starts when its dependencies have ended, and as many at once as the pattern allows."""
        plan = state.plan.subtasks
        try:
            order = topological_order({task.id: task.dependencies for task in plan})
        except ValueError as error:
            raise AgentError(f"the plan cannot be worked off: {error}") from None
        per_task = pattern == "react_per_task"
        dependent = any(task.dependencies for task in plan)
        in_order = pattern == "sequential" or (per_task and dependent)
        tasks = [
            self._task(state, task, state.plan.persona(place), simple=not per_task) for place, task in enumerate(plan)
        ]
        work = self._react.work if per_task else self._worker.work

        async def one(task: Task) -> AgentResult:
            return await self._one(work, task)

        needs = {task.id: () if pattern == "parallel" else task.dependencies for task in plan}
        if pattern == "sequential":
            needs = {name: tuple(order[:place]) for place, name in enumerate(order)}
        at_once = 1 if in_order else self._settings.of("max_concurrent_agents")
        return await scheduled(tasks, needs, one, at_once, order)

    def _task(
        self, state: ResearchState, subtask: Subtask, persona: str = "researcher", *, simple: bool = False
    ) -> Task:
        """A subtask with what its agent may use; the one forced tool call that does it, where one is planned."""
        tools = self._tools(state, subtask)
        planned = subtask.tool_parameters
        forced = None
        if simple and not subtask.dependencies and any(tool.name == planned.get("tool") for tool in tools):
            query = {"query": subtask.description} if set(planned) == {"tool"} else {}
            forced = {**query, **planned}
        refined = state.refined
        hints = search_line(refined.exact_queries, refined.official_domains, refined.disambiguation_terms)
        return Task(
            agent_id=subtask.id,
            description=subtask.description,
            tier=model_tier(self._settings.model_tier, state.plan.complexity),
            tools=tools,
            area=subtask.parent_area,
            persona=persona,
            forced=forced,
            context={**state.context, "hints": hints, "question": state.query},
            max_iterations=self._settings.of("react_max_iterations"),
        )

    def _tools(self, state: ResearchState, subtask: Subtask) -> tuple[Tool, ...]:
        """The research tools that the plan suggests; all searches and fetches too, where research is forced."""
        tools = research_tools(state.data_sources)
        wanted = set(subtask.suggested_tools)
        return tuple(tool for tool in tools if self._settings.force_research or tool.name in wanted)

    async def _one(self, work: Work, task: Task) -> AgentResult:
        return await as_agent(task.agent_id, task.description, work(task), lambda result: result.response)

    async def _forced_search(self, state: ResearchState) -> list[AgentResult]:
        """One search for the question, where no agent has found anything."""
        task = self._task(state, Subtask(id="forced-search", description=state.refined.refined_query))
        search = next((t for t in task.tools if kind_of(t.name) == "web_search" and "query" in fields(t)), None)
        if search is None:
            return []
        current().events.emit(Decision(name="forced_search", value=search.name, cause="no tool call succeeded"))
        with nested_call(len(state.plan.subtasks), 0, None):
            output, content = await call(search, {"query": state.refined.refined_query})
        return [result_of(task, content if output.success else "", [output], None if output.success else content)]


def fields(tool: Tool) -> Mapping[str, object]:
    return tool.parameters.model_fields


async def scheduled(
    tasks: Sequence[Task],
    needs: Mapping[str, Sequence[str]],
    work: Work,
    at_once: int,
    order: Sequence[str],
) -> list[AgentResult]:
    """Results in the order of `tasks`, which start in `order`.

    A task waits for those that it needs, and takes one of `at_once` places only then. It is told the responses of
    those that succeeded; one that failed holds nothing up. `needs` has no cycle, and `order` keeps to it.
    """
    places = asyncio.Semaphore(at_once)
    by_id = {task.agent_id: task for task in tasks}
    index = {task.agent_id: number for number, task in enumerate(tasks)}
    running: dict[str, asyncio.Task[AgentResult]] = {}

    async def one(task: Task) -> AgentResult:
        before = {name: await running[name] for name in needs[task.agent_id]}
        known = {name: result.response for name, result in before.items() if result.success}
        async with places:
            with nested_call(index[task.agent_id], 0, None):
                return await work(replace(task, known=known))

    try:
        for name in order:
            running[name] = asyncio.ensure_future(one(by_id[name]))
        return [await running[task.agent_id] for task in tasks]
    finally:
        for unfinished in running.values():
            unfinished.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)
