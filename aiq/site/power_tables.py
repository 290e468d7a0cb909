"""Which differences a comparison could find, as tables."""

from collections.abc import Callable, Iterator

from rich.console import RenderableType
from rich.text import Text

from aiq.analysis.power import EPOCHS, Plan, Planning, Prospect
from aiq.core.text import plural
from aiq.site.tables import Sheet, cell, percent
from aiq.stats.power import POWER
from aiq.stats.significance import LEVEL

_ONE_RUN = (
    "A range is from a second run that finds the same samples hard, so that they change only by chance, to one that "
    "has nothing in common with this one; aiq power RUN OTHER says where in it two runs are."
)
_ONE_EPOCH = "One epoch does not show how much of this is chance, or what more epochs would gain; epochs=2 does."


def power_text(found: Planning, effect: float) -> Iterator[RenderableType]:
    """For a terminal. `effect`: the share that the user asked for."""
    if found.plans:
        yield from _tables(found, f"for {effect:g}")
        test = f"one test at {LEVEL}" if found.family == 1 else f"Holm's correction of {plural(found.family, 'test')}"
        yield Text(
            f"A difference counts as resolved if {percent(POWER)} of comparisons would find it, with {test}. "
            f"For {effect:g}: as a share of the metric's range, or else of its mean."
        )
        if not found.paired:
            yield Text(_ONE_RUN)
    if any(one.within is None for one in found.plans):
        yield Text(_ONE_EPOCH)
    if not (found.plans or found.alike):
        yield Text("Nothing was scored, so there is nothing to plan")
    if found.alike:
        yield Text(f"Nothing varies, so nothing is known: {', '.join(found.alike)}")


def _tables(found: Planning, asked: str) -> Iterator[RenderableType]:
    rows = [
        (
            f"  {'='.join(one.slice)}" if one.slice else one.metric,
            one.n,
            *(_range(one, lambda seen: seen.resolves), _range(one, lambda seen: seen.samples)),
            _range(one, lambda seen: seen.epochs),
        )
        for one in found.plans
    ]
    headings = ("metric", "n", "resolves", f"samples\n{asked}", f"or epochs\n{asked}")
    yield Sheet(
        headings, rows, f"the smallest difference that a comparison of runs like {' and '.join(found.runs)} resolves"
    )
    yield Text()
    by_epochs = [
        (one.metric, f"{one.epochs:.3g}", one.between, one.within, *map(one.most.by_epochs.get, EPOCHS))
        for one in found.plans
        if one.slice is None
    ]
    by_count = ("at most, by epochs", "now", "sd\nbetween", "sd\nwithin", *map(str, EPOCHS))
    yield Sheet(by_count, by_epochs)
    yield Text()


def _range(one: Plan, figure: Callable[[Prospect], float | None]) -> str | None:
    most = figure(one.most)
    if one.least is None:
        return None if most is None else f"up to {_shown(most)}"
    least = figure(one.least)
    if least is None or least == most:
        return None if least is None else _shown(least)
    return f"{_shown(least)} or more" if most is None else f"{_shown(least)} to {_shown(most)}"


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else cell(value)
