"""What a server starts with: the settings of the HTTP API (`conf/serve/default.yaml`), of its run and its agents."""

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
from aiq.experiment.compose import compose, compose_group, compose_with_options, setting_of, settings_from
from aiq.experiment.live import live_config
from aiq.runs.folder import Folder

_DEFAULTS = ("experiment=full_freshqa", "agent=ai_q_chat")
"""If no experiment is chosen: AI-Q on the closed world, at the world's time."""
_FIXED = ("judge=[]", "dataset=questions", "dataset.path=questions.jsonl", "name=serve")
_RUN_SETTINGS = ("dataset", "epochs", "limit", "judge", "judge_reliability", "name", "cassette")
_UNUSED = {
    **dict.fromkeys(_RUN_SETTINGS, "a server's samples are the tasks that clients send"),
    "resume": "a server continues its unfinished tasks by itself",
    "user": "a task's user is whoever sends approvals",
    **{f"limits.run_{quantity}": "what a key may spend is serve.key.usd" for quantity in get_args(Quantity)},
}
"""Settings of a run that a server has no use for, and why."""

MOST_BYTES = 1_048_576
"""The size limit of a request's body."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's loopback."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class KeyLimits(Settings):
    requests_per_minute: Count = Field(description="per key; more are answered with 429")
    tasks: Count = Field(description="unfinished tasks per key; more are answered with 429")
    streams: Count = Field(description="open streams per key; more are answered with 429")
    usd: float | None = Field(gt=0, description="that one key may spend in total; null: no limit")


class ServeSettings(Settings):
    """Group `serve`: the HTTP API of `aiq serve`."""

    host: str = Field(min_length=1, description="the address to listen on; any but loopback needs keys")
    port: int = Field(ge=0, le=65535, description="0: any free port")
    agents: OneOrMore = Field(description="options of the group agent that are served besides agent=")
    origins: OneOrMore = Field(description="of other web pages that may send requests: https://host; none: CORS is off")
    query_chars: Count = Field(description="the longest query or turn")
    turns: Count = Field(description="most turns that a task may have before its query")
    queue: Count = Field(description="tasks waiting; more are answered with 503")
    streams: Count = Field(description="open at once; more are answered with 503")
    task_seconds: Positive = Field(description="per attempt, if limits.sample_seconds is null")
    approval_seconds: Positive = Field(description="that a plan waits (then rejected) or a question (then skipped)")
    body_seconds: Positive = Field(description="within which a request must arrive, and then its body")
    heartbeat_seconds: Positive = Field(description="after which a silent stream sends a heartbeat")
    stall_seconds: Positive = Field(description="after which a stream is cut off if its reader takes nothing")
    key: KeyLimits = Field(description="limits per key")


@dataclass(frozen=True)
class Setup:
    """`overrides`: as given. `agents`: by name, first the one for tasks that name none.

    `live`: agents see the time of the task, not the run's clock.
    """

    overrides: Sequence[str]
    run: RunSettings
    api: ServeSettings
    agents: Mapping[str, Plugin]
    live: bool

    @property
    def home(self) -> Folder:
        """The folder of all starts."""
        return Folder(Path(self.run.output_dir) / self.run.name)


def setup_of(given: Sequence[str]) -> Setup:
    """Raises ConfigError, one line."""
    api_overrides = [text for text in given if _section(text) == "serve"]
    overrides, config = live_config([text for text in given if text not in api_overrides], _DEFAULTS, _UNUSED, _FIXED)
    run, api = settings_from(config), validate(ServeSettings, compose_group("serve", "default", api_overrides), "serve")
    agents = {compose_with_options(overrides)[1]["agent"]: run.agent}
    other_overrides = [text for text in overrides if _section(text) != "agent"]
    for name in dict.fromkeys(api.agents):
        if name not in agents:
            agents[name] = settings_from(compose([*other_overrides, f"agent={name}"])).agent
    return Setup(given, run, api, agents, config["clock"] == "now")


def _section(text: str) -> str:
    return setting_of(text).partition(".")[0]
