"""Plan a comparison: what difference can runs like this detect, and how many samples or epochs does another take?

aiq power RUN --effect 0.02
aiq power RUN_A RUN_B

One run gives bounds, assuming only that other runs are like it; two runs show how much samples change between them.
Two or more epochs separate chance from difficulty.
"""

from argparse import ArgumentParser, Namespace

from aiq.commands import add_effect, add_json, add_results, add_run, write_json


def add_arguments(parser: ArgumentParser) -> None:
    add_run(parser)
    parser.add_argument("other", nargs="?", metavar="OTHER", help="a second run on the same samples")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="only this metric; may be repeated"
    )
    add_effect(parser)
    add_json(parser)
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.analysis.baselines import find_run_or_baseline
    from aiq.analysis.power import plan
    from aiq.core.files import check_outputs
    from aiq.site.power_tables import power_text
    from aiq.site.tables import show

    check_outputs(args.json)
    folders = [find_run_or_baseline(name, args.results) for name in (args.run, args.other) if name is not None]
    power = plan(folders, metrics=args.metric, effect=args.effect)
    show(*power_text(power, args.effect))
    write_json(args.json, power)
    return 0
