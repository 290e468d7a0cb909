"""Recommend a point of a sweep: the cheapest that is as good as the best, and how certain that is.

aiq recommend latest
aiq recommend SWEEP --metric fresheval.relaxed --spend calls
aiq recommend SWEEP --write conf/experiment/tuned.yaml     then: aiq run experiment=tuned

SWEEP is a sweep's folder, its id, its experiment (its latest sweep), or `latest`. "As good" means within one
standard error of the best point, paired by sample.
"""

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from aiq.commands import add_results
from aiq.core.errors import UserError
from aiq.core.usage import SpendName

if TYPE_CHECKING:
    from aiq.runs.sweeps import Sweep


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("sweep", metavar="SWEEP", help="a sweep's folder, its id, its experiment, or `latest`")
    parser.add_argument("--metric", metavar="NAME", help="the metric to be good at (the sweep's own)")
    parser.add_argument("--spend", choices=get_args(SpendName), help="the spend to keep low (the sweep's own)")
    parser.add_argument("--write", type=Path, metavar="FILE.yaml", help="write the point as an experiment's config")
    add_results(parser, "sweeps")


def run(args: Namespace) -> int:
    from rich.text import Text

    from aiq.analysis.sweeps import evaluate
    from aiq.runs.sweeps import find_sweep
    from aiq.site.sweep_tables import recommendation_lines
    from aiq.site.tables import show

    if args.write is not None:
        _check_free(args.write)
    folder = find_sweep(args.sweep, args.results)
    sweep = evaluate(folder.read(), folder, args.metric, args.spend)
    show(*map(Text, recommendation_lines(sweep)))
    if args.write is not None:
        if sweep.recommendation is None:
            raise UserError(f"there is nothing to write: {sweep.undecided}")
        _write(args.write, sweep, sweep.recommendation.point)
    return 0


def _check_free(path: Path) -> None:
    """Raises UserError for an existing file, or the name of an experiment, from which the file may have to inherit."""
    from aiq.experiment.choices import options

    if not re.fullmatch(r"[\w.-]+\.yaml", path.name):
        raise UserError(f"--write {path}: name a file NAME.yaml; NAME is the experiment's")
    if path.exists():
        raise UserError(f"--write {path}: already exists; choose another name, or delete it first")
    if path.stem in options("experiment"):
        raise UserError(f"--write {path}: there already is an experiment {path.stem}; choose another name")


def _write(path: Path, sweep: "Sweep", number: int) -> None:
    from aiq.core.files import write_text
    from aiq.experiment.grid import as_experiment

    point = next(point for point in sweep.points if point.number == number)
    write_text(path, as_experiment(sweep, point, path.stem))
    in_conf = path.resolve().parent == (Path("conf") / "experiment").resolve()
    print(
        f"written to {path}; {'use it' if in_conf else 'move it to a folder conf/experiment and use it'}: "
        f"aiq run experiment={path.stem}"
    )
