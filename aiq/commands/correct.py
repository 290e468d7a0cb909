"""Correct a run's means by a few human labels: what would people say, and how sure is that?

aiq correct latest --labels labels.csv

FILE has rows {"sample_id", "label", "metric"} (.jsonl, .csv), as for `aiq calibrate`: label samples of the run that
were drawn at random. With labels of other runs name these: --labelled OTHER; the same judge must have scored both.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder, a run id, or `latest`")
    parser.add_argument("--labels", type=Path, required=True, metavar="FILE", help="labels (.jsonl, .csv)")
    parser.add_argument(
        "--labelled", action="append", default=[], metavar="OTHER", help="the run that was labelled; may be repeated"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")
    parser.add_argument("--results", default="results", metavar="DIR", help="where runs are looked for (results)")


def run(args: Namespace) -> int:
    from aiq.analysis.labels import correct
    from aiq.citations.files import write_text
    from aiq.runs.folder import find_run
    from aiq.site.analysis_tables import corrected_table
    from aiq.site.tables import show

    folder = find_run(args.run, args.results)
    found = correct(folder, args.labels, [find_run(name, args.results) for name in args.labelled])
    show(*corrected_table(found))
    if args.json is not None:
        write_text(args.json, found.model_dump_json(indent=2) + "\n")
    return 0
