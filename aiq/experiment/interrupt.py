"""Ctrl-C and SIGTERM: the first asks the run to stop cleanly, the second ends the process at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_CODE = 130


@contextmanager
def stop_on_signal(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` on the first signal, while the block runs. Needs a running loop in the main thread."""

    def on_signal() -> None:
        if stop.is_set():
            # Every finished row is on the disk already, and the offline stack ends with its parent.
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
