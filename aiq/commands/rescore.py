"""Score the reports of a run again, with other or changed judges; the agent does not run.

aiq rescore latest judge=[race]
aiq rescore RUN judge.race.votes=3 llm.roles.judge.model=MODEL

The scores go into a new run folder; the old one is not changed. Judges that have not changed keep their scores.
"""

from argparse import ArgumentParser, Namespace

from aiq.commands import add_results, add_run
from aiq.core.errors import say


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} RUN SETTING=VALUE ..."
    add_run(parser)
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="of judge, llm, web, search, runner")
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.experiment.rescore import copy_valid, plan_rescore
    from aiq.run import run_and_report
    from aiq.runs.folder import RunFolder, find_run

    old = find_run(args.run, args.results)
    plan, manifest, notes = plan_rescore(old, args.overrides)
    for note in notes:
        say(f"aiq: {note}")
    new = RunFolder((old.sweep_path or old.path).parent / manifest.run_id)
    copy_valid(old, new, plan)
    new.write_manifest(manifest)
    return run_and_report(plan, new, manifest).exit_code
