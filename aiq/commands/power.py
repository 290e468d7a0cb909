"""Plan a comparison: what difference can runs like this one tell, and how many samples or epochs does another take?

aiq power RUN --effect 0.02
aiq power RUN_A RUN_B

One run gives bounds, for runs of which nothing is known but that they are like it; two runs say how much samples change
between them. A run is a folder, a run id below results/, or `latest`; epochs=2 or more tell chance from difficulty.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.core.errors import UserError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder, a run id, or `latest`")
    parser.add_argument("other", nargs="?", metavar="OTHER", help="a second run on the same samples")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="plan to compare this alone; may be repeated"
    )
    parser.add_argument(
        "--effect",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="a difference worth finding, as a share of the metric's range, or else of its mean (0.02)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure here")
    parser.add_argument("--results", default="results", metavar="DIR", help="where runs are looked for (results)")


def run(args: Namespace) -> int:
    from aiq.analysis.baselines import find_recorded
    from aiq.analysis.power import plan
    from aiq.citations.files import check_outputs, write_text
    from aiq.site.power_tables import power_text
    from aiq.site.tables import show

    if not 0 < args.effect <= 1:
        raise UserError(f"--effect {args.effect}: a share of a metric's range is above 0 and at most 1, such as 0.02")
    check_outputs(args.json)
    folders = [find_recorded(name, args.results) for name in (args.run, args.other) if name is not None]
    found = plan(folders, metrics=args.metric, effect=args.effect)
    show(*power_text(found, args.effect))
    if args.json is not None:
        write_text(args.json, found.model_dump_json(indent=2) + "\n")
    return 0
