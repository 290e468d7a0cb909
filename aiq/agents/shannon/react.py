"""The ReAct loop: reason about the next action, act, observe, until the task is done; then sum up."""

from dataclasses import replace

from aiq.agents.shannon.calls import BudgetSpent, ask, working_as
from aiq.agents.shannon.records import AgentResult
from aiq.agents.shannon.rules import is_task_complete, react_should_stop, truncate_observations
from aiq.agents.shannon.settings import ExecutionSettings
from aiq.agents.shannon.worker import Task, Worker, now, result_of
from aiq.core.errors import ModelError
from aiq.core.events import Decision, Recovery
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current, nested_call


class React:
    """Serves all tasks of all samples at once."""

    def __init__(self, settings: ExecutionSettings, prompts: Prompts, worker: Worker) -> None:
        self._settings, self._prompts, self._worker = settings, prompts, worker

    async def work(self, task: Task) -> AgentResult:
        """What came of the task, with the outputs of all actions. A loop that cannot sum up is a failed result."""
        thoughts: list[str] = []
        actions: list[str] = []
        observations: list[str] = []
        results: list[AgentResult] = []
        for number in range(task.max_iterations):
            thought = await self._say("reasoner", task, thoughts, actions, observations)
            if thought is None:
                break
            thoughts = [*thoughts, thought][-self._settings.max_thoughts :]
            if is_task_complete(thought) and self._may_stop(number, results):
                self._ended(task, number, "the reasoner says so")
                break
            with nested_call(number, 0, None):
                found = await self._worker.work(replace(task, description=self._action(task, thought, results)))
            if found.success:
                results.append(found)
            if found.success and found.response.strip():
                actions = [*actions, thought][-self._settings.max_actions :]
            if not found.success or found.response.strip():
                said = f"Action result: {found.response}" if found.success else f"Error: {found.error}"
                observations = truncate_observations([*observations, said], self._settings.max_observations)
            stop = react_should_stop(observations, thoughts, results, number + 1)
            if stop and self._may_stop(number + 1, results):
                self._ended(task, number + 1, "observations say so")
                break
        final = await self._say("summarizer", task, thoughts, actions, observations)
        outputs = [output for result in results for output in result.tool_outputs]
        if final is None:
            return result_of(task, "", outputs, "the loop ended without a summary")
        return result_of(task, final, outputs)

    def _may_stop(self, iterations: int, results: list[AgentResult]) -> bool:
        brought = any(output.success for result in results for output in result.tool_outputs)
        return iterations >= self._settings.min_iterations and (brought or not self._settings.needs_evidence)

    def _action(self, task: Task, thought: str, results: list[AgentResult]) -> str:
        """The task of one action, with the hints of refinement and, where it is set, the advice to open pages."""
        made = [output.tool for result in results for output in result.tool_outputs if output.success]
        searches, fetches = made.count("web_search"), made.count("web_fetch")
        few = searches >= 3 and fetches < self._settings.fetch_share * searches
        return self._prompts.render("action.j2", task=task, thought=thought, open_pages=few)

    async def _say(
        self, part: str, task: Task, thoughts: list[str], actions: list[str], observations: list[str]
    ) -> str | None:
        """A reasoning step, or the summary at the end; None where the model failed or the budget is spent."""
        shown = observations[-self._settings.observation_window :] if part == "reasoner" else observations
        request = self._prompts.render(
            f"{part}_request.j2", task=task, thoughts=thoughts, actions=actions, observations=shown, **now()
        )
        system = self._prompts.render(f"{part}.j2")
        messages = [Message(role="system", content=system), Message(role="user", content=request)]
        try:
            with working_as(task.agent_id):
                return (await ask(f"shannon.{task.tier}.{part}", messages)).text
        except (ModelError, BudgetSpent) as error:
            if isinstance(error, ModelError) and error.never_answered:
                raise
            current().events.emit(Recovery(what=f"react_{part}", detail=str(error)))
            return None

    def _ended(self, task: Task, iterations: int, cause: str) -> None:
        detail = {"agent": task.agent_id, "iterations": iterations}
        current().events.emit(Decision(name="react_stopped", value=True, cause=cause, detail=detail))
