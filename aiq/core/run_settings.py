"""The settings of a run: what Hydra composes, validated; one class per config group or section.

Agents, judges and datasets validate their own settings (`Settings` on the class that `target` names); here they are
kept as composed.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from sys import maxsize
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, PlainSerializer, field_validator, model_validator

from aiq.core.llm_settings import LlmSettings
from aiq.core.samples import Shard
from aiq.core.settings import Count, Endpoint, Names, OneOrMore, Plugin, Positive, Settings, Share
from aiq.core.sources import SourceKind
from aiq.core.tool_settings import ToolsSettings
from aiq.core.usage import Limits, SpendName

Strategy = Literal["grid", "ablation", "random", "halving", "optuna", "rescore"]
Results = Annotated[int, Field(ge=1, le=20)]


class SearchSettings(Settings):
    """Group `search`: the service that answers web searches."""

    provider: str = Field(description="a module of aiq/tools/providers, or your own class: package.module:Class")
    options: Mapping[str, JsonValue] = Field(description="settings of your own provider class")
    base_url: Endpoint | None = Field(description="address of the search API; null: the provider needs none")
    api_key_env: str | None = Field(description="the environment variable that holds the key; null: send none")
    corpus: str | None = Field(description="pages to search: JSONL or gzipped JSONL; also serves web=corpus")
    max_results: Results = Field(description="per search")
    max_content_length: Count | None = Field(description="characters per result; null: all")
    depth: Literal["basic", "advanced"] = Field(description="basic or advanced (Tavily)")
    include_answer: Literal["basic", "advanced"] | None = Field(
        description="basic or advanced: the API's own answer too (Tavily); never a source"
    )
    timeout_seconds: Positive = Field(description="per search")


class PapersSettings(Settings):
    """Section `papers`: search for scholarly papers, the tool paper_search of the data source `papers`."""

    provider: str | None = Field(description="serper (Google Scholar), or package.module:Class; null: no such tool")
    base_url: Endpoint | None = Field(description="null: the provider's own")
    api_key_env: str | None = Field(description="the environment variable that holds the key")
    max_results: Results = Field(description="per search")
    timeout_seconds: Positive = Field(description="per search")


class KnowledgeSettings(Settings):
    """Section `knowledge`: users' documents, the tool knowledge_search of the data source `documents`."""

    dir: str = Field(description="the folder of all collections; `aiq documents add` fills them")
    collection: str | None = Field(description="for questions that name none; null: no tool for these")
    documents: OneOrMore = Field(description="files and folders that a run adds to the collection before it starts")
    max_results: Results = Field(description="pages per search")
    max_content_length: Count = Field(description="characters per result")
    summarizer: Literal["rules", "model"] = Field(description="rules, or model (its role: knowledge.summarizer)")
    summary_chars: int = Field(ge=40, description="characters of a document's summary")


class WebSettings(Settings):
    """Group `web`: where fetched pages come from."""

    kind: Literal["offline", "corpus", "live"] = Field(
        description="offline: the closed world; corpus: pages of search.corpus; live: the internet"
    )
    allow_hosts: OneOrMore = Field(description="hosts exempt from the address guard")
    deny: OneOrMore = Field(
        description="pages with benchmark data, refused and left out of search results: HOST or HOST/PATH, with *"
    )
    timeout_seconds: Positive = Field(description="per page")
    max_connections: Count = Field(description="to search APIs and pages at once; model calls have their own limit")
    max_bytes: Count = Field(description="per page, after decompression")
    max_redirects: int = Field(ge=0, description="followed per page")

    @field_validator("deny")
    @classmethod
    def _are_patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if not re.match(r"[^\s/:]+(/|$)", pattern):
                raise ValueError(
                    f"{pattern!r} is not a pattern: write a host (no port) or HOST/PATH, as example.org/data/*"
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
        min_length=1, description="kinds of source that verify; URLs `mentioned` or `echoed` were never opened"
    )

    @property
    def window(self) -> int:
        """How many pages a cited page may be away from a retrieved one."""
        return {"exact": 0, "window": self.page_window, "ignore": maxsize}[self.pages]


