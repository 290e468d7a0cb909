"""Work that several samples may need, done once: one lock a key, and the store of answers that judges share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from weakref import WeakValueDictionary


class Locks:
    """A lock a key, which exists for as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def held(self, key: str) -> AsyncIterator[None]:
        """Hold the key's lock; who waits gets it in the order of coming, also when a holder fails or is cancelled."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        async with lock:
            yield


class Answers(Protocol):
    """What a run's models have answered to questions whose answer does not depend on who asks."""

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        """The answer under `key` (a digest of everything that decides it), asked for where there is none yet.

        What `ask` raises passes, and leaves the question open for the next one.
        """


class NoAnswers:
    """Remembers nothing: every question is asked. The session of somebody who keeps no run."""

    async def once(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        return await ask()
