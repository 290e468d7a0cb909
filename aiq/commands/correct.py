"""Correct a run's means with a few human labels: what would people say, and how certain is that?

aiq correct latest --labels labels.csv

FILE has rows {"sample_id", "label", "metric"} (.jsonl, .csv), as for `aiq calibrate`: label randomly drawn samples of
the run. For labels of other runs, name these with --labelled OTHER; the same judge must have scored both.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.commands import add_json, add_results, add_run, write_json


def add_arguments(parser: ArgumentParser) -> None:
    add_run(parser)
    parser.add_argument("--labels", type=Path, required=True, metavar="FILE", help="labels (.jsonl, .csv)")
    parser.add_argument(
        "--labelled", action="append", default=[], metavar="OTHER", help="the run that was labelled; may be repeated"
    )
    add_json(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.labels import correct
    from aiq.runs.folder import find_run
    from aiq.site.analysis_tables import corrected_table
    from aiq.site.tables import show

    folder = find_run(args.run, args.results)
    correction = correct(folder, args.labels, [find_run(name, args.results) for name in args.labelled])
    show(*corrected_table(correction))
    write_json(args.json, correction)
    return 0
