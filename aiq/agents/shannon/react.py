"""The ReAct loop: reason about the next action, act, observe, until the task is done; then summarise."""

from dataclasses import dataclass, field, replace

from aiq.agents.shannon.calls import ask, attributed_to, or_none
from aiq.agents.shannon.records import AgentResult
from aiq.agents.shannon.rules import is_task_complete, react_should_stop, truncate_observations
from aiq.agents.shannon.settings import ExecutionSettings
from aiq.agents.shannon.worker import Task, Worker, now
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.replies import why_no_answer
from aiq.core.session import current, nested_call


@dataclass
class Loop:
    """The thoughts, actions, observations and results of one loop so far."""

    thoughts: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    results: list[AgentResult] = field(default_factory=list)


class React:
    """Serves all tasks of all samples at once."""

    def __init__(self, settings: ExecutionSettings, prompts: Prompts, worker: Worker) -> None:
        self._settings, self._prompts, self._worker = settings, prompts, worker

    async def work(self, task: Task) -> AgentResult:
        """The task's result, with the outputs of all actions; without a summary, it has the answers of the actions."""
        loop = Loop()
        with attributed_to(task.agent_id):
            for number in range(task.max_iterations):
                if spent := current().spent():
                    self._log_stop(task, number, spent)
                    break
                thought = await self._ask_model("reasoner", task, loop)
                if thought is None:
                    break
                loop.thoughts = [*loop.thoughts, thought][-self._settings.max_thoughts :]
                if is_task_complete(thought) and self._may_stop(number, loop):
                    self._log_stop(task, number, "the reasoner says so")
                    break
                with nested_call(number, 0, None):
                    await self._act(task, thought, loop)
                stop = react_should_stop(loop.observations, loop.thoughts, loop.results, number + 1)
                if stop and self._may_stop(number + 1, loop):
                    self._log_stop(task, number + 1, "observations say so")
                    break
            summary = None if current().spent() else await self._ask_model("summarizer", task, loop)
        outputs = [output for result in loop.results for output in result.tool_outputs]
        steps = tuple(result.response for result in loop.results)
        if summary and not why_no_answer(summary, current().replies):
            return task.result(summary, outputs, steps=steps)
        return task.result("\n\n".join(steps), outputs, "the loop has no summary" if summary is None else None)

    async def _act(self, task: Task, thought: str, loop: Loop) -> None:
        result = await self._worker.work(replace(task, description=self._action(task, thought, loop)))
        if result.success:
            loop.results.append(result)
        if result.success and result.response.strip():
            loop.actions = [*loop.actions, thought][-self._settings.max_actions :]
        if not result.success or result.response.strip():
            text = f"Action result: {result.response}" if result.success else f"Error: {result.error}"
            loop.observations = truncate_observations([*loop.observations, text], self._settings.max_observations)

    def _may_stop(self, iterations: int, loop: Loop) -> bool:
        has_evidence = any(output.success for result in loop.results for output in result.tool_outputs)
        return iterations >= self._settings.min_iterations and (has_evidence or not self._settings.needs_evidence)

    def _action(self, task: Task, thought: str, loop: Loop) -> str:
        """The task of one action, with advice to open pages if few have been opened."""
        tool_names = [output.tool for result in loop.results for output in result.tool_outputs if output.success]
        searches, fetches = tool_names.count("web_search"), tool_names.count("web_fetch")
        few_fetches = searches >= 3 and fetches < self._settings.fetch_share * searches
        return self._prompts.render("action.j2", task=task, thought=thought, open_pages=few_fetches)

    async def _ask_model(self, part: str, task: Task, loop: Loop) -> str | None:
        """A reasoning step, or the final summary; None if the model failed or the budget is spent."""
        visible = loop.observations[-self._settings.observation_window :] if part == "reasoner" else loop.observations
        request = self._prompts.render(
            f"{part}_request.j2",
            task=task,
            thoughts=loop.thoughts,
            actions=loop.actions,
            observations=visible,
            **now(),
        )
        system = self._prompts.render(f"{part}.j2")
        messages = [Message(role="system", content=system), Message(role="user", content=request)]
        reply = await or_none(ask(f"shannon.{task.tier}.{part}", messages), f"react_{part}")
        return None if reply is None else reply.text.strip()

    def _log_stop(self, task: Task, iterations: int, cause: str) -> None:
        detail = {"agent": task.agent_id, "iterations": iterations}
        current().events.emit(Decision(name="react_stopped", value=True, cause=cause, detail=detail))
