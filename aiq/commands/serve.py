"""Serve agents over HTTP: tasks, their events as they happen, approvals, and a page to try them with.

aiq serve agent=shannon                            on the offline stack, at http://127.0.0.1:8080, for this machine
aiq serve agent=ai_q_chat serve.agents=[shannon]   several agents; a task names one, or gets the first
aiq serve --add-key team                           make a key, shown once; once there are keys, requests need one
aiq serve agent=shannon llm=openai llm.model=MODEL search=tavily web=live serve.host=0.0.0.0 checkpointer=sqlite

Tasks are attempts of a run in results/serve/, a new run for each start; they survive restarts. Settings are those of
`aiq run` and those of serve (docs/serving.md). Ctrl-C ends it.
"""

import asyncio
import math
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path

from aiq.commands import add_overrides
from aiq.core.errors import ConfigError, UserError


def add_arguments(parser: ArgumentParser) -> None:
    add_overrides(parser, "[--add-key NAME [--usd N] | --remove-key NAME | --keys] SETTING=VALUE ...")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--add-key", metavar="NAME", help="make a key with this name, show it once, and stop")
    parser.add_argument("--usd", type=float, metavar="N", help="with --add-key: what the key may spend in all")
    keys.add_argument("--remove-key", metavar="NAME", help="revoke a key immediately, and stop")
    keys.add_argument("--keys", action="store_true", help="list the keys, and stop")


def run(args: Namespace) -> int:
    from aiq.serve.settings import setup_of

    if args.usd is not None and not (args.add_key and 0 < args.usd < math.inf):
        raise UserError(f"--usd {args.usd:g}: only with --add-key, and above 0: what the key may spend in all")
    if args.add_key is not None and not (args.add_key.strip() and args.add_key.isprintable()):
        raise UserError(f"--add-key {args.add_key!r}: a key needs a name, without control characters")
    setup = setup_of(args.overrides)
    if args.add_key or args.remove_key is not None or args.keys:
        setup.home.create()
        return _keys(args, setup.home.path)
    try:
        import fastapi  # noqa: F401
    except ImportError:
        raise ConfigError("aiq serve needs more packages: pip install 'aiq-bench[serve]'") from None
    from aiq.experiment.resources import is_offline_model
    from aiq.serve.server import Serving, serve
    from aiq.site.markdown import render
    from aiq.site.pages import write_run

    def greet(serving: Serving) -> None:
        model = "the offline model" if is_offline_model(setup.run) else setup.run.llm.model
        print(f"{', '.join(setup.agents)} with {model} at {serving.address} (Ctrl-C ends it)")
        print(
            f"tasks are kept in {setup.home.path}; this start's attempts are the run {serving.service.run.folder.path}"
        )
        print(
            "no key is needed: only this machine is answered"
            if serving.service.keys.keyless
            else "every request needs a key"
        )
        sys.stdout.flush()

    folder = asyncio.run(serve(setup, render, greet))
    print(f"ended; unfinished tasks continue at the next start\nwritten to {write_run(folder)}")
    return 0


def _keys(args: Namespace, home: Path) -> int:
    from aiq.serve.keys import new_key
    from aiq.serve.store import DATABASE, Store

    with closing(Store(home / DATABASE)) as store:
        if args.add_key:
            key = new_key()
            store.add_key(args.add_key, key, args.usd)
            print(f"{key}\n(shown once; {home / DATABASE} holds only its hash)")
        elif args.remove_key is not None:
            if not store.remove_key(args.remove_key):
                raise ConfigError(f"--remove-key {args.remove_key}: there is no such key; aiq serve --keys lists them")
        else:
            for entry in store.all_keys():
                limit = "" if entry.usd is None else f" of ${entry.usd:g}"
                print(f"{entry.name}\tmade {entry.created}\t${store.spent(entry.name):.2f} spent{limit}")
    return 0
