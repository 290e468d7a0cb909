"""The settings of a run: what Hydra composes, validated; one class a config group or section.

Agents, judges and datasets validate their own settings (`Settings` on the class that `target` names); here they are
carried as they came.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from sys import maxsize
from types import UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator, model_validator

from aiq.core import plugins
from aiq.core.base import Record
from aiq.core.errors import AiqError, ConfigError
from aiq.core.sources import SourceKind
from aiq.core.usage import Limits, Usage

Count = Annotated[int, Field(ge=1)]
Results = Annotated[int, Field(ge=1, le=20)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Temperature = Annotated[float, Field(ge=0, le=2)]


class Settings(Record):
    """Base of all settings models: as records are, and no `true` for a number (Python takes it for 1)."""

    @field_validator("*", mode="before")
    @classmethod
    def _number_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, bool) and (field := cls.model_fields.get(info.field_name or "")):
            optional = get_origin(field.annotation) in (Union, UnionType)
            kinds = get_args(field.annotation) if optional else (field.annotation,)
            if any(getattr(kind, "__origin__", kind) in (int, float) for kind in kinds):
                raise ValueError("Input should be a number")
        return value


class Plugin(Settings):
    """A class named in config; every key but `target` is that class's own setting."""

    model_config = ConfigDict(frozen=True, extra="allow")

    target: str = Field(description="the class, as package.module:Class")

    @property
    def given(self) -> dict[str, Any]:
        """The settings of the class, as they were composed."""
        return dict(self.model_extra or {})

    @property
    def settings(self) -> Any:
        """The same, validated: an instance of the class's `Settings`. Raises ConfigError."""
        return self.validated("")

    def validated(self, setting: str) -> Any:
        """Its `settings`; `setting` is where config has the plugin, for the error. Raises ConfigError."""
        kind = getattr(plugins.load(self.target, f"{setting}.target"), "Settings", None)
        if not (isinstance(kind, type) and issubclass(kind, Settings)):
            raise ConfigError(f"{setting}.target: {self.target} has no Settings, a child of aiq.core.settings.Settings")
        return plugins.validate(kind, self.given, setting)

    def make(self, setting: str) -> tuple[Any, Any]:
        """An instance of the class, and its validated settings. Raises ConfigError, also for what its making raises."""
        settings = self.validated(setting)
        try:
            return plugins.load(self.target, setting)(settings), settings
        except AiqError:
            raise
        except Exception as error:
            raise ConfigError(f"{setting}.target: {self.target} cannot be made: {plugins.failure(error)}") from error


def _endpoint(value: object) -> object:
    """An address of http or https that paths can be added to; without a key or password: the manifest shows it."""
    if isinstance(value, str):
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write an address such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc or "?" in value or "#" in value:
            raise ValueError("an address has no key and ends with its path; name the key's variable in api_key_env")
        try:
            _ = parts.port
        except ValueError:  # whose words may be the first ones of a password
            raise ValueError("a port is a number up to 65535") from None
    return value


def _listed(value: object) -> object:
    """A single name needs no brackets."""
    return value if value is None or isinstance(value, list | tuple) else (value,)


Names = Annotated[tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] | None, BeforeValidator(_listed)]
OneOrMore = Annotated[tuple[str, ...], BeforeValidator(lambda value: _listed(value) or ())]

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


class CharactersPerToken(Settings):
    """How many characters of a script make a token, by which a text's tokens are estimated."""

    latin: Positive = Field(description="letters of Latin script, digits and punctuation")
    cjk: Positive = Field(description="Chinese, Japanese and Korean characters")
    other: Positive = Field(description="characters of every other script")


class RoleSettings(Settings):
    """What differs for one role (or for all roles below a prefix such as `judge`)."""

    model: str | None = None
    temperature: Temperature | None = None
    max_tokens: Count | None = None
    extra_body: Mapping[str, JsonValue] = {}


class RetrySettings(Settings):
    """The one retry policy of model calls."""

    attempts: Count = Field(description="sends of one request, the first included")
    first_seconds: NotNegative = Field(description="the first wait; each further one is twice as long")
    most_seconds: NotNegative = Field(description="the longest wait")


