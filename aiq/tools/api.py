"""A search API over HTTP: one POST of JSON, and every failure as a typed ToolError, in one line and without our key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.plugins import describe
from aiq.core.text import whole
from aiq.llm.http import SEND_ERRORS, AsyncClient, Response, Timeout, TimeoutException, without_key

AnswerT = TypeVar("AnswerT", bound=BaseModel)

KINDS = {
    400: ToolErrorKind.INVALID_ARGUMENTS,
    401: ToolErrorKind.UNAUTHORIZED,
    403: ToolErrorKind.UNAUTHORIZED,
    422: ToolErrorKind.INVALID_ARGUMENTS,
    429: ToolErrorKind.QUOTA,
}
"""Any other status is `http`, unless the API documents it."""


@dataclass(frozen=True)
class ApiClient:
    """Where an API answers and how it is asked. Retries are the client's.

    `failure`: the error's text, with `{}` for the reason. `kinds`: statuses that this API documents besides `KINDS`.
    """

    client: AsyncClient
    url: str
    seconds: float
    failure: str
    headers: Mapping[str, str]
    key: str
    kinds: Mapping[int, ToolErrorKind]

    async def post(self, body: Mapping[str, Any], answer: type[AnswerT]) -> AnswerT:
        """The API's answer. Raises ToolError: by status; timeout, http (no connection), malformed."""
        try:
            timeout = Timeout(self.seconds, pool=None)
            response = await self.client.post(self.url, json=body, headers=dict(self.headers), timeout=timeout)
        except TimeoutException:
            raise self._error(ToolErrorKind.TIMEOUT, f"no answer within {self.seconds:g} s") from None
        except SEND_ERRORS as error:
            raise self._error(ToolErrorKind.HTTP, f"no connection: {error or type(error).__name__}") from None
        if response.status_code != 200:
            raise self._refused(response)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise self._error(ToolErrorKind.MALFORMED, f"not a search answer ({describe(error)[:200]})") from None

    def _error(self, kind: ToolErrorKind, reason: str) -> ToolError:
        return ToolError(kind, without_key(self.failure.replace("{}", reason), self.key))

    def _refused(self, response: Response) -> ToolError:
        """What the API says of itself: `detail.error`, `detail`, `message`, or the beginning of the body."""
        status = response.status_code
        try:
            answer = json.loads(response.content)
            detail = answer.get("detail") or answer["message"]
            said = detail["error"] if isinstance(detail, dict) else detail
        except (ValueError, LookupError, AttributeError):
            said = response.text
        text = " ".join(without_key(whole(str(said)), self.key).split())[:200] or "no reason given"
        empty = status == 400 and "credit" in text.lower()
        kind = ToolErrorKind.QUOTA if empty else {**KINDS, **self.kinds}.get(status, ToolErrorKind.HTTP)
        return self._error(kind, f"HTTP {status}: {text}")
