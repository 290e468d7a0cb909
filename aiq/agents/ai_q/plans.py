"""The plan of a report before its research: made by a model, shown to the user, judged by the user's words."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from aiq.agents.ai_q.replies import parse, schema_of
from aiq.agents.ai_q.states import Plan
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import Session

PLANNER_ROLE = "aiq.clarifier_planner"

_YES = {"批准", "同意", "好", "好的", "可以", "行", "是", "是的", "确认", "確認", "没问题", "沒問題"}
_NO = {"拒绝", "拒絕", "取消", "不", "不行", "不要", "不同意", "否", "停止"}
APPROVE = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "proceed", "go ahead"} | _YES)
REJECT = frozenset({"reject", "rejected", "no", "n", "cancel", "stop"} | _NO)

FALLBACK = Plan(title="Research Report", sections=["Introduction", "Background", "Analysis", "Findings", "Conclusion"])
"""What stands where the model gave no usable plan (specification 3.3)."""

_SCHEMA = schema_of(Plan, "plan")


class Planner:
    """Asks for a title and sections, as the task, the answers and the feedback want them."""

    def __init__(self) -> None:
        self._prompts = Prompts(Path(__file__).parent / "prompts")

    async def plan(self, query: str, dialogue: Sequence[str], feedback: Sequence[str], session: Session) -> Plan:
        """The next plan. Raises ModelError, LimitReached, RunAborted."""
        variable = self._prompts.render(
            "clarifier_plan_request.j2",
            current_datetime=session.now.isoformat(),
            query=query,
            dialogue="\n".join(dialogue),
            feedback=feedback,
        )
        messages = (
            Message(role="system", content=self._prompts.render("clarifier_planner.j2")),
            Message(role="user", content=variable),
        )
        reply = await session.models.complete(PLANNER_ROLE, messages, json_schema=_SCHEMA)
        return _usable(parse(reply.text, Plan, "sections")) or FALLBACK


def preview(plan: Plan) -> str:
    """The plan as it is put to the user."""
    return (
        f"**Research Plan Preview**\n\n{plan.text()}\n\n"
        "Reply **approve** to proceed, **reject** to cancel, or say what to change."
    )


def word(answer: str) -> str:
    """An answer for comparison with a list of words: half width, lower case, without punctuation around it."""
    return unicodedata.normalize("NFKC", answer).lower().strip(" .,!。、~*`'\"“”‘’「」")


def _usable(plan: Plan | None) -> Plan | None:
    """The plan on one line a title; None where a title says nothing."""
    if plan is None:
        return None
    try:
        return Plan(title=_line(plan.title), sections=[_line(name) for name in plan.sections])
    except ValidationError:
        return None


def _line(text: str) -> str:
    return " ".join(text.split())