class QuirkSettings(Settings):
    """Section `llm.quirks`: how an endpoint wants requests that differ from OpenAI's; `aiq doctor` finds them out."""

    seed: bool = Field(description="send a seed; false: none, and repeats may differ")
    temperature: bool = Field(description="send temperatures; false: none, whoever asks for one")
    limit_field: Literal["max_completion_tokens", "max_tokens"] = Field(description="the field that limits a reply")
    structured: Literal["json_schema", "json_object", "prose"] = Field(
        description="how JSON of a form is asked for; a refused way falls back to the next one"
    )
    parallel_tool_calls: bool = Field(description="send parallel_tool_calls where an agent sets it")
    stream_usage: bool = Field(description="ask for the usage of streamed replies (stream_options)")
    null_content: bool = Field(description='send content: null beside tool calls; false: ""')
    message_name: bool = Field(description="send the name that an agent gives to a message")


class LlmSettings(Settings):
    """Group `llm`: an OpenAI-compatible endpoint."""

    base_url: Endpoint = Field(description="address of the endpoint, with its path: http://127.0.0.1:8000/v1")
    known_as: str | None = Field(pattern=r"\S", description="its name in hashes and kept answers; null: its address")
    model: str = Field(description="the model of every role that has none of its own")
    api_key_env: str | None = Field(description="the environment variable that holds the key; null: send none")
    temperature: Temperature | None = Field(description="null: the endpoint's default")
    max_tokens: Count | None = Field(description="of one reply; null: the endpoint's default")
    timeout_seconds: Positive = Field(description="of one model call")
    max_connections: Count = Field(description="connections to the endpoint at once")
    requests_per_minute: Positive | None = Field(description="null: no limit of ours")
    retry: RetrySettings = Field(description="of calls that failed")
    roles: Mapping[str, RoleSettings] = Field(
        description="what differs, by role or prefix: llm.roles.judge.model=... llm.roles.aiq.planner.temperature=0"
    )
    fallbacks: Mapping[str, str] = Field(description="by role that names no model: the role whose model it gets")
    prices: Mapping[str, Price] = Field(
        description="US dollars per million tokens: llm.prices.MODEL={input: 1, output: 4}; without: cost unknown"
    )
    characters_per_token: CharactersPerToken = Field(
        description="by script: what limits in money count of calls whose usage the endpoint does not report"
    )
    extra_body: Mapping[str, JsonValue] = Field(description="sent with each request as it is")
    quirks: QuirkSettings = Field(description="how requests differ from OpenAI's")

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
        """What a role's calls are made with: own settings before common ones, quirks that change what is asked."""
        own, usual = self.role(role), {"temperature": True, "structured": "json_schema"}
        quirks = {name: value for name, value in self.quirks if value != usual.get(name, value)}
        return {
            "model": own.model or self.model,
            "temperature": self.temperature if own.temperature is None else own.temperature,
            "max_tokens": own.max_tokens or self.max_tokens,
            "extra_body": {**self.extra_body, **own.extra_body},
            **({"quirks": quirks} if quirks else {}),
        }

    def _named(self, role: str) -> RoleSettings:
        names = [name for name in self.roles if role == name or role.startswith(name + ".")]
        return self.roles[max(names, key=len)] if names else RoleSettings()


class SearchSettings(Settings):
    """Group `search`: who answers web searches."""

    provider: str = Field(description="a file of aiq/tools/providers, or a class of yours: package.module:Class")
    options: Mapping[str, JsonValue] = Field(description="settings of a provider class of yours")
    base_url: Endpoint | None = Field(description="address of the search API; null: the provider needs none")
    api_key_env: str | None = Field(description="the environment variable that holds the key; null: send none")
    corpus: str | None = Field(description="pages to search: JSONL or gzipped JSONL; also serves web=corpus")
    max_results: Results = Field(description="of one search")
    max_content_length: Count | None = Field(description="characters of each result; null: all")
    depth: Literal["basic", "advanced"] = Field(description="basic or advanced (Tavily)")
    include_answer: Literal["basic", "advanced"] | None = Field(
        description="basic or advanced: the API's own answer too (Tavily); never a source"
    )
    timeout_seconds: Positive = Field(description="of one search")


