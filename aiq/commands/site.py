"""Write the pages that show runs and sweeps, also of older ones, or serve them and follow what is running.

RESULTS is the folder of all results. Its index.html opens from disk. Pages of runs and sweeps that have not changed
since they were written are left alone.
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.core.errors import UserError, say
from aiq.core.text import plural


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"), metavar="RESULTS", help="(results)")
    parser.add_argument("--serve", action="store_true", help="serve the pages on this machine, until Ctrl-C")
    parser.add_argument("--port", type=int, default=8300, metavar="N", help="port for --serve (8300; 0: any free port)")


def run(args: Namespace) -> int:
    from aiq.site.results import write_site

    if not args.results.is_dir():
        raise UserError(f"there is no folder {args.results}; name the folder with all results")
    count, problems = write_site(args.results, shown=sys.stderr.isatty())
    for problem in problems:
        say(f"aiq: {problem}")
    print(f"{plural(count, 'page')} written; open {args.results / 'index.html'}")
    if args.serve:
        from aiq.site.server import serve

        serve(args.results, args.port)
    return 1 if problems else 0
