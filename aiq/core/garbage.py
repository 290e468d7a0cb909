"""How often Python looks for garbage that refers to itself: seldom, while imports and a run make objects that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 200_000
"""New objects before it is looked for among them, instead of 700: it took a tenth of a start and of a model call."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """So while the block runs; who embeds a run has the thresholds of their own again after it."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
