"""The settings of the HTTP API; the defaults are in `conf/serve/default.yaml`."""

import ipaddress

from pydantic import Field

from aiq.core.settings import Count, OneOrMore, Positive, Settings

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
    body_seconds: Positive = Field(description="in which a request's body has to arrive")
    heartbeat_seconds: Positive = Field(description="after which a silent stream says that it is alive")
    stall_seconds: Positive = Field(description="after which a stream is cut whose reader takes nothing")
    key: KeyLimits = Field(description="what each key may ask for")
