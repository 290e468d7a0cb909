"""Model calls of the stages and their books: one record a call, under its agent's name; totals are sums of records."""

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import JsonValue

from aiq.agents.shannon.rules import estimate_tokens
from aiq.core.base import Record
from aiq.core.concurrency import holding
from aiq.core.errors import AgentError, ModelError
from aiq.core.events import Decision, Recovery
from aiq.core.models import Message, Reply
from aiq.core.session import Session, current
from aiq.core.usage import Usage

T = TypeVar("T")


class BudgetSpent(AgentError):
    """An agent has used the tokens of `budget_agent_max`: it ends with what it has."""


class CallRecord(Record):
    """One model call, or one tool call that no model was asked for (`tool`). `step` numbers it within its agent."""

    agent_id: str
    step: int
    role: str = ""
    tool: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass
class Books:
    """The records of one research. `budget`: tokens that each agent may use, None for no limit."""

    budget: int | None
    records: list[CallRecord] = field(default_factory=list)

    def add(self, agent_id: str, **what: Any) -> None:
        step = 1 + sum(record.agent_id == agent_id for record in self.records)
        self.records.append(CallRecord(agent_id=agent_id, step=step, **what))

    def left(self, agent_id: str, messages: Sequence[Message]) -> int | None:
        """Tokens that the reply may have, None for any number. Raises BudgetSpent where there are none."""
        if self.budget is None:
            return None
        used = sum(record.tokens for record in self.records if record.agent_id == agent_id)
        left = self.budget - used - estimate_tokens([message.content for message in messages])
        if left <= 0:
            raise BudgetSpent(f"agent.budget_agent_max={self.budget}: {agent_id} has used {used} tokens")
        return left

    def summary(self, session: Session, before: Usage) -> dict[str, JsonValue]:
        """The records, and whether they add up to what the session has booked since `before`; logged either way.

        Only sends that failed may make a difference: the session books what an endpoint reports of them.
        """
        booked = session.usage.total().total_tokens - before.total_tokens
        recorded = sum(record.tokens for record in self.records)
        cause = "" if recorded == booked else f"{recorded} tokens are recorded, {booked} booked"
        session.events.emit(Decision(name="tokens_add_up", value=recorded == booked, cause=cause))
        return {
            "records": [record.model_dump(mode="json", exclude_defaults=True) for record in self.records],
            "tokens": recorded,
        }


_books: ContextVar[Books] = ContextVar("shannon_books")
_agent: ContextVar[str] = ContextVar("shannon_agent", default="")


@contextmanager
def bookkeeping(budget: int | None) -> Iterator[Books]:
    """The books in which calls made inside are entered."""
    with holding(_books, Books(budget)) as books:
        yield books


def books() -> Books:
    """Those of the running research."""
    return _books.get()


def working_as(agent_id: str) -> AbstractContextManager[str]:
    """Model calls made inside are this agent's."""
    return holding(_agent, agent_id)


def working_agent() -> str:
    return _agent.get()


async def ask(role: str, messages: Sequence[Message], **options: Any) -> Reply:
    """As `Models.complete`, within the agent's budget and with a record. Raises BudgetSpent beside its errors."""
    left = books().left(_agent.get(), messages)
    if left is not None:
        options["max_tokens"] = min(left, options.get("max_tokens") or left)
    reply = await current().models.complete(role, messages, **options)
    usage = reply.usage
    books().add(
        _agent.get(),
        role=role,
        model=reply.model,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
    )
    return reply


async def or_none(work: Awaitable[T], what: str) -> T | None:
    """The result, or None where an agent or the endpoint failed at it: then the stage goes on without, and says so.

    A set-up that has never worked ends the run all the same, as do limits.
    """
    try:
        return await work
    except (AgentError, ModelError) as error:
        if isinstance(error, ModelError) and error.never_answered:
            raise
        current().events.emit(Recovery(what=what, detail=str(error)))
        return None
