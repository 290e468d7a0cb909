"""The boundary errors of aiq: one flat set, so that every failure has exactly one meaning.

A message is one line that names the file, row or setting and the remedy. A `UserError` ends a command with exit
code 2; the others end one attempt or one score and become a row.
"""

import os
import sys
import traceback
from enum import StrEnum
from typing import TextIO

from aiq.core.secrets import mask_secrets
from aiq.core.text import printable


class AiqError(Exception):
    """Base of all errors that aiq raises on purpose."""


class UserError(AiqError):
    """The command, the config or an input file is wrong (exit code 2)."""


class ConfigError(UserError):
    """A setting is unknown, of the wrong type or out of range."""


class DatasetError(UserError):
    """A dataset file is missing or one of its rows is malformed; the message names file and row."""


class RunAborted(UserError):
    """Nothing further can succeed (wrong key, endpoint refuses connections): the run stops at once."""


class ModelError(AiqError):
    """A model call failed after all retries; `status` is the last HTTP status, None if no answer arrived.

    `never_answered`: the model refuses and has answered nothing yet in this run, or nothing listens at its address. An
    attempt or score that fails this way ends the run too, because the set-up is probably wrong. `broke_off`: a stream
    stopped in the middle; only the caller, who has part of it, can ask again.
    """

    def __init__(
        self, message: str, *, status: int | None = None, never_answered: bool = False, broke_off: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.never_answered = never_answered
        self.broke_off = broke_off


class LimitReached(AiqError):
    """A limit of the sample or the run was reached before the call that would have exceeded it."""

    def __init__(self, limit: str, bound: float, note: str = "") -> None:
        super().__init__(f"{limit}={bound:g} reached{note}")
        self.limit = limit

    @property
    def of_run(self) -> bool:
        """Whether the limit ends the run, not just an attempt: resumed with a higher limit, the run goes on."""
        return self.limit.startswith("limits.run_")


class AgentError(AiqError):
    """An agent could not produce a report."""


class JudgeError(AiqError):
    """A judge could not produce a score; never counted against the agent."""


class ToolErrorKind(StrEnum):
    """Why a tool call returned nothing."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_AVAILABLE = "not_available"  # outside what a closed web or corpus holds
    NOT_FOUND = "not_found"  # the web says that there is no such page
    DENIED = "denied"  # a page that web.deny lists
    BLOCKED = "blocked"  # private, loopback or non-HTTP address
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    UNAUTHORIZED = "unauthorized"
    QUOTA = "quota"
    HTTP = "http"
    MALFORMED = "malformed"  # an answer that violates the protocol
    OVER_BUDGET = "over_budget"
    REPEATED = "repeated"  # the same call was made before
    FAILED = "failed"  # one of the user's own tools raised an exception, or a file or todo tool refused


OUTAGES = frozenset(
    {
        *(ToolErrorKind.TIMEOUT, ToolErrorKind.UNAUTHORIZED, ToolErrorKind.QUOTA),
        *(ToolErrorKind.HTTP, ToolErrorKind.MALFORMED, ToolErrorKind.FAILED),
    }
)
"""Failures that are not the agent's fault: the service behind the tool did not work."""


class ToolError(AiqError):
    """A tool call failed; agents see the text, the registry sees nothing."""

    def __init__(self, kind: ToolErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def message_of(error: BaseException) -> str:
    """The error's message; for a SystemExit, which has at most a code, the call that raised it."""
    if isinstance(error, SystemExit):
        return f"sys.exit({'' if error.code is None else repr(error.code)}) was called"
    return str(error).strip() or "no message"


def traceback_of(error: BaseException | None) -> str | None:
    """The traceback of an unexpected error, for whoever fixes the code; None for one of aiq's own errors."""
    return None if error is None or isinstance(error, AiqError) else "".join(traceback.format_exception(error))


def discard_output() -> None:
    """Discard what is still to be printed, because the reader of our output is gone (`aiq show ... | head`)."""
    _discard(sys.stdout)


def say(line: str) -> None:
    """Print a line on stderr; if that fails (`aiq run ... 2>&1 | head -1`, a full disk), work goes on in silence."""
    try:
        print(printable(mask_secrets(line)), file=sys.stderr)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)
