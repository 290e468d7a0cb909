"""Child processes that import nothing again: forked from one that has loaded the program and done nothing else.

Each has its own arguments, folder, environment, streams and exit code, and can be interrupted or killed like any
other. Starting Python and loading the program would take three seconds of computing every time.
"""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from multiprocessing.reduction import DupFd
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Final

from aiq.offline.launch import OfflineStack

LOADED: Final = (
    "pytest", "httpx2", "openai", "scipy.special",
    "aiq.run", "aiq.commands.run", "aiq.commands.chat", "aiq.analysis.reliability", "aiq.experiment.plan",
    "aiq.experiment.runner", "aiq.agents.ai_q.agent", "aiq.judges.fresheval", "aiq.site.pages", "aiq.site.chat",
    "aiq.tools.toolbox", "aiq.tools.providers.tavily", "aiq.offline.launch",
    "aiq.serve.server", "aiq.tools.mcp.client", "mcp.server.lowlevel",
)  # fmt: skip
STACK: Final = "AIQ_TESTS_STACK"
"""The environment variable with the port of an offline stack that a forked process uses instead of its own."""
_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([*LOADED])


class Forked:
    """`python -m MODULE ARGUMENTS` with `stdin` as input, or with all streams on the terminal of this descriptor."""

    def __init__(self, *command: str, stdin: str = "", terminal: int | None = None, cwd: Path | None = None) -> None:
        self._streams: list[IO[Any]] = [TemporaryFile("w+b") for _ in range(3)]  # noqa: SIM115
        self._streams[0].write(stdin.encode())
        self._streams[0].seek(0)
        numbers = [stream.fileno() if terminal is None else terminal for stream in self._streams]
        arguments = (command, str(cwd or Path.cwd()), dict(os.environ))
        self._process = _FORKS.Process(target=_Start(_run, numbers), args=arguments)
        self._process.start()
        self.pid: int = self._process.pid or 0

    @property
    def out(self) -> str:
        """What the process has printed so far."""
        return self._output(1)

    @property
    def err(self) -> str:
        return self._output(2)

    @property
    def returncode(self) -> int | None:
        """As in `subprocess.Popen`: None while the process runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end and return what was printed. Raises subprocess.TimeoutExpired."""
        self.wait(timeout)
        return self.out, self.err

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.exitcode is None:
            self.kill()
        self._process.join()
        for stream in self._streams:
            stream.close()

    def _output(self, number: int) -> str:
        length = os.fstat(self._streams[number].fileno()).st_size
        return os.pread(self._streams[number].fileno(), length, 0).decode()


class _Start:
    """A call with stream descriptors, which can be copied only while the process is being started."""

    def __init__(self, call: Callable[..., None], numbers: list[Any]) -> None:
        self._call, self._numbers = call, numbers

    def __getstate__(self) -> dict[str, Any]:
        return {"_call": self._call, "_numbers": [DupFd(number) for number in self._numbers]}

    def __call__(self, *arguments: Any) -> None:
        self._call([copy.detach() for copy in self._numbers], *arguments)


def _run(numbers: list[int], command: tuple[str, ...], folder: str, environment: Mapping[str, str]) -> None:
    """Do what `python -m` would, inside the forked process."""
    for target, number in enumerate(numbers):
        os.dup2(number, target)
        os.close(number)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = open(0, encoding="utf-8"), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    if STACK in environment:
        _share_stack(int(environment[STACK]))
    module, *sys.argv[1:] = command
    sys.path.insert(0, folder)
    main_module = module if not hasattr(sys.modules.get(module), "__path__") else f"{module}.__main__"
    sys.modules.pop(main_module, None)  # run it as __main__, as if for the first time
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()


def _share_stack(port: int) -> None:
    async def start(self: OfflineStack) -> int:
        return port

    OfflineStack.start = start  # type: ignore[method-assign]
