"""Serve a collection of events to any MCP client, over stdio or HTTP.

aiq mcp events                                 (the closed world's events, over stdio)
aiq mcp events --events my.jsonl --http 8810   (your own, at http://127.0.0.1:8810/mcp)
aiq mcp events --events my.jsonl --db my.db    (kept in a file; only new events are added)
aiq mcp events --opensearch https://search.example events.opensearch.index=talks events=mine

events=NAME uses conf/events/NAME.yaml, which describes the collection's fields.
"""

from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiq.tools.mcp.events_server import EventsSettings


def add_arguments(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="mcp_command", metavar="events", required=True)
    events = commands.add_parser("events", help="serve a collection of events")
    events.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="events=NAME, events.index=..., ...")
    events.add_argument("--events", metavar="FILE", help="JSONL of events, gzipped or not (events.events)")
    events.add_argument("--db", metavar="FILE", help="the SQLite file that keeps them (events.db)")
    events.add_argument("--opensearch", metavar="URL", help="a server that holds them (events.opensearch.url)")
    events.add_argument("--http", type=int, metavar="PORT", help="streamable HTTP on this machine; 0: any free port")


def run(args: Namespace) -> int:
    import anyio

    with suppress(KeyboardInterrupt):
        anyio.run(_serve, _settings(args), args.http)
    return 0


def _settings(args: Namespace) -> "EventsSettings":
    from aiq.core.plugins import validate
    from aiq.experiment.compose import compose_group
    from aiq.tools.mcp.events_server import EventsSettings

    config = compose_group("events", "default", args.overrides)
    if args.db is not None and args.events is None:
        config["events"] = None
    config |= {name: value for name in ("events", "db") if (value := getattr(args, name)) is not None}
    if args.opensearch is not None:
        config["opensearch"] = {**config["opensearch"], "url": args.opensearch}
    return validate(EventsSettings, config, "events")


async def _serve(settings: "EventsSettings", port: int | None) -> None:
    from aiq.tools.mcp.events_server import make_server, open_engine, serve_http, serve_stdio

    async with open_engine(settings) as engine:
        server = make_server(engine)
        await (serve_stdio(server) if port is None else serve_http(server, port))
