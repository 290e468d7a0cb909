"""Serve agents over HTTP: tasks, their events as they happen, approvals, and a page to try them with.

aiq serve agent=shannon                            on the offline stack, at http://127.0.0.1:8080, for this machine
aiq serve agent=ai_q_chat serve.agents=[shannon]   several agents; a task names one, or gets the first
aiq serve --add-key team                           make a key, shown once; with keys every request needs one
aiq serve agent=shannon llm=openai llm.model=MODEL search=tavily web=live serve.host=0.0.0.0 checkpointer=sqlite

Tasks are attempts of a run in results/serve/, one for each start; they outlive a restart. Settings are those of
`aiq run`, and those of serve (docs/serving.md). Ctrl-C ends it.
"""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from aiq.core.errors import ConfigError
from aiq.core.usage import Quantity

if TYPE_CHECKING:
    from aiq.core.run_settings import RunSettings
    from aiq.core.settings import Plugin
    from aiq.serve.settings import ServeSettings

_DEFAULTS = ("experiment=full_freshqa", "agent=ai_q_chat")
"""Where no experiment is chosen: AI-Q on the closed world, at the world's time."""
_OWN = ("judge=[]", "dataset=questions", "dataset.path=questions.jsonl", "name=serve")
_OF_RUNS = ("dataset", "epochs", "limit", "judge", "judge_reliability", "name", "cassette")
_IDLE = {
    **dict.fromkeys(_OF_RUNS, "a server's samples are the tasks that it is asked"),
    "resume": "a server goes on with its unfinished tasks by itself",
    "user": "of a task it is whoever sends approvals",
    **{f"limits.run_{quantity}": "what a key may spend is serve.key.usd" for quantity in get_args(Quantity)},
}
"""Settings of a run that a server has no use for, and why."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [--add-key NAME [--usd N] | --remove-key NAME | --keys] SETTING=VALUE ..."
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="a setting, or GROUP=OPTION")
    parser.add_argument("--add-key", metavar="NAME", help="make a key of this name, show it once, and stop")
    parser.add_argument("--usd", type=float, metavar="N", help="with --add-key: what the key may spend in all")
    parser.add_argument("--remove-key", metavar="NAME", help="take a key back, at once, and stop")
    parser.add_argument("--keys", action="store_true", help="list the keys, and stop")


def run(args: Namespace) -> int:
    settings, api, plugins, live = _settings(args.overrides)
    if args.add_key or args.remove_key or args.keys:
        return _keys(args, settings)
    try:
        import fastapi  # noqa: F401
    except ImportError:
        raise ConfigError("aiq serve needs more packages: pip install 'aiq-bench[serve]'") from None
    from aiq.experiment.resources import is_offline_model
    from aiq.serve.agents import Agents
    from aiq.serve.server import Serving, serve
    from aiq.site.markdown import render
    from aiq.site.pages import write_run

    def greet(serving: Serving) -> None:
        model = "the offline model" if is_offline_model(settings) else settings.llm.model
        print(f"{', '.join(agents.names)} with {model} at {serving.address} (Ctrl-C ends it)")
        print(
            f"tasks are kept in {_home(settings)}; this start's attempts are the run {serving.service.run.folder.path}"
        )
        print(
            "no key is asked for: only this machine is answered"
            if serving.service.keys.keyless
            else "every request needs a key"
        )
        sys.stdout.flush()

    agents = Agents(plugins)
    folder = asyncio.run(serve(agents, settings, api, args.overrides, render, greet, live=live))
    print(f"ended; what is not finished goes on at the next start\nwritten to {write_run(folder)}")
    return 0


def _settings(given: Sequence[str]) -> "tuple[RunSettings, ServeSettings, dict[str, Plugin], bool]":
    """The settings of the run and of the API, the agents by name, and whether they are told the present time."""
    from aiq.core.plugins import validate
    from aiq.experiment.compose import chosen_options, compose, compose_apart, settings_from
    from aiq.experiment.resources import needs_offline_stack
    from aiq.serve.settings import ServeSettings

    own = [text for text in given if _name(text).partition(".")[0] == "serve"]
    others = [text for text in given if text not in own]
    names = {_name(text) for text in others}
    for name in sorted(names):
        if why := _IDLE.get(name) or _IDLE.get(name.partition(".")[0]):
            raise ConfigError(f"{name}: {why}; leave it out")
    defaults = [text for text in _DEFAULTS if not {"experiment", text.partition("=")[0]} & names]
    composed = [*defaults, *others, *_OWN]
    config = compose(composed)
    settings = settings_from(config)
    if defaults and "clock" not in names and not needs_offline_stack(settings):
        config = compose([*composed, "clock=now"])
        settings = settings_from(config)
    api = validate(ServeSettings, compose_apart("serve", "default", own), "serve")
    agents = {chosen_options(composed)["agent"]: settings.agent}
    without = [text for text in composed if _name(text).partition(".")[0] != "agent"]
    more = dict.fromkeys(name for name in api.agents if name not in agents)
    agents |= {name: settings_from(compose([*without, f"agent={name}"])).agent for name in more}
    return settings, api, agents, config["clock"] == "now"


def _name(text: str) -> str:
    return text.lstrip("+~").partition("=")[0]


def _home(settings: "RunSettings") -> Path:
    return Path(settings.output_dir) / settings.name


def _keys(args: Namespace, settings: "RunSettings") -> int:
    from aiq.runs.folder import make_folder
    from aiq.serve.keys import new_key
    from aiq.serve.store import DATABASE, Store

    home = _home(settings)
    make_folder(home)
    with closing(Store(home / DATABASE)) as store:
        if args.add_key:
            key = new_key()
            store.add_key(args.add_key, key, args.usd)
            print(f"{key}\n(shown once; {home / DATABASE} holds its hash alone)")
        elif args.remove_key:
            if not store.remove_key(args.remove_key):
                raise ConfigError(f"--remove-key {args.remove_key}: there is no such key; aiq serve --keys lists them")
        else:
            for known in store.all_keys():
                print(f"{known.name}\tmade {known.created}\t${store.spent(known.name):.2f} spent{_of(known.usd)}")
    return 0


def _of(usd: float | None) -> str:
    return "" if usd is None else f" of ${usd:g}"
