"""Comparing processes under the same load of the machine: one is halted while the other works."""

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
"""Seconds that a process works while the other is halted."""
_READY: Final = "ready"

Process = Popen[str]


class Cost(NamedTuple):
    """Cost of a process: processor seconds, without its children's, and wall-clock seconds."""

    processor: float
    clock: float


def told_to_begin(work: Callable[[], object]) -> None:
    """Called in the process: report that it is ready, wait for its turn, do the work and print the cost."""
    print(_READY, flush=True)
    sys.stdin.readline()
    before = _current_cost()
    work()
    print(json.dumps([later - sooner for later, sooner in zip(_current_cost(), before, strict=True)]), flush=True)


def _current_cost() -> Cost:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter())


def begun(python: str, code: str, folder: Path) -> Process:
    """Start a process that runs this code in the folder."""
    env = {**os.environ, "OPENAI_API_KEY": "no-key"}
    return Popen([python, "-c", code], cwd=folder, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)


def ready(process: Process) -> Process:
    """Wait until the process is ready for its turn. Raises SystemExit with its errors if it fails before."""
    assert process.stdout is not None
    if not any(line.strip() == _READY for line in process.stdout):
        cost_of(process)
    return process


def in_turns(processes: Sequence[Process]) -> list[Cost]:
    """Run the processes, which must be `ready`, in turns; the cost of each."""
    pending = []
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.send_signal(signal.SIGSTOP)
        process.stdin.write("begin\n")
        process.stdin.flush()
        pending.append((process, process.stdout))
    try:
        while pending:
            for process, output in tuple(pending):
                process.send_signal(signal.SIGCONT)
                if len(pending) == 1 or select.select([output], [], [], TURN)[0]:
                    pending.remove((process, output))
                else:
                    process.send_signal(signal.SIGSTOP)
    finally:
        for process in processes:  # a halted process would outlive a Ctrl-C
            process.send_signal(signal.SIGCONT)
    return [cost_of(process) for process in processes]


def cost_of(process: Process) -> Cost:
    """The cost that the process prints at its end. Raises SystemExit with its errors if it fails."""
    output, errors = process.communicate()
    if process.returncode or not output.strip():
        raise SystemExit(f"{process.args!r}\nended with {process.returncode}:\n{errors}")
    return Cost(*json.loads(output.splitlines()[-1]))
