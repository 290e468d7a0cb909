"""Group `llm`: the endpoint that answers model calls, its models by role, their prices, its quirks."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from aiq.core.settings import Count, Endpoint, NotNegative, Positive, Settings
from aiq.core.usage import Usage

Temperature = Annotated[float, Field(ge=0, le=2)]


class Price(Settings):
    """US dollars per million tokens."""

    input: NotNegative
    output: NotNegative
    cached_input: NotNegative | None = None

    @property
    def max_per_token(self) -> float:
        """The highest price of one token, in US dollars."""
        return max(self.input, self.output, self.cached_input or 0) / 1e6

    def cost(self, usage: Usage) -> float:
        """US dollars for the tokens of `usage`."""
        cached_price = self.input if self.cached_input is None else self.cached_input
        uncached = usage.input_tokens - usage.cached_tokens
        return (uncached * self.input + usage.cached_tokens * cached_price + usage.output_tokens * self.output) / 1e6


class CharactersPerToken(Settings):
    """How many characters of each script make a token, to estimate a text's tokens."""

    latin: Positive = Field(description="letters of Latin script, digits and punctuation")
    cjk: Positive = Field(description="Chinese, Japanese and Korean characters")
    other: Positive = Field(description="characters of every other script")


class RoleSettings(Settings):
    """What differs for one role (or for all roles below a prefix such as `judge`)."""

    model: str | None = None
    temperature: Temperature | None = None
    max_tokens: Count | None = None
    extra_body: Mapping[str, JsonValue] = {}


_NO_OVERRIDES: Final = RoleSettings()
"""For a role that config does not name."""


class RetrySettings(Settings):
    """The one retry policy of model calls."""

    attempts: Count = Field(description="sends of one request, the first included")
    first_seconds: NotNegative = Field(description="the first wait; each further one is twice as long")
    most_seconds: NotNegative = Field(description="the longest wait")


class QuirkSettings(Settings):
    """Section `llm.quirks`: how requests to an endpoint must differ from OpenAI's; `aiq doctor` detects it."""

    seed: bool = Field(description="send a seed; false: none, and repeats may differ")
    temperature: bool = Field(description="send temperatures; false: never, whoever asks for one")
    limit_field: Literal["max_completion_tokens", "max_tokens"] = Field(description="the field that limits a reply")
    structured: Literal["json_schema", "json_object", "prose"] = Field(
        description="how JSON of a given schema is requested; if refused, the next way is tried"
    )
    parallel_tool_calls: bool = Field(description="send parallel_tool_calls if an agent sets it")
    stream_usage: bool = Field(description="ask for the usage of streamed replies (stream_options)")
    null_content: bool = Field(description='send content: null beside tool calls; false: ""')
    message_name: bool = Field(description="send the name that an agent gives a message")


class LlmSettings(Settings):
    """Group `llm`: an OpenAI-compatible endpoint."""

    base_url: Endpoint = Field(description="address of the endpoint, with its path: http://127.0.0.1:8000/v1")
    known_as: str | None = Field(pattern=r"\S", description="its name in hashes and stored answers; null: its address")
    model: str = Field(description="the model of every role without one of its own")
    api_key_env: str | None = Field(description="the environment variable that holds the key; null: send none")
    temperature: Temperature | None = Field(description="null: the endpoint's default")
    max_tokens: Count | None = Field(description="per reply; null: the endpoint's default")
    timeout_seconds: Positive = Field(description="per model call")
    max_connections: Count = Field(description="model calls at once, at most; fewer while the endpoint is overloaded")
    requests_per_minute: Positive | None = Field(description="for all samples together; null: not limited by aiq")
    tokens_per_minute: Positive | None = Field(description="of requests and replies; null: not limited by aiq")
    give_up_seconds: Positive = Field(
        description="an endpoint that gives only 5xx, or no connection any more, for so long stops the run"
    )
    retry: RetrySettings = Field(description="for failed calls")
    roles: Mapping[str, RoleSettings] = Field(
        description="overrides by role or prefix: llm.roles.judge.model=... llm.roles.aiq.planner.temperature=0"
    )
    fallbacks: Mapping[str, str] = Field(description="for a role that names no model: the role whose model it gets")
    prices: Mapping[str, Price] = Field(
        description="US dollars per million tokens: llm.prices.MODEL={input: 1, output: 4}; without: cost unknown"
    )
    characters_per_token: CharactersPerToken = Field(
        description="by script; limits estimate the usage of calls that the endpoint does not report"
    )
    extra_body: Mapping[str, JsonValue] = Field(description="sent unchanged with each chat completion")
    quirks: QuirkSettings = Field(description="how requests differ from OpenAI's")

    @property
    def endpoint(self) -> str:
        """What identifies the endpoint: two endpoints may serve different models under one name."""
        return self.known_as or self.base_url.rstrip("/")

    def role(self, role: str) -> RoleSettings:
        """The settings of the longest name in `roles` that is the role or a dotted prefix of it.

        If the role itself names no model, `fallbacks` says whose it gets.
        """
        own, fallback = self.roles.get(role), self.fallbacks.get(role)
        if fallback is None or (own is not None and own.model is not None):
            return self._by_prefix(role)
        lender = self._by_prefix(fallback)
        return lender if own is None else own.model_copy(update={"model": lender.model})

    def setup(self, role: str) -> dict[str, JsonValue]:
        """What a role's calls are made with: its own settings before the common ones, quirks that change requests."""
        own, defaults = self.role(role), {"temperature": True, "structured": "json_schema"}
        quirks = {name: value for name, value in self.quirks if value != defaults.get(name, value)}
        return {
            "model": own.model or self.model,
            "temperature": self.temperature if own.temperature is None else own.temperature,
            "max_tokens": own.max_tokens or self.max_tokens,
            "extra_body": {**self.extra_body, **own.extra_body},
            **({"quirks": quirks} if quirks else {}),
        }

    def _by_prefix(self, role: str) -> RoleSettings:
        names = [name for name in self.roles if role == name or role.startswith(name + ".")]
        return self.roles[max(names, key=len)] if names else _NO_OVERRIDES
