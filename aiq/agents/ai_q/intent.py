"""The intent classifier: one structured call that routes a message to meta, shallow or deep.

An answer that stays unparsable after one repair call takes the fallback depth. A failing endpoint is an
error of the attempt, never a routing decision.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, Field, field_validator

from aiq.agents.ai_q.settings import IntentSettings
from aiq.agents.ai_q.states import DepthDecision, IntentResult
from aiq.agents.toolkit.conversation import text_of, transcript
from aiq.agents.toolkit.structured import parse, schema_of
from aiq.core.events import Recovery
from aiq.core.models import Message, Reply
from aiq.core.prompts import Prompts
from aiq.core.session import Session

ROLE = "aiq.intent_classifier"

REPAIR_CHARACTERS = 4000
"""How much of an unparsable answer the repair call shows (specification 3.1)."""


class Classification(BaseModel):
    """What the model is asked for. A bad or missing depth is shallow."""

    intent: str = Field(pattern="^(meta|research)$")
    meta_response: str | None = None
    research_depth: str | None = None
    depth_reasoning: str = ""

    @field_validator("depth_reasoning", mode="before")
    @classmethod
    def _no_null(cls, value: object) -> object:
        return "" if value is None else value

    @property
    def depth(self) -> DepthDecision:
        deep = (self.research_depth or "").strip().lower() == "deep"
        return DepthDecision(decision="deep" if deep else "shallow", reasoning=self.depth_reasoning)

    @property
    def result(self) -> IntentResult:
        """Meta without an answer is research: nobody would answer the user."""
        meta = self.intent == "meta" and bool((self.meta_response or "").strip())
        return IntentResult(intent="meta" if meta else "research")


SCHEMA = schema_of(Classification, "classification")


class IntentClassifier:
    """Classifies the last message of a conversation; earlier ones tell what it refers to."""

    def __init__(self, settings: IntentSettings) -> None:
        self._settings = settings
        self._prompts = Prompts(Path(__file__).parent / "prompts")

    async def classify(
        self,
        messages: Sequence[AnyMessage],
        session: Session,
        *,
        tools: Sequence[Mapping[str, str]] = (),
        user_info: Mapping[str, Any] | None = None,
    ) -> Classification:
        """Meta with its answer, or research with its depth. Raises ModelError, LimitReached, RunAborted.

        Without a message nobody is asked and the answer is deep, as specified (3.1).
        """
        if not messages:
            return Classification(intent="research", research_depth="deep", depth_reasoning="there is no message")
        asked = self._request(messages, session, tools, user_info)
        reply = await self._complete(asked, session)
        found = parse(reply.text, Classification, "intent") or await self._repair(reply.text, session)
        if found is not None:
            return found
        return Classification(
            intent="research",
            research_depth=self._settings.fallback_depth,
            depth_reasoning="the classification could not be parsed, also after a repair call",
        )

    def _request(
        self,
        messages: Sequence[AnyMessage],
        session: Session,
        tools: Sequence[Mapping[str, str]],
        user_info: Mapping[str, Any] | None,
    ) -> tuple[Message, Message]:
        variable = self._prompts.render(
            "intent_request.j2",
            current_datetime=session.now.isoformat(),
            tools=tools,
            user_info=user_info,
            history=transcript(messages[:-1]),
            query=text_of(messages[-1]),
        )
        return (
            Message(role="system", content=self._prompts.render("intent_classifier.j2")),
            Message(role="user", content=variable),
        )

    async def _complete(self, asked: Sequence[Message], session: Session) -> Reply:
        seconds = self._settings.timeout_seconds
        return await session.models.complete(ROLE, asked, json_schema=SCHEMA, seconds=seconds)

    async def _repair(self, bad: str, session: Session) -> Classification | None:
        prompt = self._prompts.render("intent_repair.j2", bad_reply=bad[:REPAIR_CHARACTERS])
        reply = await self._complete((Message(role="user", content=prompt),), session)
        found = parse(reply.text, Classification, "intent")
        session.events.emit(Recovery(what="unparsable_classification", detail="repaired" if found else "not repaired"))
        return found
