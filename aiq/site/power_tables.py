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
    if any(p.within is None for p in found.plans):
        yield Text(_ONE_EPOCH)
    if not (found.plans or found.alike):
        yield Text("Nothing was scored, so there is nothing to plan")
    if found.alike:
        yield Text(f"Nothing varies, so nothing is known: {', '.join(found.alike)}")


def _tables(planning: Planning, target: str) -> Iterator[RenderableType]:
    rows = [
        (
            f"  {'='.join(p.slice)}" if p.slice else p.metric,
            p.n,
            *(_range(p, lambda prospect: prospect.resolves), _range(p, lambda prospect: prospect.samples)),
            _range(p, lambda prospect: prospect.epochs),
        )
        for p in planning.plans
    ]
    headings = ("metric", "n", "resolves", f"samples\n{target}", f"or epochs\n{target}")
    yield Sheet(
        headings, rows, f"the smallest difference that a comparison of runs like {' and '.join(planning.runs)} resolves"
    )
    yield Text()
    epoch_rows = [
        (p.metric, f"{p.epochs:.3g}", p.between, p.within, *map(p.most.by_epochs.get, EPOCHS))
        for p in planning.plans
        if p.slice is None
    ]
    epoch_headings = ("at most, by epochs", "now", "sd\nbetween", "sd\nwithin", *map(str, EPOCHS))
    yield Sheet(epoch_headings, epoch_rows)
    yield Text()


def _range(plan: Plan, figure: Callable[[Prospect], float | None]) -> str | None:
    most = figure(plan.most)
    if plan.least is None:
        return None if most is None else f"up to {_text(most)}"
    least = figure(plan.least)
    if least is None or least == most:
        return None if least is None else _text(least)
    return f"{_text(least)} or more" if most is None else f"{_text(least)} to {_text(most)}"


def _text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else cell(value)
