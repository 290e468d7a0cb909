"""Starts and stops the offline stack: a child process that cannot outlive this one."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from aiq.core.errors import ConfigError, RunAborted
from aiq.core.files import resolve, shipped
from aiq.core.run_settings import OfflineSettings
from aiq.offline.faults import check

START_SECONDS = 60.0
STOP_SECONDS = 5.0


def page_files(world: str | None, more: Iterable[str], prefix: str = "offline.") -> list[Path]:
    """The files named by `offline.world` (by default the closed world shipped with aiq) and `offline.pages`.

    Each is named by its own path or by its folder. Raises ConfigError when there is no such file; `prefix` is what the
    error message puts before `world` or `pages`.
    """
    files = []
    names = [("world", world or str(shipped("benchmarks/world"))), *(("pages", name) for name in more)]
    for setting, name in names:
        path = resolve(name)
        matches = [file for file in (path / "pages.jsonl", path / "pages.jsonl.gz", path) if file.is_file()]
        if not matches:
            remedy = "name a JSONL of url, title, text or its folder"
            raise ConfigError(f"{prefix}{setting}={name}: there is no pages.jsonl; {remedy}")
        files.append(matches[0])
    return files


class OfflineStack:
    """The offline stack of one run. `seed` determines which faults occur.

    The child reads from a pipe that we hold open: when this process ends, however that happens, the child
    reads end of file and exits too. It runs in its own session, so that Ctrl-C reaches only us.
    """

    def __init__(self, settings: OfflineSettings, seed: int) -> None:
        check(settings.faults)
        self._settings, self._seed = settings, seed
        self._child: asyncio.subprocess.Process | None = None
        self._errors: IO[bytes] | None = None

    async def start(self) -> int:
        """Start the child and return its port. Raises ConfigError or RunAborted, in one line, if it does not start."""
        settings = self._settings
        pages = page_files(settings.world, settings.pages)
        options = ["--seed", self._seed, "--context-tokens", settings.context_tokens]
        faults = f"--faults={json.dumps(dict(settings.faults))}"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `stop`
        self._child = await asyncio.create_subprocess_exec(
            *map(str, [sys.executable, "-m", "aiq.offline", "--pages", *pages, *options, faults]),
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
            output = self._errors.read().decode("utf-8", "replace").strip() or f"no answer in {START_SECONDS:g} s"
            await self.stop()
            raise RunAborted(f"the offline stack did not start: {output.splitlines()[-1]}") from None

    async def stop(self) -> None:
        """Stop the child and wait until its workers, which share its output, have exited too."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdin is not None
            child.stdin.close()
            try:
                await asyncio.wait_for(child.communicate(), STOP_SECONDS)
            except TimeoutError:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                await child.communicate()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
