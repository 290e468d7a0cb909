"""Starts and stops the offline stack: a child process that lives no longer than this one."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import IO

from aiq.core.errors import ConfigError, RunAborted
from aiq.core.paths import resolve, shipped
from aiq.core.settings import OfflineSettings
from aiq.offline import faults

START_SECONDS = 60.0
STOP_SECONDS = 5.0


def world_file(world: str | None) -> Path:
    """The pages of the closed world: the file or folder that `offline.world` names, or those that came with aiq.

    Raises ConfigError when there is no such file.
    """
    path = resolve(world) if world is not None else shipped("benchmarks/world")
    candidates = [path / "pages.jsonl", path / "pages.jsonl.gz"] if path.is_dir() else [path]
    found = next((file for file in candidates if file.is_file()), None)
    if found is None:
        named = f"offline.world={world}" if world is not None else f"the world that comes with aiq ({path})"
        raise ConfigError(f"{named}: there is no pages.jsonl; name a JSONL of url, title, text or its folder")
    return found


def extra_pages(name: str) -> Path:
    """A file of `offline.pages`. Raises ConfigError when there is no such file."""
    path = resolve(name)
    if not path.is_file():
        raise ConfigError(f"offline.pages: {name}: there is no such file; name a JSONL of url, title, text")
    return path


class OfflineStack:
    """The stack of one run. `seed` draws the faults.

    The child holds the read end of a pipe from us: when we end, however that happens, it reads the
    end of file and ends too. It runs in a session of its own, so that Ctrl-C reaches only us.
    """

    def __init__(self, settings: OfflineSettings, seed: int) -> None:
        faults.check(settings.faults)
        self._settings = settings
        self._seed = seed
        self._child: asyncio.subprocess.Process | None = None
        self._errors: IO[bytes] | None = None

    async def start(self) -> int:
        """Start the child and return its port. Raises ConfigError or RunAborted, one line, when it does not start."""
        settings = self._settings
        pages = [world_file(settings.world), *map(extra_pages, settings.pages)]
        given = ["--seed", self._seed, "--context-tokens", settings.context_tokens]
        command = [sys.executable, "-m", "aiq.offline", "--pages", *pages, *given]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `stop`
        self._child = await asyncio.create_subprocess_exec(
            *map(str, command),
            f"--faults={json.dumps(dict(settings.faults))}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self._child.stdout is not None
        try:
            line = await asyncio.wait_for(self._child.stdout.readline(), START_SECONDS)
            return int(json.loads(line)["port"])
        except (TimeoutError, ValueError, LookupError, TypeError):
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip() or f"no answer in {START_SECONDS:g} s"
            await self.stop()
            raise RunAborted(f"the offline stack did not start: {said.splitlines()[-1]}") from None

    async def stop(self) -> None:
        """End the child; does nothing when there is none."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdin is not None
            child.stdin.close()
            try:
                await asyncio.wait_for(child.wait(), STOP_SECONDS)
            except TimeoutError:
                child.kill()
                await child.wait()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
