"""Requests that ask no model: searches, pages, the models list. No role, no session, no books."""

import asyncio

from aiq.llm.http import AsyncBaseTransport, ConnectError, ConnectTimeout, Request, Response
from aiq.llm.retry import RetryPolicy, retry_after

RETRY = "aiq_retry"
"""Request extension that says whether to retry, where the method does not tell."""

BUSY = frozenset({429, 500, 502, 503, 504})


def repeatable(request: Request) -> bool:
    """Whether a second send can do no harm: GET, HEAD, and a search, which is a POST that only reads."""
    says = request.extensions.get(RETRY)
    if says is not None:
        return bool(says)
    return request.method in ("GET", "HEAD") or (request.method == "POST" and request.url.path.endswith("/search"))


async def pass_through(request: Request, inner: AsyncBaseTransport, policy: RetryPolicy) -> Response:
    """Send it on. A repeatable request that finds no connection or a busy server is sent again as `policy` says.

    After the last attempt the caller gets the answer, or the connection's error, as it is: what
    that means is the tool's to say.
    """
    failures = 0
    while True:
        try:
            response = await inner.handle_async_request(request)
        except (ConnectError, ConnectTimeout):
            failures += 1
            wait = policy.wait(failures, None, request.url) if repeatable(request) else None
            if wait is None:
                raise
        else:
            if response.status_code not in BUSY or not repeatable(request):
                return response
            failures += 1
            wait = policy.wait(failures, retry_after(response.headers), request.url)
            if wait is None:
                return response
            await response.aclose()
        await asyncio.sleep(wait)
