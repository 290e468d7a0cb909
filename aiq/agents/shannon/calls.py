"""Model calls of the stages, and their accounting: a record for each exchange with a model, under its agent's name.

Exchanges are recorded where the run accounts for them, so that repairs, failed sends and embeddings are included;
totals are sums of the records.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from pydantic import JsonValue

from aiq.agents.shannon.rules import estimate_tokens
from aiq.core.base import Record
from aiq.core.concurrency import binding
from aiq.core.errors import AgentError, ModelError
from aiq.core.events import Decision, Recovery
from aiq.core.models import Message, Reply
from aiq.core.session import Session, current
from aiq.core.usage import Usage, account

T = TypeVar("T")


class BudgetSpent(AgentError):
    """An agent has used up `budget_agent_max`: it ends with what it has."""


class CallRecord(Record):
    """One exchange with a model, or one tool call without a model (`tool`): step `step` of its agent."""

    agent_id: str
    step: int
    role: str = ""
    tool: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class CallLedger:
    """The records of one research. `budget`: tokens per agent; `zero_tokens`: record tool calls without a model too."""

    def __init__(self, session: Session, budget: int | None = None, *, zero_tokens: bool = False) -> None:
        self._session, self._budget, self._zero_tokens = session, budget, zero_tokens
        self._tokens_before = session.usage.total().total_tokens
        self._steps: Counter[str] = Counter()
        self.records: list[CallRecord] = []

    def record(self, role: str, usage: Usage) -> None:
        """Record an exchange, unless it was refused before the model saw it."""
        if usage.total_tokens or usage.unreported_calls:
            tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            self._add(role=role, **tokens, cost_usd=usage.cost_usd)

    def record_tool(self, tool: str) -> None:
        """Record a tool call without a model, with no tokens; only with `zero_tokens`."""
        if self._zero_tokens:
            self._add(tool=tool)

    def _add(self, **fields: Any) -> None:
        agent = _agent.get()
        self._steps[agent] += 1
        self.records.append(CallRecord(agent_id=agent, step=self._steps[agent], **fields))

    def reply_limit(self, messages: Sequence[Message], tools: Sequence[Any] = ()) -> int | None:
        """Token limit of the working agent's next reply; None if there is none. Raises BudgetSpent if none are left."""
        if self._budget is None:
            return None
        used = sum(record.tokens for record in self.records if record.agent_id == _agent.get())
        texts = [message.content for message in messages]
        texts += [call.arguments for message in messages for call in message.tool_calls]
        needed = estimate_tokens([*texts, *map(json.dumps, tools)])
        if used + needed >= self._budget:
            reason = f"{_agent.get()} has used {used} tokens, and its next request takes about {needed}"
            raise BudgetSpent(f"agent.budget_agent_max={self._budget}: {reason}")
        return self._budget - used - needed

    @property
    def tokens(self) -> int:
        return sum(record.tokens for record in self.records)

    def close(self) -> None:
        """Log whether the tokens of the records equal the session's own count."""
        recorded, booked = self.tokens, self._session.usage.total().total_tokens - self._tokens_before
        cause = "" if recorded == booked else f"{recorded} tokens are recorded, {booked} booked"
        self._session.events.emit(Decision(name="tokens_add_up", value=recorded == booked, cause=cause))

    def summary(self) -> dict[str, JsonValue]:
        """The records by agent and step, and the total of their tokens."""
        records = sorted(self.records, key=lambda record: (record.agent_id, record.step))
        return {
            "records": [record.model_dump(mode="json", exclude_defaults=True) for record in records],
            "tokens": self.tokens,
        }


_agent: ContextVar[str] = ContextVar("shannon_agent", default="")
_ledger: ContextVar[CallLedger] = ContextVar("shannon_ledger")


@contextmanager
def use_ledger(ledger: CallLedger) -> Iterator[CallLedger]:
    """Enter all model calls made inside in this ledger, and close it at the end, also after an exception."""
    with binding(_ledger, ledger), binding(account, ledger), closing(ledger):
        yield ledger


def current_ledger() -> CallLedger:
    """The ledger of the running research."""
    return _ledger.get()


def attributed_to(agent_id: str) -> AbstractContextManager[str]:
    """Attribute model calls made inside to this agent."""
    return binding(_agent, agent_id)


async def ask(role: str, messages: Sequence[Message], **options: Any) -> Reply:
    """Like `Models.complete`, within the limits of role and agent. Also raises BudgetSpent."""
    available = current_ledger().reply_limit(messages, options.get("tools", ()))
    limit = options.pop("max_tokens", None) or available
    if limit:
        options["max_tokens"] = min(effective_limit(role, limit), available or limit)
    return await current().models.complete(role, messages, **options)


def effective_limit(role: str, max_tokens: int) -> int:
    """The token limit of a reply: `max_tokens`, or less if the role's configured limit is lower."""
    role_limit = current().models.setup(role).get("max_tokens")
    return min(max_tokens, role_limit) if isinstance(role_limit, int) else max_tokens


async def or_none(work: Awaitable[T], what: str, agent_id: str = "") -> T | None:
    """The result, or None if an agent or the endpoint failed: the failure is logged, and the stage goes on without it.

    Model calls are attributed to `agent_id`, or else to the agent already at work.
    """
    try:
        with attributed_to(agent_id or _agent.get()):
            return await work
    except (AgentError, ModelError) as error:
        log_failure(error, what)
        return None


def log_failure(error: AgentError | ModelError, what: str) -> None:
    """Log a failure, after which the stage goes on. Raises it if the endpoint has never answered, to end the run."""
    if isinstance(error, ModelError) and error.never_answered:
        raise error
    current().events.emit(Recovery(what=what, detail=str(error)))
