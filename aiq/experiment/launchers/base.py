"""What a launcher does: start the process of a shard, wait for its end, and say what came of it.

The process is the same everywhere, `aiq run resume=RUN shard=K/N`: it finds all it needs in the run's folder, which all
machines must see, and keeps what it does there.
"""

import subprocess
import sys
import tempfile
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from aiq.core.samples import Shard


@dataclass(frozen=True)
class ShardEnd:
    """An exit code, negative where a signal has ended the process, and the last line that it said on stderr."""

    code: int
    said: str


class Launcher(Protocol):
    """Made from its `Settings`; the run opens it once."""

    def opened(self, shards: int) -> AbstractAsyncContextManager[None]:
        """Held while so many shards are at work. Raises ConfigError or RunAborted, one line."""

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        """Do the shard. One that is cancelled here ends, and keeps what is finished."""


def work(folder: Path, shard: Shard) -> ShardEnd:
    """Do a shard in a process of its own, which ends with this one, and wait for it."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command(folder, shard), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors
        )
        try:
            code = process.wait()
        finally:
            process.kill()
        errors.seek(0)
        return ShardEnd(code, last_line(errors.read()))


def command(folder: Path, shard: Shard) -> list[str]:
    """Starts the process of a shard; it ends when its stdin does."""
    return [sys.executable, "-m", "aiq.shard", str(folder), str(shard)]


def last_line(said: bytes) -> str:
    return next(reversed(said.decode("utf-8", "replace").strip().splitlines()), "").removeprefix("aiq: ")
