"""Measure judges by runs over perturbed reports, or against your own labels.

`aiq run experiment=judge_calibration`, then `aiq calibrate latest`: do the judges notice what is wrong with a
report, are they consistent, are they fooled by length or by instructions? The figures are written to
reliability.json in the (first) run's folder, where later runs find them. Further RUNs add repetitions, or other
judges of the same reports. --labels compares with a file of rows {"sample_id", "metric", "label"}.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.commands import A_RUN, add_json, add_results, write_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="+", metavar="RUN", help=A_RUN)
    parser.add_argument("--labels", type=Path, metavar="FILE", help="your labels for the runs' samples (.jsonl, .csv)")
    add_json(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.calibration import calibrate
    from aiq.analysis.reliability import FILE
    from aiq.runs.folder import find_run, write_atomic
    from aiq.site.calibration_tables import calibration_tables
    from aiq.site.tables import show

    folders = [find_run(name, args.results) for name in args.run]
    calibration = calibrate(folders, args.labels)
    show(calibration_tables(calibration))
    if calibration.metrics:
        path = folders[0].path / FILE
        write_atomic(path, calibration.model_dump_json(indent=2) + "\n")
        print(f"written to {path}")
    write_json(args.json, calibration)
    return 0
