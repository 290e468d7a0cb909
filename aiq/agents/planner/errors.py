"""Why a call failed, as one of nine categories; which of them are transient; retries with smaller arguments."""

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
"""The minimum of each argument that can be reduced; a mapping for nested arguments."""


class Category(StrEnum):
    """In the order in which texts are matched; the first match counts."""

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
    def is_transient(self) -> bool:
        final = (Category.AUTHENTICATION, Category.MCP_TOOL_ERROR, Category.SUB_AGENT_ERROR, Category.UNKNOWN)
        return self not in final


class UnknownSubAgent(AgentError):
    """A plan names a sub-agent that does not exist."""


_STATUS = r"\b(?:http|status|code|error|response)\b\D{0,12}\b"
"""What must precede a number that is a status: "found 5000 documents" and "doc 14291" have none."""
_AGENTS = (
    "decomposer|perspective|aggregator|scanner|extractor|validator|gap.?analyzer|synthesizer|sub-?agent|agent execution"
)
_PATTERNS: Mapping[Category, re.Pattern[str]] = {
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
"""Specification 4.11, with stricter matching of statuses, and with hyphens and sub-agents that its list leaves out."""

_TOOL_CATEGORIES = {
    ToolErrorKind.TIMEOUT: Category.TIMEOUT,
    ToolErrorKind.TOO_LARGE: Category.TOKEN_LIMIT,
    ToolErrorKind.UNAUTHORIZED: Category.AUTHENTICATION,
    ToolErrorKind.QUOTA: Category.RATE_LIMIT,
}
_JUDGED_BY_TEXT = frozenset({ToolErrorKind.HTTP, ToolErrorKind.FAILED})
"""Kinds whose text decides on the category."""


def categorise(error: BaseException) -> Category:
    """The category, by the error's type and, if that is ambiguous, by its text."""
    match error:
        case UnknownSubAgent():
            return Category.UNKNOWN
        case ModelError(broke_off=True):
            category = categorise_text(str(error))
            return Category.CONNECTION if category is Category.UNKNOWN else category
        case ModelError(status=int(status)):
            return _category_of_status(status) or categorise_text(str(error))
        case ToolError(kind=kind) if kind in _TOOL_CATEGORIES:
            return _TOOL_CATEGORIES[kind]
        case ToolError(kind=kind):
            category = categorise_text(str(error)) if kind in _JUDGED_BY_TEXT else Category.UNKNOWN
            return Category.MCP_TOOL_ERROR if category is Category.UNKNOWN else category
        case TimeoutError():
            return Category.TIMEOUT
        case ConnectionError():
            return Category.CONNECTION
    return categorise_text(str(error))


def categorise_text(text: str) -> Category:
    """The first category whose pattern matches the text."""
    return next((category for category, pattern in _PATTERNS.items() if pattern.search(text)), Category.UNKNOWN)


def _category_of_status(status: int) -> Category | None:
    """The category of an HTTP status; None for one that concerns the content of the request."""
    if status in (401, 403):
        return Category.AUTHENTICATION
    return Category.RATE_LIMIT if status == 429 else Category.SERVER_ERROR if status >= 500 else None


def reduce_sizes(arguments: Mapping[str, Any], floors: Floors) -> Arguments:
    """The arguments with each positive whole number that has a floor halved, but not below the floor."""
    result = dict(arguments)
    for name, floor in floors.items():
        value = arguments.get(name)
        if isinstance(floor, Mapping) and isinstance(value, Mapping):
            result[name] = reduce_sizes(value, floor)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
            result[name] = min(value, max(floor, value // 2))
    return result


async def with_retries(
    name: str, call: Callable[[Arguments], Awaitable[T]], arguments: Arguments, floors: Floors, settings: CallSettings
) -> T:
    """The result of the call, retried after a transient failure; after a token limit, with reduced arguments.

    Model calls are resent by the run's transport, as often as these settings say, and not retried here, except after a
    token limit or a stream that broke off. Raises the last error; LimitReached and RunAborted are raised at once.
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
            if not category.is_transient or was_sent_again or attempt == settings.retries:
                raise
            detail = f"{name}: {category}: {error}"
            if category is Category.TOKEN_LIMIT:
                arguments = reduce_sizes(arguments, floors)
                detail += f"; with { ({key: arguments[key] for key in floors if key in arguments}) }"
            seconds = settings.first_seconds * 2**attempt
            current().events.emit(Recovery(what="call_retried", detail=detail, seconds=seconds))
        await asyncio.sleep(seconds)
    raise AssertionError("a call is made at least once")
