"""A search API over HTTP: answers in JSON, and every failure as a typed ToolError in one line, without our key.

If it refuses the key, or its account is empty, before its first answer, the run ends: otherwise models would be paid
for reports without a search.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from aiq.core.errors import RunAborted, ToolError, ToolErrorKind
from aiq.core.plugins import describe
from aiq.llm.http import SEND_ERRORS, AsyncClient, Response, Timeout, TimeoutException, read_error, without_key

T = TypeVar("T")
AnswerT = TypeVar("AnswerT", bound=BaseModel)

KINDS = {
    400: ToolErrorKind.INVALID_ARGUMENTS,
    401: ToolErrorKind.UNAUTHORIZED,
    402: ToolErrorKind.QUOTA,
    403: ToolErrorKind.UNAUTHORIZED,
    422: ToolErrorKind.INVALID_ARGUMENTS,
    429: ToolErrorKind.QUOTA,
    432: ToolErrorKind.QUOTA,  # Tavily: the plan's limit
    433: ToolErrorKind.QUOTA,  # Tavily: the pay-as-you-go limit
}
"""Any other status is `http`."""


@dataclass
class Service:
    """The service that answers a run's searches for pages or papers; `section` of the config sets it up."""

    section: str
    answered: bool = False

    async def ask(self, request: Awaitable[T]) -> T:
        """Its answer. Raises RunAborted if it refuses key or account before its first answer, else the ToolError."""
        try:
            answer = await request
        except ToolError as error:
            if self.answered or error.kind not in (ToolErrorKind.UNAUTHORIZED, ToolErrorKind.QUOTA):
                raise
            remedy = f"check {self.section}.api_key_env, its account and {self.section}.base_url"
            raise RunAborted(f"{error}; {remedy}") from None
        self.answered = True
        return answer


@dataclass(frozen=True)
class ApiClient:
    """An API's address and how to call it; the client does the retries.

    `failure`: the text of errors, with `{}` for the reason.
    """

    client: AsyncClient
    url: str
    seconds: float
    failure: str
    headers: Mapping[str, str]
    key: str

    async def post(self, body: Mapping[str, Any], answer: type[AnswerT]) -> AnswerT:
        """The API's answer to a POST of `body`; see `send`."""
        return await self.send("POST", self.url, body, answer)

    async def send(self, method: str, url: str, body: Mapping[str, Any] | None, answer: type[AnswerT]) -> AnswerT:
        """The API's answer. Raises ToolError: by status; timeout, http (no connection), malformed."""
        try:
            timeout, headers = Timeout(self.seconds, pool=None), dict(self.headers)
            request = self.client.stream(method, url, json=body, headers=headers, timeout=timeout)
            async with request as response, asyncio.timeout(self.seconds):  # the client limits only silence
                await response.aread()
        except (TimeoutException, TimeoutError):
            raise self.error(ToolErrorKind.TIMEOUT, f"no answer within {self.seconds:g} s") from None
        except SEND_ERRORS as error:
            raise self.error(ToolErrorKind.HTTP, f"no connection: {error or type(error).__name__}") from None
        if response.status_code != 200:
            raise self._status_error(response)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise self.error(ToolErrorKind.MALFORMED, f"not a search answer ({describe(error)[:200]})") from None

    def error(self, kind: ToolErrorKind, reason: str) -> ToolError:
        """A failure for this reason, without our key."""
        return ToolError(kind, without_key(self.failure.replace("{}", reason), self.key))

    def _status_error(self, response: Response) -> ToolError:
        status, message = response.status_code, read_error(response.content, self.key)[0]
        out_of_credit = status == 400 and "credit" in message.lower()
        kind = ToolErrorKind.QUOTA if out_of_credit else KINDS.get(status, ToolErrorKind.HTTP)
        return self.error(kind, f"HTTP {status}: {message or 'no reason given'}")
