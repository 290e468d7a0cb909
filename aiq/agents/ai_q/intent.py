"""The intent classifier: one structured call that routes a message to meta, shallow or deep."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, Field, model_validator

from aiq.agents.ai_q.settings import IntentSettings
from aiq.agents.ai_q.states import DepthDecision, IntentResult
from aiq.agents.toolkit.conversation import transcript
from aiq.agents.toolkit.structured import StructuredCall
from aiq.core.prompts import Prompts


class Classification(BaseModel):
    """What the model is asked for. A bad or missing depth is shallow."""

    intent: str = Field(pattern="^(meta|research)$")
    meta_response: str | None = None
    research_depth: str | None = None
    depth_reasoning: str = ""

    @model_validator(mode="before")
    @classmethod
    def _by_names(cls, values: Any) -> Any:
        """Names are recognised in any case and inside other text.

        A stated depth makes an unclear intent research; a stated `deep` does so whatever the intent, since mixed or
        uncertain messages are research.
        """
        intent, depth = values.get("intent"), values.get("research_depth")
        named_depth = _only_match(depth, "shallow", "deep") or _only_match(intent, "shallow", "deep")
        fallback = "research" if named_depth else intent
        return {
            **values,
            "intent": "research" if named_depth == "deep" else _only_match(intent, "meta", "research") or fallback,
            "research_depth": named_depth,
            "depth_reasoning": values.get("depth_reasoning") or "",
        }

    @property
    def depth(self) -> DepthDecision:
        deep = self.research_depth == "deep"
        return DepthDecision(decision="deep" if deep else "shallow", reasoning=self.depth_reasoning)

    @property
    def result(self) -> IntentResult:
        """Meta without an answer is research: otherwise the user would get no answer."""
        is_meta = self.intent == "meta" and bool((self.meta_response or "").strip())
        return IntentResult(intent="meta" if is_meta else "research")


def _only_match(value: object, *names: str) -> str | None:
    """The one of these names that a model's value contains; None if it contains none or several."""
    words = re.findall(r"[a-z]+", str(value).lower())
    matches = [name for name in names if name in words]
    return matches[0] if len(matches) == 1 else None


class IntentClassifier:
    """Classifies the last message of a conversation; earlier ones show what it refers to."""

    def __init__(self, settings: IntentSettings, prompts: Prompts) -> None:
        seconds = settings.timeout_seconds
        self._fallback_depth = settings.fallback_depth
        self._call = StructuredCall("aiq.intent_classifier", Classification, prompts, "intent", {"seconds": seconds})

    async def classify(
        self, messages: Sequence[AnyMessage], tools: Sequence[Mapping[str, Any]] = (), user_info: Any = None
    ) -> Classification:
        """Meta with its answer, or research with its depth; deep, without a model call, if there is no message.

        Raises ModelError, LimitReached, RunAborted: a failing endpoint is never a routing decision.
        """
        if not messages:
            return Classification(intent="research", research_depth="deep", depth_reasoning="there is no message")
        history, query = transcript(messages[:-1]), str(messages[-1].text)
        answer = await self._call.ask(tools=tools, user_info=user_info, history=history, query=query)
        reason = "the classification could not be parsed, also after a repair call"
        return answer or Classification(intent="research", research_depth=self._fallback_depth, depth_reasoning=reason)
