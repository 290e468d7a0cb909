"""An agent behind an OpenAI-compatible chat completions API: it is sent the question, and its answer is the report."""

from typing import Any, ClassVar

from pydantic import Field

from aiq.agents.toolkit.finish import finish
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session
from aiq.core.settings import Endpoint, Positive, Settings
from aiq.llm.http import Timeout
from aiq.llm.models import NO_KEY, read_key
from aiq.llm.transport import CONNECT_SECONDS

ROLE = "endpoint.agent"
ROUTE = "endpoint"


class EndpointSettings(Settings):
    base_url: Endpoint = Field(description="base URL of its API, such as http://127.0.0.1:9000/v1")
    model: str = Field(description="the model's name in requests; its price is llm.prices.MODEL")
    api_key_env: str | None = Field(description="the environment variable that holds the key; null: send none")
    timeout_seconds: Positive = Field(description="timeout of one answer, which is not streamed")


class EndpointAgent:
    """Sends only the question's history and text; counted, limited, seeded and retried like any model call.

    What it has retrieved is unknown, so its citations are not verified. Raises ConfigError if the key is missing.
    """

    Settings: ClassVar[type[EndpointSettings]] = EndpointSettings

    def __init__(self, settings: EndpointSettings) -> None:
        self.models = {ROLE: settings.model}
        self._client_options: Any = {
            "base_url": settings.base_url,
            "api_key": read_key(settings.api_key_env, "agent.api_key_env") or NO_KEY,
            "timeout": Timeout(settings.timeout_seconds, connect=CONNECT_SECONDS, pool=None),
        }

    async def research(self, question: Question, session: Session) -> Report:
        """The endpoint's answer. Raises AgentError if it is no report."""
        messages: Any = [{"role": turn.speaker, "content": turn.text} for turn in question.history]
        client = session.openai(ROLE).with_options(**self._client_options)
        answer = await client.chat.completions.create(
            model=self.models[ROLE], messages=[*messages, {"role": "user", "content": question.text}]
        )
        text = answer.choices[0].message.content or ""
        return finish(text, ROUTE, None, session, researched=False, citation_status="unverified")
