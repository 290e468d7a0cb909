"""Group `llm`: the endpoint that models are asked at, roles, retries and prices."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from aiq.core.settings.base import Endpoint, Settings


class Price(Settings):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class RoleSettings(Settings):
    """What differs for one role (or for all roles below a prefix such as `judge`)."""

    model: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict)


class RetrySettings(Settings):
    """The one retry policy of model calls: waits double from `first_seconds` up to `most_seconds`."""

    attempts: int = Field(default=6, ge=1, description="sends of one request, the first included")
    first_seconds: float = Field(default=1.0, ge=0)
    most_seconds: float = Field(default=60.0, ge=0)


class LlmSettings(Settings):
    """Group `llm`: an OpenAI-compatible endpoint. `api_key_env` names the variable, never the key.

    `known_as`: what the endpoint is called where answers are told apart; None: its address.
    `fallbacks`: the role whose model serves a role that `roles` gives none, before `model` does.
    """

    base_url: Endpoint
    known_as: str | None = Field(default=None, pattern=r"\S")
    model: str
    api_key_env: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout_seconds: float = Field(default=120.0, gt=0)
    max_connections: int = Field(default=64, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    retry: RetrySettings = RetrySettings()
    roles: Mapping[str, RoleSettings] = Field(default_factory=dict)
    fallbacks: Mapping[str, str] = Field(
        default={"aiq.planner": "aiq.orchestrator", "aiq.researcher": "aiq.orchestrator"}
    )
    prices: Mapping[str, Price] = Field(default_factory=dict)
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """Who answers: two endpoints may serve different models under one name."""
        return self.known_as or self.base_url.rstrip("/")

    def role(self, role: str) -> RoleSettings:
        """The settings of the longest name in `roles` that is the role or a part of it up to a dot.

        Where the role itself names no model, `fallbacks` says whose it gets.
        """
        own, other = self.roles.get(role), self.fallbacks.get(role)
        if other is not None and (own is None or own.model is None):
            lent = self._named(other)
            return lent if own is None else own.model_copy(update={"model": lent.model})
        return self._named(role)

    def setup(self, role: str) -> dict[str, JsonValue]:
        """What a role's calls are made with, its own settings before the common ones; None: the endpoint's default."""
        own = self.role(role)
        return {
            "model": own.model or self.model,
            "temperature": self.temperature if own.temperature is None else own.temperature,
            "max_tokens": own.max_tokens or self.max_tokens,
            "extra_body": {**self.extra_body, **own.extra_body},
        }

    def _named(self, role: str) -> RoleSettings:
        names = [name for name in self.roles if role == name or role.startswith(name + ".")]
        return self.roles[max(names, key=len)] if names else RoleSettings()
