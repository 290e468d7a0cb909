"""Ways to damage a report by a known degree, by rules that need no knowledge of what it says.

Each file has functions `(report, share, random) -> report`. `share` is 0 to 1 of what there is (of the length
added, where it may be more). The random numbers are those of (report, damage), so that a greater degree damages
all that a smaller one does, and more.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from aiq.agents.external.damages.added import instructed, padded, remarked
from aiq.agents.external.damages.cited import fabricated, shuffled
from aiq.agents.external.damages.told import dropped, exchanged, garbled, renumbered, reordered, swapped

Damage = Callable[[str, float, Random], str]

DAMAGES: Final[Mapping[str, Damage]] = {
    "sections": dropped,
    "facts": swapped,
    "roles": exchanged,
    "numbers": renumbered,
    "fabricated": fabricated,
    "shuffled": shuffled,
    "nonsense": garbled,
    "padding": padded,
    "instructions": instructed,
    "remarks": remarked,
    "order": reordered,
}
"""By name. `padding`, `instructions`, `remarks` and `order` leave what is said as good as it was."""
