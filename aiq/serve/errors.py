"""A request that is refused, as clients see it: a status, a kind and one line, nothing about the server's inside."""

import math
from collections.abc import Mapping

from starlette.responses import JSONResponse

from aiq.serve.wire import ApiError, ErrorBody


class Refused(Exception):
    """The HTTP status, a code and one line. `retry`: seconds, if trying later may help; `headers`: further ones."""

    def __init__(
        self, status: int, code: str, message: str, retry: float | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.body = status, ErrorBody(error=ApiError(code=code, message=message))
        self.headers = {} if retry is None else {"Retry-After": str(math.ceil(retry))}
        self.headers |= headers or {}

    def answer(self) -> JSONResponse:
        return JSONResponse(self.body.model_dump(), self.status, self.headers)
