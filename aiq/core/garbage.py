"""How often Python collects cyclic garbage: its default, every 700 new objects, took a tenth of the start-up time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STARTUP_THRESHOLD: Final = 200_000
"""New objects before a collection during start-up: what imports create stays."""

RUN_THRESHOLD: Final = 10_000
"""The same during a run: parsed reports leave garbage behind, and 200,000 such objects are 12 MB."""


@contextmanager
def collected_after(objects: int) -> Iterator[None]:
    """Collect after so many new objects while the block or function runs, and never those from before it.

    The caller's thresholds are restored afterwards.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(objects, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
