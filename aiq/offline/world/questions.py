"""Chooses the questions of the mini FreshQA: how many of which sort, spread over the regions, each once."""

from collections.abc import Callable, Iterator

from aiq.offline.world.asked import Asked
from aiq.offline.world.chains import ask, chains, follow
from aiq.offline.world.comparisons import COMPARISONS
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Region, World
from aiq.offline.world.false_premises import MULTI_HOP, ONE_HOP
from aiq.offline.world.relations import Change
from aiq.offline.world.truth import answers

Maker = Callable[[World, Region, Draw], Asked | None]
_CHANGES: tuple[Change, ...] = ("never", "slow", "fast")

_SHARES = (("one", 36), ("two", 27), ("three", 18), ("compare", 15), ("false", 14), ("false_multi", 10))
"""Of each 120 questions; the multi-hop ones are 70."""


def choose_questions(world: World, count: int) -> list[Asked]:
    """`count` different questions about the English regions, in a drawn order."""
    regions = [region for region in world.regions if region.language == "en"]
    seen: set[object] = set()
    questions: list[Asked] = []
    for sort, amount in _amounts(count):
        source = _stream(world, regions, sort)
        while amount:
            asked = next(source)
            if asked.key not in seen:
                seen.add(asked.key)
                questions.append(asked)
                amount -= 1
    return Draw(world.seed, "order").shuffled(questions)


def _amounts(count: int) -> list[tuple[str, int]]:
    """The shares of `count`, rounded so that they add up."""
    total = sum(share for _, share in _SHARES)
    bounds = [0]
    for _, share in _SHARES:
        bounds.append(bounds[-1] + share)
    return [
        (sort, bounds[index + 1] * count // total - bounds[index] * count // total)
        for index, (sort, _) in enumerate(_SHARES)
    ]


def _stream(world: World, regions: list[Region], sort: str) -> Iterator[Asked]:
    """Questions of a sort without end, the regions in turn; some come more than once."""
    makers = _makers(sort)
    barren = 0
    for number in range(10_000_000):
        draw = Draw(world.seed, "question", sort, number)
        asked = makers[number % len(makers)](world, regions[number // len(makers) % len(regions)], draw)
        barren = 0 if asked else barren + 1
        assert barren < 10_000, f"no more questions of the sort {sort}"
        if asked:
            yield asked


def _makers(sort: str) -> tuple[Maker, ...]:
    by_sort: dict[str, tuple[Maker, ...]] = {"compare": COMPARISONS, "false": ONE_HOP, "false_multi": MULTI_HOP}
    hops = {"one": 1, "two": 2, "three": 3}.get(sort)
    return by_sort[sort] if hops is None else tuple(_chain_maker(hops, change) for change in _CHANGES)


def _chain_maker(hops: int, change: Change) -> Maker:
    possible = chains(hops, change)
    starts = sorted({chain[0].kind for chain in possible})

    def make(world: World, region: Region, draw: Draw) -> Asked | None:
        kind = draw.pick(starts)
        chain = draw.pick([chain for chain in possible if chain[0].kind == kind])
        path = follow(world, chain, draw.pick(region.of(kind)))
        if path is None:
            return None
        return Asked(ask(path, draw), answers(path.facts[-1].value), change, hops, path.facts)

    return make
