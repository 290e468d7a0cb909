"""SIGTERM treated like Ctrl-C, for work that has something to say when the system stops it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


@contextmanager
def interrupted_by(number: signal.Signals) -> Iterator[None]:
    """While the block runs, this signal raises KeyboardInterrupt in it.

    Does nothing outside the main thread, because signals reach no other.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, handler or signal.SIG_DFL)


def terminated_as_interrupted() -> AbstractContextManager[None]:
    """While the block runs, SIGTERM raises KeyboardInterrupt in it."""
    return interrupted_by(signal.SIGTERM)
