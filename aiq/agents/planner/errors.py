"""Why a call failed, as one of nine categories; which of them may pass; trying again with smaller arguments."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from aiq.agents.planner.settings import CallSettings
from aiq.agents.planner.state import Arguments
from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted, ToolError, ToolErrorKind
from aiq.core.events import Recovery
from aiq.core.models import retrying
from aiq.core.session import current

T = TypeVar("T")
Floors = Mapping[str, Any]
"""The least value of each argument that can be made smaller; a mapping for arguments within one."""


class Category(StrEnum):
    """In the order in which texts are compared; the first that fits counts."""

    TOKEN_LIMIT = "token_limit"  # noqa: S105  of a model
    RATE_LIMIT = "rate_limit"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    AUTHENTICATION = "authentication"
    SERVER_ERROR = "server_error"
    MCP_TOOL_ERROR = "mcp_tool_error"
    SUB_AGENT_ERROR = "sub_agent_error"
    UNKNOWN = "unknown"

    @property
    def may_pass(self) -> bool:
        final = (Category.AUTHENTICATION, Category.MCP_TOOL_ERROR, Category.SUB_AGENT_ERROR, Category.UNKNOWN)
        return self not in final


class UnknownSubAgent(AgentError):
    """A plan names a sub-agent that there is not."""


_STATUS = r"\b(?:http|status|code|error|response)\b\D{0,12}\b"
"""What makes a bare number a status: "found 5000 documents" and "doc 14291" are none."""
_AGENTS = (
    "decomposer|perspective|aggregator|scanner|extractor|validator|gap.?analyzer|synthesizer|sub-?agent|agent execution"
)
_TEXTS: Mapping[Category, re.Pattern[str]] = {
    category: re.compile(pattern, re.IGNORECASE)
    for category, pattern in {
        Category.TOKEN_LIMIT: r"\btokens? (?:limit|exceeded|too long)|maximum context length|\binput (?:is )?too long"
        r"|prompt is too long|request too large|\bmax_tokens\b|context_length_exceeded|prompt\b.*\bexceed"
        r"|string too long|content too large",
        Category.RATE_LIMIT: r"\brate[ -]?limit|too many requests|quota exceeded|\bcapacity\b|\boverloaded\b|\bthrottl"
        rf"|{_STATUS}429\b|\b429 too",
        Category.CONNECTION: r"\bconnect(?:ion)? (?:error|failed|refused|reset)|network (?:error|unreachable)"
        r"|\bdns (?:error|failed)|cannot connect|no route to host|econnrefused|enotfound",
        Category.TIMEOUT: r"\btime(?:d )?[ -]?out|deadline exceeded|request took too long",
        Category.AUTHENTICATION: r"\bunauthori[sz]ed|\bforbidden\b|invalid (?:api key|credentials)"
        rf"|authentication (?:failed|error|required)|{_STATUS}40[13]\b",
        Category.SERVER_ERROR: r"internal server error|bad gateway|service unavailable|gateway time-?out"
        rf"|{_STATUS}50[0234]\b",
        Category.MCP_TOOL_ERROR: r"\bmcp (?:tool )?(?:error|failed)|\btool (?:execution|call)? ?(?:error|failed)"
        r"|unknown tool|tool not found",
        Category.SUB_AGENT_ERROR: rf"\b(?:{_AGENTS}) (?:error|failed)",
    }.items()
}
"""Specification 4.11. What is not a status in a context, a hyphen, or an agent that its list leaves out is handled."""

_TOOLS = {
    ToolErrorKind.TIMEOUT: Category.TIMEOUT,
    ToolErrorKind.TOO_LARGE: Category.TOKEN_LIMIT,
    ToolErrorKind.UNAUTHORIZED: Category.AUTHENTICATION,
    ToolErrorKind.QUOTA: Category.RATE_LIMIT,
}
_SAYING = frozenset({ToolErrorKind.HTTP, ToolErrorKind.FAILED})
"""Kinds of which the text says more."""


def categorise(error: BaseException) -> Category:
    """By the error's type, and by its text where that leaves it open."""
    match error:
        case UnknownSubAgent():
            return Category.UNKNOWN
        case ModelError(broke_off=True):
            said = categorise_text(str(error))
            return Category.CONNECTION if said is Category.UNKNOWN else said
        case ModelError(status=int(status)):
            return _of_status(status) or categorise_text(str(error))
        case ToolError(kind=kind) if kind in _TOOLS:
            return _TOOLS[kind]
        case ToolError(kind=kind):
            said = categorise_text(str(error)) if kind in _SAYING else Category.UNKNOWN
            return Category.MCP_TOOL_ERROR if said is Category.UNKNOWN else said
        case TimeoutError():
            return Category.TIMEOUT
        case ConnectionError():
            return Category.CONNECTION
    return categorise_text(str(error))


def categorise_text(text: str) -> Category:
    """The first category whose words a text has."""
    return next((category for category, words in _TEXTS.items() if words.search(text)), Category.UNKNOWN)


def _of_status(status: int) -> Category | None:
    """The category of an HTTP status; None for one that is about what the request said."""
    if status in (401, 403):
        return Category.AUTHENTICATION
    return Category.RATE_LIMIT if status == 429 else Category.SERVER_ERROR if status >= 500 else None


def reduced(arguments: Mapping[str, Any], floors: Floors) -> Arguments:
    """The arguments with each that has a floor halved, not below it; only whole numbers above it."""
    smaller = dict(arguments)
    for name, floor in floors.items():
        value = arguments.get(name)
        if isinstance(floor, Mapping) and isinstance(value, Mapping):
            smaller[name] = reduced(value, floor)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
            smaller[name] = min(value, max(floor, value // 2))
    return smaller


async def with_retries(
    name: str, call: Callable[[Arguments], Awaitable[T]], arguments: Arguments, floors: Floors, settings: CallSettings
) -> T:
    """What the call gives; one that failed in a way that may pass is made again, after a token limit with less.

    A model call is sent again by the run's transport, as often as these settings say, and not here once more, but for
    a stream that broke off. Raises the last error; a limit, the run's end, and a set-up that has never worked pass at
    once.
    """
    for attempt in range(settings.retries + 1):
        try:
            with retrying(settings.retries):
                return await call(arguments)
        except (LimitReached, RunAborted):
            raise
        except Exception as error:
            category = categorise(error)
            was_sent_again = isinstance(error, ModelError) and not (error.broke_off or category is Category.TOKEN_LIMIT)
            if not category.may_pass or was_sent_again or attempt == settings.retries:
                raise
            detail = f"{name}: {category}: {error}"
            if category is Category.TOKEN_LIMIT:
                arguments = reduced(arguments, floors)
                detail += f"; with { ({key: arguments[key] for key in floors if key in arguments}) }"
            seconds = settings.first_seconds * 2**attempt
            current().events.emit(Recovery(what="call_retried", detail=detail, seconds=seconds))
        await asyncio.sleep(seconds)
    raise AssertionError("a call is made at least once")
