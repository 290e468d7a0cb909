"""A whole run: the other groups and sections, and the settings of the run itself."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from aiq.core.settings.base import OneOrMore, Plugin, Settings
from aiq.core.settings.llm import LlmSettings
from aiq.core.settings.world import CitationSettings, KnowledgeSettings, PapersSettings, SearchSettings, WebSettings
from aiq.core.usage import Limits


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
    sample: int | None = Field(default=None, ge=1)
    truth: str | None = None

    @field_validator("ids", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """YAML reads ids such as 58 as numbers; a single one may stand without brackets."""
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

    concurrency: int = Field(default=8, ge=1)
    max_error_rate: float = Field(default=0.1, ge=0, le=1)
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
    faults: Mapping[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    context_tokens: int = Field(default=131_072, ge=1)


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
    epochs: int = Field(default=1, ge=1)
    limit: int | None = Field(default=None, ge=1)
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
    judge: Mapping[str, Plugin] = Field(default_factory=dict)
    cassette: CassetteSettings = CassetteSettings()
    checkpointer: CheckpointerSettings = CheckpointerSettings()
    user: UserSettings = UserSettings()
    runner: RunnerSettings = RunnerSettings()
    limits: Limits = Limits()
    offline: OfflineSettings = OfflineSettings()
    citations: CitationSettings = CitationSettings()
