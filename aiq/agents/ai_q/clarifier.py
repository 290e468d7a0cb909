"""The clarifier: asks the user what would change the research, then makes the plan and has it approved.

Runs before every deep research. Its result, dialogue and plan as text, goes into the orchestrator's prompt.
"""

from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, Field

from aiq.agents.ai_q.dialogue import transcript
from aiq.agents.ai_q.replies import parse, schema_of
from aiq.agents.ai_q.settings import ClarifierSettings
from aiq.core.base import Record
from aiq.core.events import Approval, Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.samples import Document
from aiq.core.session import Session
from aiq.core.users import User

ROLE = "aiq.clarifier"
PLANNER_ROLE = "aiq.clarifier_planner"

SKIP = frozenset({"", "skip", "pass", "done", "continue", "proceed", "go ahead", "跳过", "继续"})
"""Answers that end the questions. `no` is not among them: it may be the true answer to a yes-or-no question."""

APPROVE = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "proceed", "go ahead", "批准", "同意"})
REJECT = frozenset({"reject", "rejected", "no", "n", "cancel", "stop", "拒绝", "取消"})

FALLBACK_SECTIONS = ("Introduction", "Background", "Analysis", "Findings", "Conclusion")


class NextQuestion(BaseModel):
    needs_clarification: bool
    clarification_question: str | None = None


class Plan(BaseModel):
    """A report's title and the titles of its sections."""

    title: str = Field(min_length=1)
    sections: list[str] = Field(min_length=1, max_length=20)

    def text(self) -> str:
        """The title and the numbered sections, one a line."""
        return "\n".join([self.title, *(f"{number}. {name}" for number, name in enumerate(self.sections, 1))])


class Briefing(Record):
    """What the clarifier found out: the text for the deep researcher, or the user's rejection."""

    text: str
    rejected: bool = False


class Clarifier:
    """`user` answers in place of the session's user; None leaves it to the session."""

    def __init__(self, settings: ClarifierSettings, user: User | None = None) -> None:
        self._settings = settings
        self._user = user
        self._prompts = Prompts(Path(__file__).parent / "prompts")

    async def brief(
        self,
        query: str,
        session: Session,
        *,
        history: Sequence[AnyMessage] = (),
        documents: Sequence[Document] = (),
    ) -> Briefing:
        """Ask, plan, have it approved. Raises ModelError, LimitReached, RunAborted."""
        user = self._user or session.user
        dialogue = await self._ask(query, session, user, transcript(history), documents)
        plan, approved_by = await self._approved_plan(query, dialogue, session, user)
        if plan is None:
            return Briefing(text=dialogue, rejected=True)
        return Briefing(text=f"{dialogue}\n\nPlan ({approved_by}):\n{plan.text()}".strip())

    async def _ask(self, query: str, session: Session, user: User, history: str, documents: Sequence[Document]) -> str:
        """Up to `max_turns` questions; the dialogue as `Q:` and `A:` lines, empty where nothing was asked."""
        lines: list[str] = []
        for remaining in range(self._settings.max_turns, 0, -1):
            variable = self._prompts.render(
                "clarifier_request.j2",
                current_datetime=session.now.isoformat(),
                remaining_questions=remaining,
                available_documents=documents,
                history=history,
                query=query,
                dialogue="\n".join(lines),
            )
            question = await self._next_question(query, variable, session)
            if question is None:
                break
            answer = (await user.answer(question)).strip()
            session.events.emit(Approval(kind="question", prompt=question, answer=answer))
            if _word(answer) in SKIP:
                break
            lines += [f"Q: {question}", f"A: {answer}"]
        return "\n".join(lines)

    async def _next_question(self, query: str, variable: str, session: Session) -> str | None:
        """The model's question, or None for none. An unparsable reply counts as wanting to ask."""
        messages = _messages(self._prompts.render("clarifier.j2"), variable)
        schema = schema_of(NextQuestion, "clarification")
        reply = await session.models.complete(ROLE, messages, json_schema=schema)
        found = parse(reply.text, NextQuestion, "needs_clarification")
        if found is not None and not found.needs_clarification:
            return None
        asked = (found.clarification_question or "").strip() if found else ""
        return asked or f"What should research on \"{query[:80]}\" concentrate on? (type 'skip' to leave it open)"

    async def _approved_plan(self, query: str, dialogue: str, session: Session, user: User) -> tuple[Plan | None, str]:
        """The plan and who approved it; no plan where the user rejected it."""
        feedback: list[str] = []
        for _ in range(self._settings.max_plan_iterations):
            plan = await self._plan(query, dialogue, feedback, session)
            if not self._settings.enable_plan_approval:
                return plan, "not shown to the user"
            preview = (
                f"**Research Plan Preview**\n\n{plan.text()}\n\n"
                "Reply **approve** to proceed, **reject** to cancel, or say what to change."
            )
            answer = (await user.review(preview)).strip()
            session.events.emit(Approval(kind="plan", prompt=preview, answer=answer))
            if _word(answer) in APPROVE:
                return plan, "approved by the user"
            if _word(answer) in REJECT:
                return None, "rejected"
            feedback.append(answer)
        cause = f"clarifier.max_plan_iterations={self._settings.max_plan_iterations}"
        session.events.emit(Decision(name="plan_auto_approved", value=True, cause=cause))
        return plan, "approved automatically after the last round of feedback"

    async def _plan(self, query: str, dialogue: str, feedback: Sequence[str], session: Session) -> Plan:
        variable = self._prompts.render(
            "clarifier_plan_request.j2",
            current_datetime=session.now.isoformat(),
            query=query,
            dialogue=dialogue,
            feedback=feedback,
        )
        messages = _messages(self._prompts.render("clarifier_planner.j2"), variable)
        reply = await session.models.complete(PLANNER_ROLE, messages, json_schema=schema_of(Plan, "plan"))
        found = parse(reply.text, Plan, "sections")
        return found or Plan(title="Research Report", sections=list(FALLBACK_SECTIONS))


def _messages(static: str, variable: str) -> tuple[Message, Message]:
    """Static text first, so that providers can cache the prefix."""
    return Message(role="system", content=static), Message(role="user", content=variable)


def _word(answer: str) -> str:
    """An answer for comparison with a list of words: lower case, without closing punctuation."""
    return answer.lower().strip(" .!。！*'\"")
