"""A chat graph whose clarifier answers as a test says, and a user who answers in the order given."""

import json
from collections.abc import Callable
from typing import Any

from aiq.agents.ai_q.agent import AiqAgent
from aiq.agents.ai_q.settings import AiqSettings
from aiq.core.samples import Question
from aiq.offline.chat import ChatReply, ChatRequest, call

PLAN = {"title": "Orlune", "sections": ["Origins", "People", "Trade", "Today", "Outlook"]}
REPORT = "# Orlune\n\n" + "Orlune lies on a river. " * 30
TASK = "Write a report on Orlune"
Script = Callable[[ChatRequest], ChatReply]


class ScriptedUser:
    """Answers and reviews in the order given; keeps what it was shown."""

    def __init__(self, answers: list[str], reviews: list[str]) -> None:
        self._answers, self._reviews = answers, reviews
        self.shown: list[str] = []

    async def answer(self, question: str) -> str:
        self.shown.append(question)
        return self._answers.pop(0)

    async def review(self, plan: str) -> str:
        self.shown.append(plan)
        return self._reviews.pop(0)


def asks(question: str | None = "Which period?") -> ChatReply:
    fields = {"needs_clarification": question is not None, "clarification_question": question}
    return ChatReply(text=json.dumps(fields))


def search(*queries: str) -> ChatReply:
    return ChatReply(tool_calls=tuple(call("web_search_tool", query=query) for query in queries))


def plain(clarifier: Script) -> Script:
    """An endpoint that routes to deep research, plans as `PLAN`, and lets `clarifier` answer for the clarifier."""

    def script(request: ChatRequest) -> ChatReply:
        match request.role:
            case "aiq.intent_classifier":
                depth = {"intent": "research", "meta_response": None, "research_depth": "deep", "depth_reasoning": "-"}
                return ChatReply(text=json.dumps(depth))
            case "aiq.clarifier":
                return clarifier(request)
            case "aiq.clarifier_planner":
                return ChatReply(text=json.dumps(PLAN))
        return ChatReply(text=REPORT)

    return script


async def clarified(
    on_bench: Any, clarifier: Script, user: Any = None, question: Question | None = None, **settings: Any
) -> tuple[Any, Any]:
    """(report, bench) of a run through the whole chat graph."""
    async with on_bench(plain(clarifier), user=user) as bench:
        agent = AiqAgent(AiqSettings.model_validate({"clarifier": settings}))
        report = await agent.research(question or Question(text=TASK), bench.session)
    return report, bench


def briefing(bench: Any) -> str:
    """What the orchestrator's prompt says was settled."""
    return str(bench.endpoint.of("aiq.orchestrator")[0].system)