class PapersSettings(Settings):
    """Section `papers`: search for scholarly papers, the tool paper_search of the data source `papers`."""

    provider: str | None = Field(description="serper (Google Scholar), or package.module:Class; null: no such tool")
    base_url: Endpoint | None = Field(description="null: the provider's own")
    api_key_env: str | None = Field(description="the environment variable that holds the key")
    max_results: Results = Field(description="of one search")
    timeout_seconds: Positive = Field(description="of one search")


class KnowledgeSettings(Settings):
    """Section `knowledge`: users' documents, the tool knowledge_search of the data source `documents`."""

    dir: str = Field(description="the folder of all collections; `aiq documents add` fills them")
    collection: str | None = Field(description="for questions that name none; null: no tool for these")
    documents: OneOrMore = Field(description="files and folders that a run adds to the collection before it starts")
    max_results: Results = Field(description="pages of one search")
    max_content_length: Count = Field(description="characters of each result")
    summarizer: Literal["rules", "model"] = Field(description="by what: rules, or model (role knowledge.summarizer)")
    summary_chars: int = Field(ge=40, description="characters of a document's summary")


class WebSettings(Settings):
    """Group `web`: where fetched pages come from."""

    kind: Literal["offline", "corpus", "live"] = Field(
        description="offline: the closed world; corpus: pages of search.corpus; live: the internet"
    )
    allow_hosts: OneOrMore = Field(description="hosts that the address guard lets through all the same")
    deny: OneOrMore = Field(
        description="pages that hold benchmarks, refused and left out of search results: a host, or HOST/PATH, with *"
    )
    timeout_seconds: Positive = Field(description="of one page")
    max_bytes: Count = Field(description="of one page, after decompression")
    max_redirects: int = Field(ge=0, description="followed for one page")

    @field_validator("deny")
    @classmethod
    def _are_patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if not re.match(r"[^\s/:]+(/|$)", pattern):
                raise ValueError(
                    f"{pattern!r} is no pattern: write a host (no port) or HOST/PATH, as example.org/data/*"
                )
        return value


class CitationSettings(Settings):
    """Section `citations`: how reports are checked against what was retrieved."""

    verify: bool = Field(description="false: reports stay as the model wrote them, and have no audit")
    pages: Literal["ignore", "window", "exact"] = Field(
        description="the page of a document citation: exact, window (near a retrieved one), or ignore"
    )
    page_window: int = Field(ge=0, description="pages before and after a retrieved one, for pages=window")
    accept: tuple[SourceKind, ...] = Field(
        min_length=1, description="kinds of source that verify; `mentioned` and `echoed` URLs were never opened"
    )

    @property
    def window(self) -> int:
        """Pages from a retrieved one that a cited page may be away."""
        return {"exact": 0, "window": self.page_window, "ignore": maxsize}[self.pages]


class DatasetSettings(Plugin):
    """A dataset and which of its samples to take; filters apply in the order ids, split, language, type, sample."""

    name: str = Field(description="of the dataset, in tables and rows")
    path: str | None = Field(
        description="file or folder in the official format, relative to here; benchmarks/ also means what came with aiq"
    )
    hub: str | None = Field(description="a dataset on the Hugging Face hub instead of a path")
    ids: Names = Field(description="only these samples: [3,17]")
    split: str | None = Field(description="only this split, such as DEV")
    language: str | None = Field(description="only this language: en or zh")
    type: str | None = Field(description="only this fact_type, topic or type")
    sample: Count | None = Field(description="this many samples, drawn with the run's seed, in dataset order")
    truth: str | None = Field(description="what the closed world knows, for its judges; null: truth.jsonl beside path")

    @property
    def given(self) -> dict[str, Any]:
        return {**super().given, "path": self.path, "hub": self.hub}


class CassetteSettings(Settings):
    """Group `cassette`: record and replay."""

    mode: Literal["off", "record", "replay", "auto", "refresh"] = Field(
        description="replay: what is not recorded is an error; auto: it is recorded; refresh: and the rest forgotten"
    )
    dir: str | None = Field(description="the folder of the recording; null: cassettes/EXPERIMENT")
    ignored: OneOrMore = Field(
        description="of a request what may vary: fields of its JSON, parameters of its query; fixed when recorded"
    )


