"""Where a run keeps what its agents remember of conversations: LangGraph's SQLite store, opened on first use.

With `checkpointer=sqlite` it is in the checkpointer's file, otherwise in a temporary database of the run.
"""

import asyncio
import importlib
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import aiosqlite

from aiq.core.files import resolve
from aiq.core.run_settings import CheckpointerSettings

BUSY_SECONDS = 30.0  # how long a write waits for another process's in the same SQLite file

_log = logging.getLogger(__name__)


@asynccontextmanager
async def lazy_store(settings: CheckpointerSettings) -> AsyncIterator[Callable[[], Awaitable[Any]]]:
    """A function that opens the run's store, once: agents that remember nothing cost no import and no tables."""
    async with AsyncExitStack() as stack:
        lock, stores = asyncio.Lock(), list[Any]()

        async def store() -> Any:
            async with lock:
                if not stores:
                    stores.append(await stack.enter_async_context(_open(settings)))
                return stores[0]

        yield store


@asynccontextmanager
async def _open(settings: CheckpointerSettings) -> AsyncIterator[Any]:
    """Calls block a thread of the connection, and the import another thread, but never the event loop."""
    from aiq.agents.toolkit.memory import INDEX

    if settings.kind == "postgres":  # its vectors need a server extension, and must all have one length
        _log.warning("checkpointer=postgres: what agents remember ends with the run; checkpointer=sqlite keeps it")
    module = await asyncio.to_thread(importlib.import_module, "langgraph.store.sqlite.aio")
    # "": a database in memory, which SQLite moves to a temporary file if it grows, and deletes afterwards
    path = resolve(str(settings.path)) if settings.kind == "sqlite" else ""

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)

    async with _Connection(connect, iter_chunk_size=64) as connection:
        store, deadline = module.AsyncSqliteStore(connection, index=INDEX), time.monotonic() + BUSY_SECONDS
        while not store.is_setup:
            try:
                await store.setup()
            except (sqlite3.OperationalError, sqlite3.IntegrityError):  # another process is making the same tables
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
        yield store


class _Connection(aiosqlite.Connection):
    """A connection that has the store's one vector function even if Python's SQLite cannot load extensions.

    Some builds of Python (pyenv's, macOS's) lack loading; elsewhere the function is that of `sqlite-vec`.
    """

    async def enable_load_extension(self, value: bool) -> None:
        with suppress(AttributeError):
            await super().enable_load_extension(value)

    async def load_extension(self, path: str) -> None:
        try:
            await super().load_extension(path)
        except (AttributeError, sqlite3.OperationalError):
            await self.create_function("vec_distance_cosine", 2, cosine_distance, deterministic=True)


def cosine_distance(first: bytes, second: bytes) -> float | None:
    """1 minus the cosine of two vectors of 32-bit floats, as in `sqlite-vec`; None if either is zero."""
    import numpy as np

    x, y = (np.frombuffer(data, dtype="<f4").astype(float) for data in (first, second))
    length = float(np.linalg.norm(x) * np.linalg.norm(y))
    return 1 - float(x @ y) / length if length else None
