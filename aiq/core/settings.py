"""The settings of a run: what Hydra composes, validated; one class a config group or section.

Agents, judges and datasets validate their own settings (`Settings` on the class that `target` names); here they are
carried as they came.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)

from aiq.core.sources import SourceKind
from aiq.core.usage import Limits, Usage

Count = Annotated[int, Field(ge=1)]
Results = Annotated[int, Field(ge=1, le=20)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Temperature = Annotated[float, Field(ge=0, le=2)]


class Settings(BaseModel):
    """Base of all settings models: frozen, no unknown keys, no `true` for a number (Python takes it for 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _number_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        field = cls.model_fields.get(info.field_name or "")
        if isinstance(value, bool) and field is not None:
            optional = get_origin(field.annotation) in (Union, UnionType)
            kinds = get_args(field.annotation) if optional else (field.annotation,)
            if any(getattr(kind, "__origin__", kind) in (int, float) for kind in kinds):
                raise ValueError("Input should be a number")
        return value


class Plugin(Settings):
    """A class named in config; every key but `target` is that class's own setting."""

    model_config = ConfigDict(frozen=True, extra="allow")

    target: str

    @property
    def settings(self) -> dict[str, Any]:
        """The plugin's own settings, unvalidated."""
        return dict(self.model_extra or {})


def _endpoint(value: object) -> object:
    """An address of http or https that paths can be added to; without a key or password: the manifest shows it."""
    if isinstance(value, str):
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write an address such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc:
            raise ValueError("an address must hold no name or password; name the key's variable in api_key_env")
        if "?" in value or "#" in value:
            raise ValueError("an address ends with its path; name the key's variable in api_key_env")
        try:
            _ = parts.port
        except ValueError:  # whose words may be the first ones of a password
            raise ValueError("a port is a number up to 65535") from None
    return value


def _one_or_more(value: object) -> object:
    return () if value is None else (value,) if isinstance(value, str) else value


OneOrMore = Annotated[tuple[str, ...], BeforeValidator(_one_or_more)]
"""A list of names; a single one needs no brackets."""

Endpoint = Annotated[str, BeforeValidator(_endpoint)]


class Price(Settings):
    """US dollars per million tokens."""

    input: NotNegative
    output: NotNegative
    cached_input: NotNegative | None = None

    def cost(self, usage: Usage) -> float:
        """US dollars for the tokens of `usage`."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1e6


class RoleSettings(Settings):
    """What differs for one role (or for all roles below a prefix such as `judge`)."""

    model: str | None = None
    temperature: Temperature | None = None
    max_tokens: Count | None = None
    extra_body: Mapping[str, JsonValue] = {}


class RetrySettings(Settings):
    """The one retry policy of model calls: waits double from `first_seconds` up to `most_seconds`."""

    attempts: Count = Field(default=6, description="sends of one request, the first included")
    first_seconds: NotNegative = 1.0
    most_seconds: NotNegative = 60.0


class LlmSettings(Settings):
    """Group `llm`: an OpenAI-compatible endpoint. `api_key_env` names the variable, never the key.

    `known_as`: what the endpoint is called where answers are told apart; None: its address.
    `fallbacks`: the role whose model serves a role that `roles` gives none, before `model` does.
    """

    base_url: Endpoint
    known_as: str | None = Field(default=None, pattern=r"\S")
    model: str
    api_key_env: str | None = None
    temperature: Temperature | None = None
    max_tokens: Count | None = None
    timeout_seconds: Positive = 120.0
    max_connections: Count = 64
    requests_per_minute: Positive | None = None
    retry: RetrySettings = RetrySettings()
    roles: Mapping[str, RoleSettings] = {}
    fallbacks: Mapping[str, str] = Field(
        default={"aiq.planner": "aiq.orchestrator", "aiq.researcher": "aiq.orchestrator"}
    )
    prices: Mapping[str, Price] = {}
    extra_body: Mapping[str, JsonValue] = {}

    @property
    def endpoint(self) -> str:
        """Who answers: two endpoints may serve different models under one name."""
        return self.known_as or self.base_url.rstrip("/")

    def role(self, role: str) -> RoleSettings:
        """The settings of the longest name in `roles` that is the role or a part of it up to a dot.

        Where the role itself names no model, `fallbacks` says whose it gets.
        """
        own, other = self.roles.get(role), self.fallbacks.get(role)
        if other is None or (own is not None and own.model is not None):
            return self._named(role)
        lent = self._named(other)
        return lent if own is None else own.model_copy(update={"model": lent.model})

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


class SearchSettings(Settings):
    """Group `search`: who answers searches. `corpus` also serves `web=corpus`.

    `provider`: a file of `aiq/tools/providers`, or a class of your own as `package.module:Class`,
    whose own settings are `options`. `include_answer`: have the search API write an answer of its own
    (Tavily); it names no source, so it is none.
    """

    provider: str
    options: Mapping[str, JsonValue] = {}
    base_url: Endpoint | None = None
    api_key_env: str | None = None
    corpus: str | None = None
    max_results: Results = 3
    max_content_length: Count | None = Field(default=4000, description="characters of each result")
    depth: Literal["basic", "advanced"] = "basic"
    include_answer: Literal["basic", "advanced"] | None = None
    timeout_seconds: Positive = 30.0


class PapersSettings(Settings):
    """Section `papers`: who answers searches for scholarly papers; without a `provider` there is no such tool.

    `provider`: a file of `aiq/tools/paper_providers`, or a class of your own as `package.module:Class`.
    """

    provider: str | None = None
    base_url: Endpoint | None = None
    api_key_env: str | None = "SERPER_API_KEY"
    max_results: Results = 10
    timeout_seconds: Positive = 30.0


class KnowledgeSettings(Settings):
    """Section `knowledge`: users' documents. The tool exists where a collection is named, here or by a question.

    `dir`: the folder of all collections. `collection`: the one that questions look into which name
    none. `documents`: files and folders that a run adds to `collection` before it starts.
    """

    dir: str = "knowledge"
    collection: str | None = None
    documents: OneOrMore = ()
    max_results: Results = 5
    max_content_length: Count = Field(default=2000, description="characters of each result")
    summarizer: Literal["rules", "model"] = "rules"
    summary_chars: int = Field(default=400, ge=40)


class WebSettings(Settings):
    """Group `web`: where fetched pages come from."""

    kind: Literal["offline", "corpus", "live"]
    allow_hosts: OneOrMore = ()
    timeout_seconds: Positive = 30.0
    max_bytes: Count = 5_000_000
    max_redirects: int = Field(default=5, ge=0)


class CitationSettings(Settings):
    """Section `citations`: how reports are verified.

    `pages`: whether a document citation must be on a retrieved page (`exact`), at most
    `page_window` pages beside one (`window`), or anywhere in the document (`ignore`). `accept`: the
    kinds of source that verify. Without `verify` a report stays as the model wrote it.
    """

    verify: bool = True
    pages: Literal["ignore", "window", "exact"] = "window"
    page_window: int = Field(default=1, ge=0, description="pages before and after a retrieved one")
    accept: tuple[SourceKind, ...] = Field(default=("retrieved",), min_length=1)


class DatasetSettings(Plugin):
    """A dataset and which of its samples to take; filters apply in the order ids, split, language, type, sample.

    `path`: file or folder in one of the official formats. `sample`: this many samples drawn with
    the run's seed, in dataset order. `hub`: a dataset name on the Hugging Face hub instead of a path.
    """

    name: str
    path: str | None = None
    hub: str | None = None
    ids: tuple[str, ...] | None = None
    split: str | None = None
    language: str | None = None
    type: str | None = None
    sample: Count | None = None
    truth: str | None = None

    @field_validator("ids", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """YAML reads ids such as 58 as numbers; a single one needs no brackets."""
        if value is None:
            return None
        return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


class CassetteSettings(Settings):
    """Group `cassette`: record and replay."""

    mode: Literal["off"] = "off"
    dir: str | None = None


class CheckpointerSettings(Settings):
    """Group `checkpointer`: where LangGraph agents keep conversations. `path`: of sqlite. `dsn_env`: of postgres.

    `dsn_env` names the environment variable that holds the connection string, which may hold a password.
    """

    kind: Literal["memory", "sqlite", "postgres"] = "memory"
    path: str | None = None
    dsn_env: str | None = None

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        needed = {"sqlite": "path", "postgres": "dsn_env"}.get(self.kind)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"kind={self.kind} needs {needed}")
        return self


class UserSettings(Settings):
    """Section `user`: who answers an agent's questions and reviews its plans in a run.

    `feedback`: what `kind=feedback` says of the plans, one remark each, before it approves.
    """

    kind: Literal["approve", "reject", "feedback", "simulated"] = "approve"
    feedback: OneOrMore = ()

    @model_validator(mode="after")
    def _has_something_to_say(self) -> Self:
        if (self.kind == "feedback") != bool(self.feedback):
            raise ValueError("kind=feedback and remarks in feedback go together: set both or neither")
        return self


class RunnerSettings(Settings):
    """Group `runner`. `max_error_rate`: share of failed attempts above which a run ends with exit code 3."""

    concurrency: Count = 8
    max_error_rate: Share = 0.1
    agent_failures: Literal["worst", "exclude"] = "worst"
    retry_failed: bool = False
    progress: bool = True


class OfflineSettings(Settings):
    """Section `offline`: the embedded stack, started when any endpoint's host is under `offline.example`.

    `world`: the closed world's pages (`pages.jsonl`, or a folder that holds it). `pages`: files of
    further pages. `faults`: rate by fault name, drawn from (seed, attempt, request). `context_tokens`: the
    longest prompt that the model takes.
    """

    target: str = "aiq.offline.launch:OfflineStack"
    world: str | None = None
    pages: OneOrMore = ()
    faults: Mapping[str, Share] = {}
    context_tokens: Count = 131_072


def _clock(value: object) -> object:
    """`now`, or an ISO 8601 date or time; without an offset it means UTC."""
    if value is None or value == "now":
        return datetime.now(UTC).replace(microsecond=0)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("write `now` or an ISO 8601 time such as 2026-11-01T09:00:00+00:00") from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return value


class RunSettings(Settings):
    """A whole run: what `python -m aiq.run` composes from `conf/` and the command line."""

    name: str = Field(min_length=1, pattern=r"^[\w.-]+$", description="the experiment's name; results/<name>/")
    seed: int = Field(default=0, ge=0)
    epochs: Count = 1
    limit: Count | None = None
    clock: Annotated[datetime, BeforeValidator(_clock)] = Field(default="now", validate_default=True)
    output_dir: str = "results"
    judge_reliability: str | None = Field(default=None, description="a reliability.json; null: the latest that fits")
    agent: Plugin
    dataset: DatasetSettings
    llm: LlmSettings
    search: SearchSettings
    web: WebSettings
    papers: PapersSettings = PapersSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    judge: Mapping[str, Plugin] = {}
    cassette: CassetteSettings = CassetteSettings()
    checkpointer: CheckpointerSettings = CheckpointerSettings()
    user: UserSettings = UserSettings()
    runner: RunnerSettings = RunnerSettings()
    limits: Limits = Limits()
    offline: OfflineSettings = OfflineSettings()
    citations: CitationSettings = CitationSettings()
