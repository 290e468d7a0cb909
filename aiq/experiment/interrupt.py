"""Ctrl-C and SIGTERM: the first asks the run to stop cleanly, the second ends the process at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXIT_CODE = 130


@contextmanager
def stop_on_signal(stop: asyncio.Event, run: Path) -> Iterator[None]:
    """Set `stop` on the first signal, while the block runs; `run` is the folder to go on with.

    Needs a running loop in the main thread.
    """

    def on_signal() -> None:
        if stop.is_set():
            # The system has every finished row already, and the offline stack ends with its parent.
            print(f"aiq: interrupted; what is finished is kept, go on with: aiq run resume={run}", file=sys.stderr)
            os._exit(EXIT_CODE)
        print("\nstopping: attempts in flight are cancelled (once more to stop at once)", file=sys.stderr)
        stop.set()

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
