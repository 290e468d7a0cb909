"""List runs and sweeps below results/, newest first: what was run, with what result, at what cost.

aiq runs                            all of them
aiq runs shallow finished           those that have each of these words in some column

A sweep shows the score of its recommended point; --points also lists its points, which are ordinary runs.
"""

from argparse import ArgumentParser, Namespace

from aiq.commands import add_results


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="part of an id, experiment, agent, model, status, ...")
    parser.add_argument("--points", action="store_true", help="also list the points of sweeps")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    add_results(parser)


def run(args: Namespace) -> int:
    import json

    from aiq.core.errors import UserError
    from aiq.runs.listing import list_runs
    from aiq.site.listing import runs_sheet
    from aiq.site.tables import show

    entries = [entry for entry in list_runs(args.results, points=args.points) if entry.has(args.words)]
    if args.json:
        print(json.dumps([entry.model_dump(mode="json") for entry in entries], indent=2, ensure_ascii=False))
    elif entries or not args.words:
        show(runs_sheet(entries))
    else:
        raise UserError(f"no run in {args.results}/ has all these words in its columns: {', '.join(args.words)}")
    return 0
