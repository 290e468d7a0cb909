"""Exchanges to and from vcrpy files (format version 1), through vcrpy's own serializers, without patching it."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

import vcr.filters
import vcr.request
import vcr.serialize
import yaml
from vcr.serializers import jsonserializer, yamlserializer

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.match import canonical_url
from aiq.cassettes.recorder import ROLE, TOOL
from aiq.cassettes.redact import REQUEST_HEADERS, RESPONSE_HEADERS, Redactor
from aiq.core.base import grouped
from aiq.core.errors import UserError
from aiq.llm.http import Headers, Response

Form = Literal["yaml", "json"]

_SERIALIZERS: Final = {"yaml": yamlserializer, "json": jsonserializer}
_PLAIN_NAME: Final = re.compile(r"[a-z0-9_-]+/[0-9]+|[a-z]+")
_SLUG_CHARS: Final = 60


def file_name(cassette: str, form: Form) -> str:
    """A file name that any file system accepts, unique to the cassette even where case is ignored."""
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", cassette)
    if not _PLAIN_NAME.fullmatch(cassette) or len(slug) > _SLUG_CHARS:
        slug = f"{slug[:_SLUG_CHARS]}.{hashlib.sha256(cassette.encode()).hexdigest()[:12]}"
    return f"{slug}.{form}"


def to_vcr(exchanges: Iterable[Exchange], form: Form) -> tuple[str, int, Counter[str]]:
    """The text of a vcrpy cassette, the number of exchanges it holds, and by kind the number that it cannot hold."""
    held: list[Exchange] = []
    skipped: Counter[str] = Counter()
    for exchange in exchanges:
        if reason := _skip_reason(exchange, form):
            skipped[reason] += 1
        else:
            held.append(exchange)
    requests = [
        vcr.request.Request(exchange.method, exchange.url, exchange.request_body, dict(exchange.request_headers))
        for exchange in held
    ]
    interactions = {"requests": requests, "responses": [_response(exchange) for exchange in held]}
    return vcr.serialize.serialize(interactions, _SERIALIZERS[form]), len(held), skipped


def _skip_reason(exchange: Exchange, form: Form) -> str | None:
    """Why vcrpy cannot hold the exchange; None if it can."""
    if exchange.method == TOOL:
        return "call of a tool"
    if exchange.status is None:
        return "failure without an answer"
    if exchange.error is not None:
        return "answer that broke off"
    if form == "json" and not (_is_text(exchange.request_body) and _is_text(exchange.response_body)):
        return "body that is not text (YAML can hold it)"
    return None


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _response(exchange: Exchange) -> dict[str, Any]:
    status = {"code": exchange.status, "message": Response(exchange.status or 0).reason_phrase}
    return {"status": status, "headers": grouped(exchange.response_headers), "body": {"string": exchange.response_body}}


def from_vcr(path: Path, redactor: Redactor) -> list[Exchange]:
    """The exchanges of a vcrpy file, YAML or JSON, decoded and without secrets. Raises UserError, in one line.

    vcrpy's loader creates only texts, numbers, lists, maps and buffers (since 8.2.1).
    """
    try:
        text = path.read_text(encoding="utf-8")
        serializer = _SERIALIZERS["json" if text.lstrip().startswith("{") else "yaml"]
        requests, responses, *_ = vcr.serialize.deserialize(text, serializer)
        return [_exchange(*pair, redactor) for pair in zip(requests, responses, strict=True)]
    except OSError as error:
        reason = error.strerror
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
    except (LookupError, TypeError, AttributeError, RecursionError):
        reason = "its interactions are not of format version 1"
    raise UserError(f"{path}: not a readable vcrpy cassette: {reason}; record it again with vcrpy 8.2 or later")


def _exchange(request: Any, response: dict[str, Any], redactor: Redactor) -> Exchange:
    canonical_url(request.uri)  # raises ValueError for an invalid address
    request_headers = Headers(request.headers)
    status, headers, body = _decoded(response)
    return Exchange(
        method=request.method,
        url=redactor.text(request.uri),
        request_headers=redactor.headers(request_headers.multi_items(), REQUEST_HEADERS),
        request_body=redactor.body(_bytes(request.body_bytes), request_headers.get("content-type", "")),
        status=status,
        response_headers=redactor.headers(headers.multi_items(), RESPONSE_HEADERS),
        response_body=redactor.body(body, headers.get("content-type", "")),
        role=request_headers.get(ROLE, ""),
    )


def _decoded(response: dict[str, Any]) -> tuple[int, Headers, bytes]:
    """Status, headers and body of an answer; a body that was recorded decoded is left alone.

    Raises ValueError for a content encoding whose package is not installed.
    """
    lists = {name: [values] if isinstance(values, str) else values for name, values in response["headers"].items()}
    body = {"string": _bytes(response["body"]["string"])}
    decoded = vcr.filters.decode_response({**response, "headers": lists, "body": body})
    headers = Headers([(name, value) for name, values in decoded["headers"].items() for value in values])
    if (encoding := headers.get("content-encoding", "identity")) != "identity":
        raise ValueError(f"an answer is encoded as {encoding}, which needs a package that is not installed")
    return int(decoded["status"]["code"]), headers, decoded["body"]["string"]


def _bytes(body: Any) -> bytes:
    if body is not None and not isinstance(body, bytes):
        raise TypeError("a body is not text")
    return body or b""