class DatasetSettings(Plugin):
    """A dataset and which of its samples to take; filters apply in the order ids, split, language, type, sample."""

    name: str = Field(description="the dataset's name in tables and rows")
    path: str | None = Field(
        description="file or folder in the official format, relative to here; benchmarks/ also finds what came with aiq"
    )
    hub: str | None = Field(description="a dataset on the Hugging Face hub instead of a path")
    ids: Names = Field(description="only these samples: [3,17]")
    split: str | None = Field(description="only this split, such as DEV")
    language: str | None = Field(description="only this language: en or zh")
    type: str | None = Field(description="only this fact_type, topic or type")
    sample: Count | None = Field(description="this many samples, drawn with the run's seed, in dataset order")
    truth: str | None = Field(description="facts of the closed world, for its judges; null: truth.jsonl beside path")

    @property
    def given(self) -> dict[str, Any]:
        return {**super().given, "path": self.path, "hub": self.hub}


class CassetteSettings(Settings):
    """Group `cassette`: record and replay."""

    mode: Literal["off", "record", "replay", "auto", "refresh"] = Field(
        description="replay: what is not recorded is an error; auto: it is recorded; refresh: and the rest dropped"
    )
    dir: str | None = Field(description="the folder of the recording; null: cassettes/EXPERIMENT")
    ignored: OneOrMore = Field(
        description="parts of a request that may vary: JSON fields, query parameters; fixed when recorded"
    )


class CheckpointerSettings(Settings):
    """Group `checkpointer`: where LangGraph agents keep conversations."""

    kind: Literal["memory", "sqlite", "postgres"] = Field(description="memory: only while the run lasts")
    path: str | None = Field(description="for kind=sqlite: the file, created if missing")
    dsn_env: str | None = Field(description="the environment variable with postgresql://USER:PASSWORD@HOST/DATABASE")

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        setting = {"sqlite": "path", "postgres": "dsn_env"}.get(self.kind)
        if setting is not None and not getattr(self, setting):
            raise ValueError(f"kind={self.kind} needs {setting}")
        return self


class UserSettings(Settings):
    """Section `user`: who answers an agent's questions and reviews its plans (in `aiq chat`, the person typing)."""

    kind: Literal["approve", "reject", "feedback", "simulated"] = Field(
        description="approve, reject, feedback (the remarks below), simulated (the role user.simulated)"
    )
    feedback: OneOrMore = Field(description="what kind=feedback says of the plans, one remark each, before it approves")

    @model_validator(mode="after")
    def _has_something_to_say(self) -> Self:
        if (self.kind == "feedback") != bool(self.feedback):
            raise ValueError("kind=feedback and remarks in feedback go together: set both or neither")
        return self


class FailureSettings(Settings):
    """The part of group `runner` that decides how a run's failures count."""

    max_error_rate: Share = Field(
        description="share of failed attempts, or of a judge's reports or pages, above which the exit code is 3"
    )
    agent_failures: Literal["worst", "exclude"] = Field(
        description="worst: a failed attempt scores each metric's worst value; exclude: it does not count"
    )
    retry_failed: bool = Field(description="on resume, retry attempts that failed or reached a limit")


class RunnerSettings(FailureSettings):
    """Group `runner`: how a run is carried out and its failures are counted."""

    concurrency: Count = Field(description="attempts at once")
    judge_concurrency: Count | None = Field(description="reports judged at once, beside the attempts; null: as many")
    processes: Count = Field(description="shards at once, each a process with its share of the attempts")
    launcher: Plugin = Field(description="who starts these processes, and where")
    progress: bool = Field(description="show a bar or lines on stderr")


class OfflineSettings(Settings):
    """Section `offline`: the embedded stack; it runs when an endpoint's host is under `offline.example`."""

    target: str = Field(description="the class that starts it")
    world: str | None = Field(description="pages.jsonl of the closed world, or its folder; null: what came with aiq")
    pages: OneOrMore = Field(description="files with more pages, e.g. benchmarks/hostile_mini/pages.jsonl")
    faults: Mapping[str, Share] = Field(description="rate by fault, e.g. offline.faults.http_500=0.05")
    context_tokens: Count = Field(description="the longest prompt that the model accepts")


class TelemetrySettings(Settings):
    """Section `telemetry`: OpenTelemetry traces of the run."""

    otlp_endpoint: Endpoint | None = Field(
        description="where a collector accepts OTLP over HTTP, without /v1/traces: http://127.0.0.1:4318; null: none"
    )
    headers_env: Mapping[str, str] = Field(
        description="for each header, the environment variable with its value: {Authorization: MY_TOKEN}"
    )
    content: bool = Field(description="also the contents: prompts, answers, tool arguments and results, errors")


