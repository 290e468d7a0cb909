"""Being told to stop by the system: SIGTERM as Ctrl-C, for work that has something to say when it is cut off."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """While the block runs SIGTERM raises KeyboardInterrupt in it.

    Does nothing outside of the main thread, which signals never reach.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
