"""How often Python looks for garbage that refers to itself: its own 700 new objects took a tenth of a start."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OF_A_START: Final = 200_000
"""New objects before it is looked for among them: those of imports stay."""

OF_A_RUN: Final = 10_000
"""The same once there is a run: what is left of parsed reports is garbage, and 200,000 such objects are 12 MB."""


@contextmanager
def collected_after(objects: int) -> Iterator[None]:
    """So while the block, or the function, runs, and never among what was there before it.

    Whoever calls it has thresholds of their own again after it.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(objects, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
