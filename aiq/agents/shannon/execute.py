"""Stage 2, execute: run the subtasks in one ReAct loop, or by agents: in parallel, by dependencies, or one by one."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from aiq.agents.shannon.react import React
from aiq.agents.shannon.records import AgentResult, ResearchState, Subtask
from aiq.agents.shannon.rules import agent_role, model_tier, route_pattern, search_line, topological_order
from aiq.agents.shannon.settings import Pattern, ShannonSettings
from aiq.agents.shannon.worker import Task, Worker
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
        self._settings = settings
        self._worker = Worker(prompts, settings.execution.tool_rounds)
        self._react = React(settings.execution, prompts, self._worker)

    async def run(self, state: ResearchState) -> dict[str, tuple[AgentResult, ...]]:
        """A result for each task, in the order of the plan. Raises AgentError if dependencies are unknown or cyclic."""
        pattern = self._pattern(state)
        current().events.emit(Decision(name="pattern", value=pattern, cause=f"complexity {state.plan.complexity:g}"))
        whole_task = Subtask(id="whole", description=state.refined.refined_query)
        if pattern == "react":
            results = [await self.react(state, whole_task, self._settings.of("react_max_iterations"))]
        else:
            results = await self._run_subtasks(state, pattern, state.plan.subtasks or (whole_task,))
        if self._settings.execution.force_search and not any(o.success for r in results for o in r.tool_outputs):
            results += await self._forced_search(state, whole_task)
        return {"results": tuple(results)}

    async def react(self, state: ResearchState, subtask: Subtask, iterations: int) -> AgentResult:
        """One ReAct loop over a task."""
        return await as_reported(self._react.work, replace(self._task(state, subtask), max_iterations=iterations))

    def _pattern(self, state: ResearchState) -> Pattern:
        """How to run this plan: as configured, or by complexity, dependencies and strategy."""
        settings = self._settings.execution
        if settings.pattern != "auto":
            return settings.pattern
        return route_pattern(
            state.plan.complexity,
            state.plan.subtasks,
            bool(self._settings.react_per_task),
            self._settings.research_strategy or "",
            react_below=settings.react_below,
            per_task_above=settings.per_task_above,
        )

    async def _run_subtasks(self, state: ResearchState, pattern: Pattern, plan: Sequence[Subtask]) -> list[AgentResult]:
        """Run all subtasks: each starts once its dependencies have ended; the pattern limits how many run at once."""
        if pattern == "parallel":
            plan = [task.model_copy(update={"dependencies": ()}) for task in plan]
        try:
            order = topological_order(plan)
        except ValueError as error:
            raise AgentError(f"the plan cannot be executed: {error}") from None
        needs, per_task = {task.id: task.dependencies for task in plan}, pattern == "react_per_task"
        is_sequential = pattern == "sequential" or (per_task and any(needs.values()))
        if pattern == "sequential":
            needs = {task_id: tuple(order[:index]) for index, task_id in enumerate(order)}
        tasks = [
            self._task(state, task, agent_role(state.plan.agent_types, index), simple=not per_task)
            for index, task in enumerate(plan)
        ]
        at_once = 1 if is_sequential else self._settings.of("max_concurrent_agents")
        return await scheduled(tasks, needs, self._react.work if per_task else self._worker.work, at_once, order)

    def _task(
        self, state: ResearchState, subtask: Subtask, persona: str = "researcher", *, simple: bool = False
    ) -> Task:
        """A subtask with its agent's tools. Loops have all research tools. A `simple` task has those that the plan
        suggests, or all with `force_research`; if the plan has a search for it, that is run instead of a model."""
        tools, refined = research_tools(state.data_sources), state.refined
        if simple and not self._settings.force_research:
            tools = tuple(tool for tool in tools if tool.name in subtask.suggested_tools)
        parameters = subtask.tool_parameters if simple and subtask.task_type != "synthesis" else {}
        tool = next((tool for tool in tools if tool.name == parameters.get("tool") and searches(tool)), None)
        hints = search_line(refined.exact_queries, refined.official_domains, refined.disambiguation_terms)
        return Task(
            agent_id=subtask.id,
            description=subtask.description,
            tier=model_tier(self._settings.model_tier, state.plan.complexity),
            tools=tools,
            area=subtask.parent_area,
            persona=persona,
            forced=None
            if tool is None
            else (tool, str(parameters.get("query") or subtask.description.partition("\n")[0])),
            context={**state.context, "hints": hints},
            max_iterations=self._settings.of("react_max_iterations"),
        )

    async def _forced_search(self, state: ResearchState, whole_task: Subtask) -> list[AgentResult]:
        """One search for the question, because no agent has found anything."""
        search = next(filter(searches, research_tools(state.data_sources)), None)
        if search is None:
            return []
        current().events.emit(Decision(name="forced_search", value=search.name, cause="no tool call succeeded"))
        task = replace(self._task(state, whole_task), agent_id="forced-search", forced=(search, whole_task.description))
        with nested_call(len(state.plan.subtasks) + 1, 0, None):
            return [await as_reported(self._worker.work, task)]


async def as_reported(work: Work, task: Task) -> AgentResult:
    """Work on a task, between the events of its start and end."""
    return await as_agent(task.agent_id, task.description, work(task), lambda result: result.response)


def searches(tool: Tool) -> bool:
    """Whether `query` is the tool's only required argument."""
    required = [name for name, field in tool.parameters.model_fields.items() if field.is_required()]
    return required == ["query"]


async def scheduled(
    tasks: Sequence[Task],
    needs: Mapping[str, Sequence[str]],
    work: Work,
    at_once: int,
    order: Sequence[str],
) -> list[AgentResult]:
    """Run tasks, which start in `order`; their results, in the order of `tasks`.

    A task waits for those it needs before it takes one of the `at_once` places, and is given their answers; a failed
    one blocks nothing. `needs` must have no cycle, and `order` must respect it. The first exception cancels the rest.
    """
    semaphore = asyncio.Semaphore(at_once)
    by_id = {task.agent_id: (index, task) for index, task in enumerate(tasks)}
    running: dict[str, asyncio.Task[AgentResult]] = {}

    async def run(task_id: str) -> AgentResult:
        index, task = by_id[task_id]
        results = {need: await running[need] for need in needs[task_id]}
        answers = {need: result.response if result.success else "This task failed." for need, result in results.items()}
        async with semaphore:
            with nested_call(index, 0, None):
                return await as_reported(work, replace(task, known=answers))

    try:
        for task_id in order:
            running[task_id] = asyncio.ensure_future(run(task_id))
        return await asyncio.gather(*(running[task.agent_id] for task in tasks))
    finally:
        for future in running.values():
            future.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)
