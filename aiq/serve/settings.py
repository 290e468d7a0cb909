"""What a server is started with: the settings of the HTTP API (`conf/serve/default.yaml`), of its run, its agents."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import Field

from aiq.core.plugins import validate
from aiq.core.run_settings import RunSettings
from aiq.core.settings import Count, OneOrMore, Plugin, Positive, Settings
from aiq.core.usage import Quantity
from aiq.experiment.compose import compose, compose_apart, compose_with_options, setting_of, settings_from
from aiq.experiment.live import live_config
from aiq.runs.folder import Folder

_DEFAULTS = ("experiment=full_freshqa", "agent=ai_q_chat")
"""Where no experiment is chosen: AI-Q on the closed world, at the world's time."""
_OWN = ("judge=[]", "dataset=questions", "dataset.path=questions.jsonl", "name=serve")
_OF_RUNS = ("dataset", "epochs", "limit", "judge", "judge_reliability", "name", "cassette")
_IDLE = {
    **dict.fromkeys(_OF_RUNS, "a server's samples are the tasks that it is asked"),
    "resume": "a server goes on with its unfinished tasks by itself",
    "user": "of a task it is whoever sends approvals",
    **{f"limits.run_{quantity}": "what a key may spend is serve.key.usd" for quantity in get_args(Quantity)},
}
"""Settings of a run that a server has no use for, and why."""

MOST_BYTES = 1_048_576
"""Of a request's body."""


def is_loopback(host: str) -> bool:
    """Whether a host, by its name or address, is this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class KeyLimits(Settings):
    requests_per_minute: Count = Field(description="of one key; more are answered with 429")
    tasks: Count = Field(description="of one key that are waiting or under way; more are answered with 429")
    streams: Count = Field(description="of one key that are open; more are answered with 429")
    usd: float | None = Field(gt=0, description="that one key may spend in all; null: no limit")


class ServeSettings(Settings):
    """Group `serve`: the HTTP API of `aiq serve`."""

    host: str = Field(min_length=1, description="the address to listen at; all but loopback needs keys")
    port: int = Field(ge=0, le=65535, description="0: one that is free")
    agents: OneOrMore = Field(description="options of the group agent that are served beside agent=")
    origins: OneOrMore = Field(description="of web pages elsewhere that may ask: https://host; none: CORS is off")
    query_chars: Count = Field(description="of a query, and of each of its turns")
    turns: Count = Field(description="that a task may have before its query")
    queue: Count = Field(description="tasks that wait; more are answered with 503")
    streams: Count = Field(description="open at once; more are answered with 503")
    task_seconds: Positive = Field(description="of one attempt, where limits.sample_seconds states none")
    approval_seconds: Positive = Field(description="that a plan waits (then it is rejected) or a question (skipped)")
    body_seconds: Positive = Field(description="in which a request has to arrive, and its body again")
    heartbeat_seconds: Positive = Field(description="after which a silent stream says that it is alive")
    stall_seconds: Positive = Field(description="after which a stream is cut whose reader takes nothing")
    key: KeyLimits = Field(description="what each key may ask for")


@dataclass(frozen=True)
class Setup:
    """`overrides`: as they were given. `agents`: by name, that of tasks which name none first.

    `live`: agents are told the time of the task, not the run's clock.
    """

    overrides: Sequence[str]
    run: RunSettings
    api: ServeSettings
    agents: Mapping[str, Plugin]
    live: bool

    @property
    def home(self) -> Folder:
        """That of all starts."""
        return Folder(Path(self.run.output_dir) / self.run.name)


def setup_of(given: Sequence[str]) -> Setup:
    """Raises ConfigError, one line."""
    own = [text for text in given if _section(text) == "serve"]
    composed, config = live_config([text for text in given if text not in own], _DEFAULTS, _IDLE, _OWN)
    run, api = settings_from(config), validate(ServeSettings, compose_apart("serve", "default", own), "serve")
    agents = {compose_with_options(composed)[1]["agent"]: run.agent}
    others = [text for text in composed if _section(text) != "agent"]
    for name in dict.fromkeys(api.agents):
        if name not in agents:
            agents[name] = settings_from(compose([*others, f"agent={name}"])).agent
    return Setup(given, run, api, agents, config["clock"] == "now")


def _section(text: str) -> str:
    return setting_of(text).partition(".")[0]
