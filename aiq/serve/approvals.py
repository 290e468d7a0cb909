"""Plans and questions that agents put to the client of a task, and the decisions that come back."""

import asyncio
import secrets
from contextlib import suppress
from typing import Literal

from aiq.core.text import utf8_safe
from aiq.serve.errors import Refused
from aiq.serve.events import NewEvent
from aiq.serve.store import Task
from aiq.serve.streams import Streams
from aiq.serve.wire import Asked


class Approvals:
    """The pending approvals. `seconds`: how long each may wait before it is rejected or skipped."""

    def __init__(self, streams: Streams, seconds: float) -> None:
        self._streams, self._seconds = streams, seconds
        self._decisions: dict[str, asyncio.Future[str]] = {}

    async def ask(self, task: Task, kind: Literal["plan", "question"], prompt: str) -> str:
        """The answer to a plan or question, as agents expect it from their user."""
        approval = Asked(approval_id=secrets.token_hex(8), kind=kind, prompt=utf8_safe(prompt))
        decision = self._decisions[approval.approval_id] = asyncio.get_running_loop().create_future()
        payload = approval.model_dump(exclude={"prompt"})
        event = NewEvent("APPROVAL_REQUESTED", approval.prompt, payload)
        self._streams.publish(task, event, status="waiting", approval=approval)
        answer = "reject" if kind == "plan" else "skip"
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    answer = await decision
        finally:
            del self._decisions[approval.approval_id]
            if not self._streams.has_ended(task):
                event = NewEvent("APPROVAL_DECISION", answer, payload)
                self._streams.publish(task, event, status="running", approval=None)
        return answer

    def decide(self, task: Task, approval_id: str, approved: bool, feedback: str) -> None:
        """Give the answer to the agent that waits for it. Raises Refused."""
        decision = self._decisions.get(approval_id)
        if task.approval is None or task.approval.approval_id != approval_id or decision is None or decision.done():
            raise Refused(409, "not_waiting", "the task is not waiting for this approval")
        text = feedback.strip()
        if task.approval.kind == "plan":
            decision.set_result("approve" if approved else text or "reject")
        else:
            decision.set_result(text if approved and text else "skip")


class Watcher:
    """The client of a task, as its agent's user."""

    def __init__(self, approvals: Approvals, task: Task) -> None:
        self._approvals, self._task = approvals, task

    async def answer(self, question: str) -> str:
        return await self._approvals.ask(self._task, "question", question)

    async def review(self, plan: str) -> str:
        return await self._approvals.ask(self._task, "plan", plan)
