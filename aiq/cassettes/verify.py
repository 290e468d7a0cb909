"""Finds what is wrong with a cassette file: later changes, damage, cut-off recordings, secrets, unreferenced texts.

Every exchange is read; a text that several exchanges share is searched for secrets only once.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.redact import Redactor
from aiq.cassettes.store import RECORD_ANEW, Store
from aiq.core.errors import UserError
from aiq.core.text import plural

_EXCHANGES = (
    "SELECT e.id, coalesce(c.name, 'no cassette') FROM exchanges e LEFT JOIN cassettes c ON c.id = e.cassette"
    " ORDER BY e.cassette, e.id"
)


def findings(store: Store, redactor: Redactor) -> Iterator[str]:
    """The findings, one line each, with the remedy."""
    try:
        damage = list(_damage(store))
        yield from damage
        for name, whole in store.names().items():
            if not whole:
                yield f"{store.path}: {name}: its recording was cut off; complete it with cassette=auto"
        yield from _exchange_findings(store, redactor)
        rows = () if damage else store.rows("SELECT id FROM items")
        if count := len({item for (item,) in rows} - (store.referenced_items() if rows else set())):
            remedy = f"`aiq cassettes forget {store.path.parent}` deletes what is not referred to"
            yield f"{store.path}: {plural(count, 'text')} without an exchange; {remedy}"
    except UserError as error:
        yield str(error)


def _damage(store: Store) -> Iterator[str]:
    problems = [str(problem) for (problem,) in store.rows("PRAGMA integrity_check")]
    if problems != ["ok"]:
        yield f"{store.path}: is damaged ({' '.join(problems[0].split())}); {RECORD_ANEW}"
    if not store.is_intact:
        yield f"{store.path}: its contents were changed after it was closed; {RECORD_ANEW}"
    rows = store.rows("SELECT id, hash FROM items ORDER BY block, id")
    changed = sum(_digest(store, item) != digest for item, digest in rows)
    if changed:
        yield f"{store.path}: {changed} of {plural(len(rows), 'text')} changed after being recorded; {RECORD_ANEW}"


def _digest(store: Store, item: int) -> bytes | None:
    """The digest of an item; None if it cannot be read."""
    try:
        return hashlib.sha256(store.item(item)).digest()[:16]
    except UserError:
        return None


def _exchange_findings(store: Store, redactor: Redactor) -> Iterator[str]:
    """Exchanges that differ from what was recorded, and secrets by cassette and place."""
    changed: Counter[str] = Counter()
    secrets: Counter[tuple[str, str, str]] = Counter()
    secret_kinds = lru_cache(maxsize=None)(redactor.secret_kinds)
    for row, name in store.rows(_EXCHANGES):
        try:
            exchange = store.exchange(row)
        except UserError:
            changed[name] += 1
        else:
            secrets.update({(name, place, kind) for place, text in _texts(exchange) for kind in secret_kinds(text)})
    for name, count in changed.items():
        yield f"{store.path}: {name}: {plural(count, 'exchange')} changed after being recorded; {RECORD_ANEW}"
    for (name, place, kind), count in secrets.items():
        finding = f"a secret ({kind}) in the {place} of {plural(count, 'exchange')}"
        yield f"{store.path}: {name}: {finding}; revoke it, and record again with cassette=record"
    for kind in secret_kinds(json.dumps([store.about, *store.names()], ensure_ascii=False)):
        yield f"{store.path}: a secret ({kind}) in the run's settings or a name; revoke it, {RECORD_ANEW}"


def _texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The texts of an exchange, each after its place."""
    yield "URL", exchange.url
    yield "error", exchange.error or ""
    for side in ("request", "response"):
        headers, body = getattr(exchange, f"{side}_headers"), getattr(exchange, f"{side}_body")
        yield from ((f"{side}'s headers", value) for _, value in headers)
        yield from ((f"{side}'s body", text) for text in _strings(body))


def _strings(body: bytes) -> Iterator[str]:
    """Every key and text of a JSON body; any other body as a whole."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = body.decode("latin-1")  # has a character for every byte
    try:
        pairs = json.loads(text, object_pairs_hook=list) if text[:1] in ("{", "[") else text  # keeps repeated keys
    except (ValueError, RecursionError):
        pairs = text
    yield from _leaves(pairs)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
