"""Replies for the tests' endpoint: plain ones for every role of AI-Q, and the pieces they are made of."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from aiq.core.session import ApprovingUser
from aiq.offline.chat import ChatReply, ChatRequest, ToolCall, call
from tests.agents.conftest import Script, fenced

FOUND, MADE_UP = "https://pages.test/orlune", "https://nowhere.test/x"
REFERENCES = f"## References\n[1] orlune - {FOUND}"
SHORT = f"The mayor is Ilan Corvey [1].\n\n{REFERENCES}"
REPORT = "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30 + f"\n\n{REFERENCES}"
ADMITS = "I was unable to find it."
PLAN = {"title": "Orlune", "sections": ["Origins", "People", "Trade", "Today", "Outlook"]}
TASK = "Write a report on Orlune"
APPROVAL: dict[str, Any] = {"clarifier": {"enable_plan_approval": True}}


class ScriptedUser(ApprovingUser):
    """Answers and reviews in the order given, and keeps what it was shown; raises EOFError when none are left."""

    def __init__(self, answers: list[str], reviews: list[str]) -> None:
        self._answers, self._reviews = answers, reviews
        self.shown: list[str] = []

    async def answer(self, question: str) -> str:
        return self._say(self._answers, question)

    async def review(self, plan: str) -> str:
        return self._say(self._reviews, plan)

    def _say(self, replies: list[str], prompt: str) -> str:
        self.shown.append(prompt)
        if not replies:
            raise EOFError(prompt)
        return replies.pop(0)


def absent() -> ScriptedUser:
    return ScriptedUser([], [])


def calls(*made: ToolCall) -> ChatReply:
    return ChatReply(tool_calls=made)


def search(*queries: str) -> ChatReply:
    return calls(*(call("web_search_tool", query=query) for query in queries))


def dispatch(*queries: str) -> ToolCall:
    lines = "\n".join(f"- {query}" for query in queries)
    return call("task", subagent_type="researcher-agent", description=f"Research.\nQueries:\n{lines}")


def turn_of(request: ChatRequest) -> int:
    """How many replies the conversation already holds."""
    return sum(message.role == "assistant" for message in request.messages)


def results(request: ChatRequest) -> list[str]:
    """The tool results in a request."""
    return [message.text for message in request.messages if message.role == "tool"]


def by_turn(*said: ChatReply | str | int) -> Script:
    """One reply per turn of each conversation (a text, a reply or an HTTP status); the last one repeats."""

    def script(request: ChatRequest) -> ChatReply | int:
        reply = said[min(turn_of(request), len(said) - 1)]
        return ChatReply(text=reply) if isinstance(reply, str) else reply

    return script


def in_turn(*said: Any) -> Script:
    """These replies one after another: a text, an object (sent as JSON) or an HTTP status."""
    remaining = list(said)

    def script(request: ChatRequest) -> ChatReply | int:
        reply = remaining.pop(0)
        if isinstance(reply, int):
            return reply
        return ChatReply(text=reply if isinstance(reply, str) else json.dumps(reply))

    return script


def asks(question: str | None = "Which period?") -> ChatReply:
    fields = {"needs_clarification": question is not None, "clarification_question": question}
    return ChatReply(text=json.dumps(fields))


def classified(intent: str = "research", **fields: Any) -> dict[str, Any]:
    defaults = {"intent": intent, "meta_response": None, "research_depth": "shallow", "depth_reasoning": "a lookup"}
    return {**defaults, **fields}


def chat(
    *, shallow: str = SHORT, report: str = REPORT, roles: Mapping[str, Callable[[ChatRequest], Any]] | None = None
) -> Script:
    """Every role gives its plainest answer: `Hello` is meta, reports are deep, anything else is shallow.

    `roles`: functions for roles that answer differently; if one returns None, the plain answer is given.
    """

    def script(request: ChatRequest) -> ChatReply | int:
        if roles and request.role in roles and (custom := roles[request.role](request)) is not None:
            reply: ChatReply | int = custom
            return reply
        searched = bool(results(request))
        match request.role:
            case "aiq.intent_classifier":
                question = fenced(request, "question") or ""
                if "Hello" in question:
                    return ChatReply(text=json.dumps(classified("meta", meta_response="I answer questions.")))
                depth = "deep" if "report" in question else "shallow"
                return ChatReply(text=json.dumps(classified(research_depth=depth)))
            case "aiq.clarifier":
                return asks(None)
            case "aiq.clarifier_planner":
                return ChatReply(text=json.dumps(PLAN))
            case "aiq.shallow_researcher":
                return ChatReply(text=shallow) if searched else search("orlune")
            case "aiq.orchestrator":
                return ChatReply(text=report) if searched else calls(dispatch("orlune"))
        return ChatReply(text="Orlune lies on a river [1].") if searched else search("orlune")

    return script