class SweepSettings(Settings):
    """Section `sweep`: what `aiq run -m` varies besides the command line, and what its recommendation considers."""

    axes: Mapping[str, tuple[JsonValue, ...] | None] = Field(
        description="values by setting, as {agent.deep.max_loops: [1, 2, 3]}; null: not varied; the command line wins"
    )
    metric: str | None = Field(description="the metric to be good at; null: the first metric of the first judge")
    spend: SpendName | None = Field(
        description="what to keep low: cost_usd, tokens, calls, seconds; null: dollars if all are known, else tokens"
    )
    strategy: Strategy = Field(
        description="points: grid (all), ablation (one change at a time), random, optuna, halving, rescore"
    )
    points: Count = Field(description="for strategy=random or optuna: how many")
    rungs: Count = Field(description="for strategy=halving: the last has all samples, each one before it half as many")
    error: Share = Field(description="for strategy=halving: the chance of stopping the best point, at most")
    runs: OneOrMore = Field(
        description="for strategy=rescore: the run to decide again, and others that did what it did not do"
    )
    record: OneOrMore = Field(description="for strategy=rescore without runs: an override for each run to make first")


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


def _shard(value: object) -> object:
    return value if value is None or isinstance(value, Shard) else Shard.parse(str(value))


class RunSettings(Settings):
    """A whole run: what `python -m aiq.run` composes from `conf/` and the command line."""

    name: str = Field(description="the experiment's name, which its config sets")
    seed: int = Field(ge=0, description="for everything random: model seeds, samples drawn, planted faults")
    epochs: Count = Field(description="repetitions of each sample")
    limit: Count | None = Field(description="only the first n samples")
    clock: Annotated[datetime, BeforeValidator(_clock)] = Field(description="the time agents see: `now`, or ISO 8601")
    intervals: Literal["score", "exact"] = Field(
        description="score: 95 % coverage on average; exact: Clopper-Pearson, never below 95 % for shares, and wider"
    )
    output_dir: str = Field(description="a run's folder is OUTPUT_DIR/EXPERIMENT/RUN_ID")
    run_id: str | None = Field(description="the name of the run's folder; null: made from the time")
    shard: Annotated[
        Shard | None, BeforeValidator(_shard), PlainSerializer(lambda shard: shard and str(shard), str | None)
    ] = Field(description="K/N: only this part of the attempts, beside other shards in the folder of run_id; null: all")
    judge_reliability: str | None = Field(
        description="a reliability.json of `aiq calibrate`; null: the latest under OUTPUT_DIR/judge_calibration"
    )
    agent: Plugin = Field(description="the system under test")
    dataset: DatasetSettings = Field(description="the questions, and which of them to ask")
    llm: LlmSettings = Field(description="who answers model calls")
    search: SearchSettings = Field(description="who answers web searches")
    web: WebSettings = Field(description="where fetched pages come from")
    papers: PapersSettings = Field(description="search for scholarly papers: the tool paper_search")
    knowledge: KnowledgeSettings = Field(description="users' documents: the tool knowledge_search")
    judge: Mapping[str, Plugin] = Field(description="who scores the reports, by name")
    tool: Mapping[str, Plugin] = Field(description="tools of your own, by name")
    tools: ToolsSettings = Field(description="MCP servers, whose tools agents get as well")
    cassette: CassetteSettings = Field(description="record and replay")
    checkpointer: CheckpointerSettings = Field(description="where agents keep conversations")
    user: UserSettings = Field(description="who answers an agent's questions and reviews its plans")
    runner: RunnerSettings = Field(description="how the run is carried out and its failures are counted")
    limits: Limits = Field(description="null: no limit")
    offline: OfflineSettings = Field(description="the embedded stack")
    citations: CitationSettings = Field(description="how reports are checked against what was retrieved")

    @field_validator("name", "run_id")
    @classmethod
    def _names_a_folder(cls, text: str | None) -> str | None:
        if text is not None and not re.fullmatch(r"\w[\w.-]*", text):
            raise ValueError("write letters and digits, and after the first also . and -")
        return text

    @model_validator(mode="after")
    def _one_process_records(self) -> Self:
        if (self.shard or self.runner.processes > 1) and self.cassette.mode not in ("off", "replay"):
            raise ValueError(
                f"a recording is made by one process: with cassette={self.cassette.mode} set neither shard nor "
                "runner.processes (cassette=replay allows both)"
            )
        return self

    telemetry: TelemetrySettings = Field(description="OpenTelemetry traces of the run")

    def changed(self, section: str, **values: Any) -> Self:
        """A copy with other values in one of its sections."""
        return self.model_copy(update={section: getattr(self, section).model_copy(update=values)})
