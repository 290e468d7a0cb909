"""Nine categories, by type first and text second; which are retried, and with which arguments."""

from typing import Any

import pytest

from aiq.agents.planner.errors import Category, UnknownSubAgent, categorise, categorise_text, reduce_sizes, with_retries
from aiq.agents.planner.settings import CallSettings
from aiq.agents.planner.subagents.aggregator import Aggregator
from aiq.agents.planner.subagents.decomposer import Decomposer
from aiq.agents.planner.subagents.scanner import Scanner
from aiq.agents.planner.subagents.synthesizer import Synthesizer
from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted, ToolError, ToolErrorKind
from aiq.core.events import Event, EventLog, Recovery
from tests.sessions import make_session

TEXTS = {
    "token_limit": [
        "Token limit reached",
        "tokens exceeded",
        "This model's maximum context length is 8192",
        "input is too long",
        "prompt is too long: 9 tokens",
        "Request too large",
        "max_tokens is above the limit",
        "context_length_exceeded",
        "the prompt would exceed the window",
        "string too long",
        "Content too large",
    ],
    "rate_limit": ["rate limit", "rate-limit reached", "Too Many Requests", "HTTP 429", "quota exceeded", "at capacity",
                   "overloaded", "throttled"],
    "connection": ["connection error", "connect failed", "Connection refused", "network unreachable", "DNS failed",
                   "cannot connect to host", "connection reset by peer", "no route to host", "ECONNREFUSED",
                   "ENOTFOUND"],
    "timeout": ["timeout", "Request timed out", "deadline exceeded", "request took too long"],
    "authentication": ["HTTP 401", "status code: 403", "Unauthorized", "forbidden", "invalid API key",
                       "authentication required", "invalid credentials"],
    "server_error": ["HTTP 500", "error 502", "status=503", "504 Gateway Timeout response: 504",
                     "Internal Server Error", "bad gateway", "service unavailable"],
    "mcp_tool_error": ["MCP error", "mcp tool failed", "tool execution failed", "tool call error", "unknown tool: x",
                       "tool not found"],
    "sub_agent_error": ["sub-agent failed", "agent execution error", "decomposer error", "aggregator failed",
                        "scanner failed", "synthesizer error", "validator failed", "extractor error",
                        "perspective failed", "gap_analyzer failed", "gap analyzer error"],
    "unknown": ["", "found 5000 documents", "doc 14291", "page 403 of the book", "it just broke"],
}  # fmt: skip


@pytest.mark.parametrize(("category", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_a_text_has_the_first_category_whose_pattern_matches(category: str, text: str) -> None:
    result = categorise_text(text)
    if text.startswith("504"):  # a gateway's timeout is a timeout: that category comes first
        assert result is Category.TIMEOUT
    else:
        assert result == category


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (ModelError("told: 5000 documents", status=429), "rate_limit"),
        (ModelError("no", status=401), "authentication"),
        (ModelError("no", status=403), "authentication"),
        (ModelError("timeout", status=503), "server_error"),
        (ModelError("context_length_exceeded", status=400), "token_limit"),
        (ModelError("no such field", status=400), "unknown"),
        (ModelError("connection refused"), "connection"),
        (ToolError(ToolErrorKind.TIMEOUT, "gave no answer"), "timeout"),
        (ToolError(ToolErrorKind.TOO_LARGE, "cut"), "token_limit"),
        (ToolError(ToolErrorKind.UNAUTHORIZED, "no"), "authentication"),
        (ToolError(ToolErrorKind.QUOTA, "no"), "rate_limit"),
        (ToolError(ToolErrorKind.HTTP, "HTTP 503"), "server_error"),
        (ToolError(ToolErrorKind.HTTP, "connection reset"), "connection"),
        (ToolError(ToolErrorKind.FAILED, "429 too many requests"), "rate_limit"),
        (ToolError(ToolErrorKind.FAILED, "it broke"), "mcp_tool_error"),
        (ToolError(ToolErrorKind.INVALID_ARGUMENTS, "no timeout here"), "mcp_tool_error"),
        (ToolError(ToolErrorKind.UNKNOWN_TOOL, "no x"), "mcp_tool_error"),
        (TimeoutError(), "timeout"),
        (ConnectionResetError(), "connection"),
        (UnknownSubAgent("Unknown sub-agent: scanner failed"), "unknown"),
        (AgentError("validator failed: no reply"), "sub_agent_error"),
        (ValueError("odd"), "unknown"),
    ],
)
def test_the_type_of_an_error_counts_before_its_text(error: Exception, category: str) -> None:
    assert categorise(error) == category


