"""The run's HTTP client: every model call gets its role, attempt and seed here, and is limited, retried and booked.

Other requests (searches, pages, the models list) pass through: they have no role and no session, and are not booked.
"""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

from aiq.core.errors import AiqError, ModelError, RunAborted
from aiq.core.events import Recovery
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import retries_of_calls
from aiq.core.session import Session, current
from aiq.core.text import json_value, utf8_safe_json
from aiq.llm.apis import api_of
from aiq.llm.calls import ANSWER, USAGE, CallRequest, Exchange, Failure, ModelCall, read_call, read_call_request
from aiq.llm.flow import Flow, Send
from aiq.llm.http import (
    SEND_ERRORS,
    URL,
    AsyncBaseTransport,
    AsyncClient,
    ByteStream,
    ConnectError,
    ConnectTimeout,
    ReadTimeout,
    Request,
    Response,
    Timeout,
    TransportWrapper,
    failure_text,
    read_error,
    without_key,
)
from aiq.llm.network import Network
from aiq.llm.prices import PriceList, plain_usage
from aiq.llm.quirks import FORMS, Forms, form_of, refused_field, refuses_form, without_field
from aiq.llm.retry import LONGEST_WAIT, is_out_of_credit, next_wait, retry_after, worth_retrying
from aiq.llm.route import RoutingTransport
from aiq.llm.streaming import BookedStream

CONNECT_SECONDS = 10.0
"""A reachable host accepts a connection well within this; the time for an answer is `llm.timeout_seconds`."""

RETRY = "aiq_retry"
"""Extension of requests that call no model: whether to retry, if the method does not tell."""

BUSY = frozenset({429, 500, 502, 503, 504})

ABOUT_ONE_REQUEST = frozenset({400, 413, 422})
"""Refusals that may be about the content of one request, not about the address, the model or the key."""


def open_client(
    settings: LlmSettings,
    *,
    offline_port: int | None,
    inner: AsyncBaseTransport | None = None,
    forms: Forms | None = None,
    wrap: TransportWrapper = lambda transport: transport,
    replayed: bool = False,
    other_connections: int | None = None,
    share: float = 1.0,
) -> "RunClient":
    """The client of a run: SessionTransport over RoutingTransport over the network (or over `inner`).

    `offline_port`: where the offline stack listens, if it was started. `forms` keeps what is learned about structured
    output. `wrap` puts a transport between the session's and the network; `replayed`: nothing goes out, so retries do
    not wait. `other_connections`: how many there may be besides those of model calls (`web.max_connections`).
    `share`: this process's share of the endpoint's budgets, if there are several. Cookies are refused: they would link
    samples.
    """
    network = inner or Network(other_connections or settings.max_connections)
    transport = wrap(RoutingTransport(network, offline_port))
    return RunClient(
        transport=SessionTransport(transport, settings, forms or Forms(), replayed=replayed, share=share),
        timeout=timeouts(settings),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
    )


class RunClient(AsyncClient):
    """Closed only by its `async with`: the client that is lent to one agent serves all samples."""

    def __init__(self, transport: "SessionTransport", **options: Any) -> None:
        super().__init__(transport=transport, **options)
        self._models = transport
        self._defaults = [*self.headers.items()]

    def build_request(self, method: str, url: URL | str, **options: Any) -> Request:
        """The same, but without looking up each header in the client's if a stock client has prepared everything."""
        headers, content, timeout = map(options.get, ("headers", "content", "timeout"))
        extra = {name for name, value in options.items() if value} - {"headers", "content", "timeout"}
        if extra or not (isinstance(headers, list) and isinstance(content, bytes) and isinstance(timeout, Timeout)):
            return super().build_request(method, url, **options)
        custom = {name.lower(): value for name, value in headers}
        defaults = {name: value for name, value in self._defaults if name not in custom}
        extensions = {"timeout": timeout.as_dict()}
        return Request(method, url, headers={**defaults, **custom}, stream=ByteStream(content), extensions=extensions)

    async def ask(self, call: CallRequest) -> Response:
        """Send a model call, without what a client does for other requests: redirects, cookies, logins."""
        return await self._models.ask(call)

    async def send(self, request: Request, *, stream: bool = False, **options: Any) -> Response:
        """Send a request; the model calls of a stock client go through `ask`."""
        if (api := api_of(request)) is None:
            return await super().send(request, stream=stream, **options)
        start = time.perf_counter()
        response = await self.ask(await read_call_request(api, request))
        response.request, response.elapsed = request, timedelta(seconds=time.perf_counter() - start)
        if not stream:
            await response.aread()
        return response

    async def aclose(self) -> None:
        """Do nothing: `AsyncOpenAI.close` ends up here."""