class CheckpointerSettings(Settings):
    """Group `checkpointer`: where LangGraph agents keep conversations."""

    kind: Literal["memory", "sqlite", "postgres"] = Field(description="memory: for the time of the run")
    path: str | None = Field(description="of kind=sqlite: the file, made where there is none")
    dsn_env: str | None = Field(description="the environment variable with postgresql://USER:PASSWORD@HOST/DATABASE")

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        needed = {"sqlite": "path", "postgres": "dsn_env"}.get(self.kind)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"kind={self.kind} needs {needed}")
        return self


class UserSettings(Settings):
    """Section `user`: who answers an agent's questions and reviews its plans (in `aiq chat` whoever types)."""

    kind: Literal["approve", "reject", "feedback", "simulated"] = Field(
        description="approve, reject, feedback (the remarks below), simulated (the role user.simulated)"
    )
    feedback: OneOrMore = Field(description="what kind=feedback says of the plans, one remark each, before it approves")

    @model_validator(mode="after")
    def _has_something_to_say(self) -> Self:
        if (self.kind == "feedback") != bool(self.feedback):
            raise ValueError("kind=feedback and remarks in feedback go together: set both or neither")
        return self


class RunnerSettings(Settings):
    """Group `runner`: how a run is worked off and its failures are counted."""

    concurrency: Count = Field(description="attempts at once")
    max_error_rate: Share = Field(
        description="share of failed attempts, or of a judge's reports or pages, above which the exit code is 3"
    )
    agent_failures: Literal["worst", "exclude"] = Field(
        description="worst: a failed attempt scores each metric's worst value; exclude: it does not count"
    )
    retry_failed: bool = Field(description="on resume, try failed attempts again")
    progress: bool = Field(description="bar or lines on stderr")


class OfflineSettings(Settings):
    """Section `offline`: the embedded stack; it runs when an endpoint's host is under `offline.example`."""

    target: str = Field(description="the class that starts it")
    world: str | None = Field(description="pages.jsonl of the closed world, or its folder; null: what came with aiq")
    pages: OneOrMore = Field(description="files of further pages, e.g. benchmarks/hostile_mini/pages.jsonl")
    faults: Mapping[str, Share] = Field(description="rate by fault, e.g. offline.faults.http_500=0.05")
    context_tokens: Count = Field(description="the longest prompt that the model takes")


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

    name: str = Field(min_length=1, pattern=r"^[\w.-]+$", description="of the experiment; an experiment sets it")
    seed: int = Field(ge=0, description="of everything random: model seeds, samples drawn, planted faults")
    epochs: Count = Field(description="repetitions of each sample")
    limit: Count | None = Field(description="only the first n samples")
    clock: Annotated[datetime, BeforeValidator(_clock)] = Field(description="that agents are told: `now`, or ISO 8601")
    output_dir: str = Field(description="a run's folder is OUTPUT_DIR/EXPERIMENT/RUN_ID")
    judge_reliability: str | None = Field(
        description="a reliability.json of `aiq calibrate`; null: the latest under OUTPUT_DIR/judge_calibration"
    )
    agent: Plugin = Field(description="the system under test")
    dataset: DatasetSettings = Field(description="its questions, and which of them")
    llm: LlmSettings = Field(description="who answers model calls")
    search: SearchSettings = Field(description="who answers web searches")
    web: WebSettings = Field(description="where fetched pages come from")
    papers: PapersSettings = Field(description="search for scholarly papers: the tool paper_search")
    knowledge: KnowledgeSettings = Field(description="users' documents: the tool knowledge_search")
    judge: Mapping[str, Plugin] = Field(description="who scores the reports, by name")
    tool: Mapping[str, Plugin] = Field(description="tools of your own, by name")
    cassette: CassetteSettings = Field(description="record and replay")
    checkpointer: CheckpointerSettings = Field(description="where agents keep conversations")
    user: UserSettings = Field(description="who answers an agent's questions and reviews its plans")
    runner: RunnerSettings = Field(description="how the run is worked off and its failures are counted")
    limits: Limits = Field(description="null: no limit")
    offline: OfflineSettings = Field(description="the embedded stack")
    citations: CitationSettings = Field(description="how reports are checked against what was retrieved")