PASSING = {"token_limit", "rate_limit", "connection", "timeout", "server_error"}


@pytest.mark.parametrize("category", Category)
def test_five_categories_are_transient(category: Category) -> None:
    assert category.is_transient == (category in PASSING)


@pytest.mark.parametrize(
    ("agent", "arguments", "smaller"),
    [
        (Scanner, {"batch_size": 75, "max_batches": 4}, {"batch_size": 37, "max_batches": 2}),
        (Scanner, {"batch_size": 12, "max_batches": 1}, {"batch_size": 10, "max_batches": 1}),
        (Scanner, {"batch_size": 5}, {"batch_size": 5}),
        (
            Scanner,
            {"tool_args": {"top_n": 20, "samples_per_bucket": 9, "filters": "{}", "page_size": 50}},
            {"tool_args": {"top_n": 10, "samples_per_bucket": 4, "filters": "{}", "page_size": 50}},
        ),
        (Aggregator, {"top_n": 8, "samples_per_bucket": 0}, {"top_n": 5, "samples_per_bucket": 0}),
        (Aggregator, {"top_n": True, "samples_per_bucket": -4}, {"top_n": True, "samples_per_bucket": -4}),
        (Aggregator, {"top_n": "20"}, {"top_n": "20"}),
        (Synthesizer, {"max_findings": 50}, {"max_findings": 25}),
        (Synthesizer, {"max_findings": 13}, {"max_findings": 10}),
        (Decomposer, {"max_questions": 7}, {"max_questions": 7}),
    ],
)
def test_arguments_are_halved_down_to_their_floors(agent: Any, arguments: Any, smaller: Any) -> None:
    assert reduce_sizes(arguments, agent.floors) == smaller


async def tried(failures: list[Exception], arguments: Any = None, retries: int = 2) -> tuple[list[Any], list[Event]]:
    """The arguments of each attempt of a call that fails this often; raises what the last attempt raises."""
    attempts: list[Any] = []
    events: list[Event] = []

    async def call(args: Any) -> None:
        attempts.append(args)
        if len(attempts) <= len(failures):
            raise failures[len(attempts) - 1]

    settings = CallSettings(at_once=1, retries=retries, first_seconds=0, timeout_seconds=1)
    with make_session(events=EventLog(events.append)).bind():
        try:
            await with_retries("scanner", call, arguments or {}, Scanner.floors, settings)
        except Exception as error:
            attempts.append(error)
    return attempts, events


BUSY = ToolError(ToolErrorKind.HTTP, "HTTP 503")


BROKE_OFF = ModelError("broke off its stream: it ended in the middle", status=200, broke_off=True)


async def test_transient_failures_are_retried_twice() -> None:
    assert (await tried([BUSY, BROKE_OFF]))[0] == [{}, {}, {}]
    assert (await tried([BUSY, BUSY, BUSY]))[0] == [{}, {}, {}, BUSY]


@pytest.mark.parametrize(
    "error",
    [
        ToolError(ToolErrorKind.UNAUTHORIZED, "no"),
        AgentError("decomposer failed: no reply"),
        ModelError("HTTP 503", status=503),  # the transport has sent it again
        LimitReached("limits.sample_model_calls", 1),
        RunAborted("HTTP 503"),
    ],
)
async def test_permanent_failures_are_not_retried(error: Exception) -> None:
    assert (await tried([error]))[0] == [{}, error]


async def test_after_a_token_limit_less_is_asked_for() -> None:
    too_long = ModelError("prompt is too long", status=400)
    attempts, events = await tried([too_long, too_long], {"batch_size": 75})
    assert attempts == [{"batch_size": 75}, {"batch_size": 37}, {"batch_size": 18}]
    retries = [event for event in events if isinstance(event, Recovery)]
    assert ["'batch_size': 37" in retries[0].detail, "'batch_size': 18" in retries[1].detail] == [True, True]


async def test_each_wait_is_twice_as_long() -> None:
    settings = CallSettings(at_once=1, retries=2, first_seconds=0.01, timeout_seconds=1)
    events: list[Event] = []

    async def call(args: Any) -> None:
        raise BUSY

    with make_session(events=EventLog(events.append)).bind(), pytest.raises(ToolError):
        await with_retries("x", call, {}, {}, settings)
    assert [event.seconds for event in events if isinstance(event, Recovery)] == [0.01, 0.02]
