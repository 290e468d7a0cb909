"""Run an experiment, or a sweep of them with -m.

aiq run experiment=shallow_freshqa limit=10
aiq run -m experiment=shallow_freshqa agent.shallow.max_tool_iterations=1,3,5
aiq run resume=results/shallow_freshqa/RUN_ID
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from aiq import sweep
from aiq.core.errors import UserError
from aiq.experiment import choices, compose
from aiq.experiment.grid import refuse, split
from aiq.run import RESUMED_ALONE, carry_out, new, parted, reopened, unfinished
from aiq.runs.folder import SWEEP_FILE, RunFolder
from aiq.runs.sweeps import SweepFolder


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments, and in the help what there is to choose from."""
    parser.usage = f"{parser.prog} [-m] [--cfg] SETTING=VALUE ..."
    parser.epilog = choices.overview()
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="a setting, or GROUP=OPTION")
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over settings with several values")
    parser.add_argument("--cfg", action="store_true", help="print the resolved config and stop")


def run(args: Namespace) -> int:
    resumed, others = parted(args.overrides)
    if resumed and args.cfg:
        raise UserError(RESUMED_ALONE)
    if resumed:
        place, settings = unfinished(resumed[0], others, sweeps=args.multirun)
        if (place / SWEEP_FILE).is_file():
            return sweep.resume(SweepFolder(place), settings)
        return carry_out(*reopened(RunFolder(place), settings)).exit_code
    if args.multirun:
        return _show_config([p.overrides for p in split(others).points]) if args.cfg else sweep.start(others)
    refuse(others)
    return _show_config([others]) if args.cfg else carry_out(*new(others)).exit_code


def _show_config(jobs: Sequence[Sequence[str]]) -> int:
    from aiq.site.settings import explained

    for job in jobs:
        print("---\n" + explained(compose.checked(compose.settings_from(compose.compose(job)))), end="")
    return 0
