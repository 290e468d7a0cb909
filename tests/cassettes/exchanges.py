"""Short forms for exchanges in tests, and the contents of a cassette file with everything decompressed."""

import json
import lzma
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from aiq.cassettes.exchange import Exchange

CHAT = "https://api.example/v1/chat/completions"


def asked(body: Any = b"", url: str = CHAT, method: str = "POST") -> Exchange:
    """A request; a body that is not bytes is written as JSON."""
    return Exchange(method, url, request_body=body if isinstance(body, bytes) else json.dumps(body).encode())


def answered(body: Any, answer: str, **more: Any) -> Exchange:
    request = asked(body)
    return Exchange(
        request.method,
        request.url,
        request_body=request.request_body,
        status=200,
        response_body=answer.encode(),
        **more,
    )


def unpacked(path: Path) -> Iterator[bytes]:
    """The bytes of the file, then every value in its tables, decompressed."""
    yield path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f"SELECT * FROM {table}"):
                for value in row:
                    if isinstance(value, str):
                        yield value.encode("utf-8", "surrogatepass")
                    elif isinstance(value, bytes):
                        yield _decompressed(value)


def _decompressed(data: bytes) -> bytes:
    for decompress in (lzma.decompress, zlib.decompress):
        try:
            return decompress(data)
        except (lzma.LZMAError, zlib.error):
            continue
    return data
