"""`python -m aiq.offline`: the offline stack as a separate process.

Prints one JSON line `{"port": N}` once it accepts requests, and exits when its standard input closes, so
that it cannot outlive the command that started it.
"""

import argparse
import asyncio
import errno
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.core.errors import ConfigError, UserError

if TYPE_CHECKING:
    import uvicorn

_RATES = "'{\"http_429\": 0.1}'"

GRACE_SECONDS = 2
"""How long requests in flight may take to finish once the server is told to stop."""


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: write a whole number, 1 or more")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m aiq.offline", description=__doc__)
    parser.add_argument("--pages", type=Path, nargs="+", required=True, help="files (or folders with a pages.jsonl)")
    add_options(parser, port=0)
    parser.add_argument("--keep", action="store_true", help="stay when standard input closes")
    try:
        asyncio.run(serve(parser.parse_args(arguments)))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # how a person stops it
        return 0
    return 0


def add_options(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the options shared with `aiq offline`; `port` is the default port."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=port, help="port; 0 takes a free one (default: %(default)s)")
    parser.add_argument("--api-key", type=_key, metavar="KEY", help="refuse requests without this bearer token")
    parser.add_argument("--faults", type=_rates, default={}, metavar="JSON", help=f"rates of planted faults: {_RATES}")
    parser.add_argument("--seed", type=int, default=0, help="seed of the faults (default: %(default)s)")
    help_text = "longest prompt, in tokens (default: %(default)s)"
    parser.add_argument("--context-tokens", type=_at_least_one, default=131_072, help=help_text)


def _port(text: str) -> int:
    """A port number from 0 (any free port) to 65535."""
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; choose 0 (any free one) to 65535")
    return port


def _rates(text: str) -> dict[str, float]:
    """Parse the rate of each fault. Raises ConfigError."""
    from aiq.offline.faults import check

    try:
        rates = {name: float(rate) for name, rate in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(f"--faults {text}: write a JSON object such as {_RATES}") from None
    check(rates, "--faults: ")
    return rates


def _key(text: str) -> str:
    """A key that can serve as a bearer token. An empty one is rejected, as it would let every client in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the key is empty; leave the option out to let every client in")
    return text


def _print_port(port: int) -> None:
    print(json.dumps({"port": port}), flush=True)


async def serve(options: argparse.Namespace, ready: Callable[[int], None] = _print_port) -> None:
    """Serve until told to stop; `ready` is called with the port. SIGTERM stops the server just as Ctrl-C does.

    Raises UserError when a page file or a fault is invalid, the host does not exist or the port is taken.
    """
    from aiq.offline.faults import Faults
    from aiq.offline.protocol.work import Work, Workers

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    workers = Workers(Work(Faults(options.faults, options.seed), options.context_tokens))  # first: they start slowest
    try:
        import uvicorn

        from aiq.offline.protocol.app import Stack, build_app
        from aiq.offline.protocol.site import Site

        app = build_app(Stack(Site(options.pages), workers, options.api_key))
        listener = _listen(options.host, options.port)
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        config.timeout_keep_alive = 300  # longer than a client's pool keeps idle connections: the client closes first
        config.timeout_graceful_shutdown = GRACE_SECONDS
        server = uvicorn.Server(config)
        if not options.keep:
            threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
        listener.listen(config.backlog)
        ready(listener.getsockname()[1])
        await server.serve(sockets=[listener])
    finally:
        workers.close()


def _listen(host: str, port: int) -> socket.socket:
    # The protocol is named because asyncio sets TCP_NODELAY only then: it saves 40 ms on each small answer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        remedy = "--host is an IPv4 address of this machine, such as 127.0.0.1"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            remedy = "choose another --port (0 takes a free one)"
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}; {remedy}") from None
    return listener


def _end_with_input(server: "uvicorn.Server") -> None:
    """Stop the server when standard input ends; if it has not stopped in time, exit the process."""
    while os.read(0, 4096):
        pass
    server.should_exit = True
    time.sleep(GRACE_SECONDS + 3)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