def timeouts(settings: LlmSettings, max_seconds: float | None = None) -> Timeout:
    """The timeouts of one send, at most `max_seconds` if given; none for the pool: a full one is not a failure."""
    seconds = settings.timeout_seconds if max_seconds is None else min(settings.timeout_seconds, max_seconds)
    return Timeout(seconds, connect=min(CONNECT_SECONDS, seconds), pool=None)


class SessionTransport(AsyncBaseTransport):
    """Sends model calls for the session that `aiq.core.session.current` finds.

    A call that fails in a way worth retrying (connection, timeout, cut or unreadable answer, 408, 409, 429, 5xx) is
    retried as `llm.retry` says (or as its caller does, see `aiq.core.models.retrying`), and finally raises ModelError;
    any other refusal raises it at once. RunAborted is raised for a wrong key (401), an empty account (402), a demanded
    wait longer than `LONGEST_WAIT`, a limit in money for a model without a price, and any refusal that is not about one
    request (403, 404, 405, a redirect) by a model that has not answered yet. If a form of structured output is refused,
    the next one of `FORMS` is used. Raises LimitReached before the send that would exceed a limit, and RuntimeError for
    calls that would go uncounted: without role or session, or to another of the endpoint's APIs.
    """

    def __init__(
        self,
        inner: AsyncBaseTransport,
        settings: LlmSettings,
        forms: Forms,
        *,
        replayed: bool = False,
        share: float = 1.0,
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._forms = forms
        self._policy = settings.retry
        self._replayed = replayed
        self._share = share
        self._flows: dict[str, Flow] = {}
        self._prices = PriceList(settings)
        self._key_env = settings.api_key_env
        self._answered: dict[str, set[str]] = {}
        """By model: the fields of the requests that it has answered."""
        self._endpoint = settings.base_url.rstrip("/") + "/"

    async def handle_async_request(self, request: Request) -> Response:
        if api := api_of(request):
            return await self.ask(await read_call_request(api, request))
        if request.method == "POST" and str(request.url).startswith(self._endpoint):
            raise RuntimeError(f"{request.url}: models are called through chat completions and embeddings only")
        return await self._pass_through(request)

    async def ask(self, call: CallRequest) -> Response:
        """The answer to a model call; unless it streams, it is read whole and has `USAGE` and `ANSWER`."""
        session = current()
        return await self._ask_model(read_call(call, session, self._settings), session)

    async def _pass_through(self, request: Request) -> Response:
        """Send it on; if it is repeatable, retry while there is no connection or the server is busy.

        After the last attempt the caller gets the answer or the connection's error; the tool says what that means.
        """
        failures, attempts = 0, None if _is_repeatable(request) else 1
        while True:
            failures += 1
            reason = "no connection"
            try:
                response = await self._inner.handle_async_request(request)
                reason = f"HTTP {response.status_code}"
                requested = retry_after(response.headers)
                wait = next_wait(self._policy, failures, requested, request.url, attempts=attempts)
                if response.status_code not in BUSY or wait is None:
                    return response
                await response.aclose()
            except (ConnectError, ConnectTimeout):
                wait = next_wait(self._policy, failures, None, request.url, attempts=attempts)
                if wait is None:
                    raise
            with suppress(RuntimeError):  # outside an attempt there is no log
                current().events.emit(_retry_event(f"{request.url.host}: {reason}", wait))
            await self._wait(wait)

    async def _ask_model(self, original: ModelCall, session: Session) -> Response:
        call, refusal = original.structured_as(self._forms.form_for(original.body)), ""
        limit = session.limits.usd_setting
        if limit is not None and not self._prices.knows(call.model):
            raise RunAborted(f"{limit} cannot be enforced: llm.prices has no price for model '{call.model}'; add one")
        failures = 0
        while True:
            outcome = await self._send(call, session, failures)
            if isinstance(outcome, Response):
                if refusal:
                    self._fall_back(original, form_of(call.body), refusal, session)
                return outcome
            if _other_form(call, outcome):
                refusal = refusal or outcome.message
                call = call.structured_as(FORMS[FORMS.index(form_of(call.body)) + 1])
                continue
            failures += 1
            await self._wait_or_raise(call, session, outcome, failures)

    def _fall_back(self, original: ModelCall, form: str, refusal: str, session: Session) -> None:
        """Use this form from now on."""
        self._forms.learn(original.body, form)
        detail = f"{original.role}: {form_of(original.body)} was refused ({refusal}); asked for as {form}"
        session.events.emit(Recovery(what="structured_output", detail=detail))

    async def _wait_or_raise(self, call: ModelCall, session: Session, failure: Failure, failures: int) -> None:
        """Wait until the call may be sent again, or raise what its failure means."""
        if reason := self._hopeless_reason(call, failure):
            raise RunAborted(f"{call.url} {reason}")
        flow = self._flow(call)
        if silence := flow.silence_error():
            raise RunAborted(f"{call.address} {silence}")
        retries = retries_of_calls.get()
        attempts = None if retries is None else retries + 1
        refused = not worth_retrying(failure.status)
        if refused:
            attempts = 1
        elif flow.silent:  # which is not this sample's failure
            attempts = failures + 1
        seed = (session.seed(), call.digest)
        wait = next_wait(self._policy, failures, failure.retry_after, *seed, attempts=attempts)
        if wait is None:
            tries = f" after {failures} attempts" if failures > 1 else ""
            message = f"{call.role}: {call.url} failed{tries}: {failure.message}"
            if never_answered := (refused or failure.unreachable) and not self._has_answered(call.model):
                where = call.section
                hint = f", {where}.base_url first{call.path_hint}" if call.path_hint else ""
                message += f" ({where}.model={call.model} has not answered once: check the settings of {where}{hint})"
            never_taken = failure.field is not None and not self._has_answered(call.model, failure.field)
            raise ModelError(message, status=failure.status, never_answered=never_answered or never_taken)
        session.events.emit(_retry_event(f"{call.role}: {failure.message}", wait, failure.lasted))
        await self._wait(wait)

    async def _wait(self, seconds: float) -> None:
        await asyncio.sleep(0 if self._replayed else seconds)

    def _flow(self, call: ModelCall) -> Flow:
        """The endpoint's flow: an agent or judge with an endpoint of its own does not wait for the others."""
        if call.address not in self._flows:
            self._flows[call.address] = Flow(self._settings, share=self._share, replayed=self._replayed)
        return self._flows[call.address]

    async def _send(self, call: ModelCall, session: Session, failures: int) -> Response | Failure:
        """One exchange in its turn: the answer, or why there is none."""
        tokens = partial(self._prices.tokens, call.body)
        async with self._flow(call).send(call.model, call.digest, failures, tokens) as send:
            session.check_limits()  # nothing is awaited between this and the exchange's accounting
            outcome = await self._exchange(call, send, Exchange(call, session, self._prices, send.end))
            send.note_outcome(outcome if isinstance(outcome, Failure) else None)
            return outcome

    async def _exchange(self, call: ModelCall, send: Send, exchange: Exchange) -> Response | Failure:
        try:
            response = await self._inner.handle_async_request(call.request(exchange.attempt))
            send.note_response(response)
            if response.status_code != 200:
                return await self._read_refusal(response, call, exchange)
            return await (self._open_stream if call.streamed else self._read_reply)(response, call, exchange)
        except (ConnectError, ConnectTimeout) as error:
            return exchange.unsent(failure_text(error))
        except SEND_ERRORS as error:
            return exchange.lost(self._loss_reason(error, call))
        except AiqError as error:  # from a transport below: no offline stack here, or no such recording
            exchange.unsent(str(error))
            raise
        except BaseException as error:  # cancelled, or a bug below: the request may have gone out
            exchange.lost(type(error).__name__)
            raise

    async def _read_refusal(self, response: Response, call: ModelCall, exchange: Exchange) -> Failure:
        status = response.status_code
        body = await _body(response, call)
        detail, code = read_error(body, call.key)
        if 300 <= status < 400:
            location = without_key(response.headers.get("location", "?"), call.key)
            detail = f"redirects to {location}; set {call.section}.base_url to where it answers"
        message = f"HTTP {status}: {detail}" if detail else f"HTTP {status}"
        failure = Failure(message, status, code, retry_after(response.headers, body))
        if _other_form(call, failure):  # which sample learns that is chance: the call is not counted in its limits
            return exchange.refused(failure, counted=False)
        if field := refused_field(status, detail, call.body):
            message += f"; {without_field(field)} sends none (`aiq doctor` finds all of these)"
            failure = replace(failure, message=message, field=field)
        return exchange.refused(failure, counted=True)

    async def _read_reply(self, response: Response, call: ModelCall, exchange: Exchange) -> Response | Failure:
        """An unstreamed answer, read whole so that a cut one can be requested again."""
        body = await _body(response, call)
        try:
            safe_body = utf8_safe_json(body)
            answer: Any = json_value(safe_body)
        except ValueError:
            detail, _ = read_error(body, call.key)
            return exchange.lost(f"the answer is not JSON: {detail or 'it is empty'}", status=200)
        reported = answer.get("usage") if isinstance(answer, dict) else None
        try:
            parsed = call.api.read(answer, call.body)
        except ValueError as error:
            detail, _ = read_error(body, call.key)
            return exchange.lost(f"{error}: {detail}", status=200, reported=reported)
        usage = plain_usage(reported)
        full_answer = {**parsed.payload, "usage": usage or None}
        booked_usage = exchange.answered(parsed.message, parsed.finish_reason, reported)
        response.extensions |= {USAGE: booked_usage, ANSWER: full_answer}
        self._answered.setdefault(call.model, set()).update(call.body)
        if full_answer == answer and safe_body == body:
            return response
        return _with_body(response, content=json.dumps(full_answer, ensure_ascii=False).encode())

    async def _open_stream(self, response: Response, call: ModelCall, exchange: Exchange) -> Response | Failure:
        """A streamed answer; if the connection is cut before its first bytes, it is still worth another send."""
        pieces = response.aiter_bytes()
        first = await anext(pieces, b"")
        if not first:
            return exchange.lost("an empty stream", status=200)
        self._answered.setdefault(call.model, set()).update(call.body)
        return _with_body(response, stream=BookedStream(first, pieces, response, call, exchange))

    def _loss_reason(self, error: Exception, call: ModelCall) -> str:
        """Why no answer came; a timeout names the setting that bounds it, unless the caller set one of its own."""
        own_timeout = call.section == "llm" and call.seconds != self._settings.timeout_seconds
        if not isinstance(error, ReadTimeout) or call.seconds is None or own_timeout:
            return failure_text(error)
        return f"no answer in time ({call.seconds:g} s: {call.section}.timeout_seconds)"

    def _has_answered(self, model: str, field: str = "model") -> bool:
        """Whether the model has answered a request with this field; in a replay the order of calls says nothing."""
        return self._replayed or field in self._answered.get(model, ())

    def _hopeless_reason(self, call: ModelCall, failure: Failure) -> str | None:
        """Why no other call to this model can succeed either, if that is so.

        Once a model has answered, its refusals are about one request: providers refuse flagged input with 403.
        """
        status, answered = failure.status, self._has_answered(call.model)
        section, is_llm = call.section, call.section == "llm"
        if status == 401 or (status == 403 and not answered):
            remedy = f"check the key in ${self._key_env}" if is_llm and self._key_env else f"set {section}.api_key_env"
            return f"refuses the key (HTTP {status}): {remedy}"
        if is_out_of_credit(status, failure.code, failure.message):
            return f"says that the account has nothing left to spend ({failure.message}): add credit, then resume"
        if (wait := failure.retry_after) is not None and wait > LONGEST_WAIT and worth_retrying(status):
            return f"asks for a wait of {wait / 60:.0f} minutes ({failure.message}): resume then"
        if answered or worth_retrying(status) or status in ABOUT_ONE_REQUEST:
            return None
        return (
            f"answers {failure.message}; check the model of {call.role} (it is '{call.model}': {section}.model"
            f"{' or llm.roles' if is_llm else ''}) and the address {section}.base_url={call.address}{call.path_hint}"
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


def _other_form(call: ModelCall, failure: Failure) -> bool:
    """Whether to send the call again asking for its structured output in another form."""
    return form_of(call.body) != FORMS[-1] and refuses_form(failure.status, failure.message)


def _retry_event(reason: str, wait: float, lasted: float = 0.0) -> Recovery:
    return Recovery(what="retry", detail=f"{reason}; waiting {wait:.2f} s", seconds=wait, lasted=lasted)


def _is_repeatable(request: Request) -> bool:
    """Whether a second send is harmless: GET, HEAD, and a search, which is a POST that only reads."""
    search = request.method == "POST" and request.url.path.endswith("/search")
    return bool(request.extensions.get(RETRY, search or request.method in ("GET", "HEAD")))


async def _body(response: Response, call: ModelCall) -> bytes:
    """All of an answer, in limited time: the client limits only silence, and some endpoints send blanks meanwhile."""
    if response.is_closed:
        return response.content
    try:
        async with asyncio.timeout(call.seconds):
            return await response.aread()
    except TimeoutError:
        raise ReadTimeout("the answer did not end in time") from None


def _with_body(response: Response, **body: Any) -> Response:
    """The same answer with `content` or `stream` as its body, already decoded."""
    dropped = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in dropped]
    return Response(response.status_code, headers=headers, extensions=response.extensions, **body)
