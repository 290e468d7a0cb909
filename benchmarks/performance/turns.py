"""Processes that are compared while the machine does the same to both: one is halted while the other works."""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Final, NamedTuple

TURN: Final = 0.1
"""Seconds that a process works while the one beside it is halted."""
_READY: Final = "ready"

Process = Popen[str]


class Cost(NamedTuple):
    """Of a process: seconds of the processor, its children's left out, and on the clock."""

    processor: float
    clock: float


def told_to_begin(work: Callable[[], object]) -> None:
    """In the process: say that it is ready, wait for its turn, do the work and print what it cost."""
    print(_READY, flush=True)
    sys.stdin.readline()
    before = _spent()
    work()
    print(json.dumps([later - sooner for later, sooner in zip(_spent(), before, strict=True)]), flush=True)


def _spent() -> Cost:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter())


def begun(python: str, code: str, folder: Path) -> Process:
    """A process that runs this code in the folder."""
    env = {**os.environ, "OPENAI_API_KEY": "no-key"}
    return Popen([python, "-c", code], cwd=folder, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)


def ready(process: Process) -> Process:
    """The same once it waits for its turn. Raises SystemExit with what it said where it fails before."""
    assert process.stdout is not None
    if not any(line.strip() == _READY for line in process.stdout):
        cost_of(process)
    return process


def in_turns(processes: Sequence[Process]) -> list[Cost]:
    """What each costs, when all have had their turns; they are `ready`."""
    left = []
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.send_signal(signal.SIGSTOP)
        process.stdin.write("begin\n")
        process.stdin.flush()
        left.append((process, process.stdout))
    try:
        while left:
            for process, output in tuple(left):
                process.send_signal(signal.SIGCONT)
                if len(left) == 1 or select.select([output], [], [], TURN)[0]:
                    left.remove((process, output))
                else:
                    process.send_signal(signal.SIGSTOP)
    finally:
        for process in processes:  # one that is halted would outlive a Ctrl-C
            process.send_signal(signal.SIGCONT)
    return [cost_of(process) for process in processes]


def cost_of(process: Process) -> Cost:
    """What it says at its end. Raises SystemExit with its errors where it fails."""
    said, errors = process.communicate()
    if process.returncode or not said.strip():
        raise SystemExit(f"{process.args!r}\nended with {process.returncode}:\n{errors}")
    return Cost(*json.loads(said.splitlines()[-1]))
