"""What a launcher does: start the process of a shard, wait for its end, and say what came of it.

The process is the same everywhere, `aiq run resume=RUN shard=K/N`: it finds all it needs in the run's folder, which all
machines must see, and keeps what it does there.
"""

import asyncio
import sys
import tempfile
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from aiq.core.errors import ConfigError
from aiq.core.samples import Shard

GRACE_SECONDS = 20.0
"""How long a shard may take to cancel what is in flight; after a run has cancelled its attempts it ends by itself."""


@dataclass(frozen=True)
class ShardEnd:
    """An exit code, negative where a signal has ended the process, and the last line that it said on stderr."""

    code: int
    said: str


class Launcher(Protocol):
    """Made from its `Settings`; the run opens it once."""

    def opened(self, shards: int) -> AbstractAsyncContextManager[None]:
        """Held while so many shards are at work, from before anything is written.

        Raises ConfigError or RunAborted, one line.
        """

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        """Do the shard. One that is cancelled here ends, and keeps what is finished."""


async def done_here(folder: Path, shard: Shard) -> ShardEnd:
    """Do the shard in a process of its own on this machine, which ends when its stdin does: with this one.

    It has a session of its own, so that Ctrl-C reaches only the process that started it.
    """
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "aiq.shard", str(folder), str(shard)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            assert process.stdin is not None
            process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_SECONDS)
            raise
        finally:
            with suppress(ProcessLookupError):
                process.kill()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().splitlines()
        return ShardEnd(code, said[-1].removeprefix("aiq: ") if said else "")


def work(folder: Path, shard: Shard) -> ShardEnd:
    """The same for a worker elsewhere, which has nothing else to do."""
    return asyncio.run(done_here(folder, shard))


def package(name: str, extra: str) -> Any:
    """The package that a launcher needs. Raises ConfigError where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"runner={extra} needs more packages: pip install 'aiq-bench[{extra}]'") from None
