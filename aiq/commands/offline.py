"""Serve the offline stack for other clients.

`aiq offline` answers OpenAI chat completions, a Tavily-shaped search and web pages on this machine,
without key and network, until Ctrl-C.
"""

import argparse
import asyncio
import json
from contextlib import suppress

from aiq.core.errors import ConfigError
from aiq.offline.__main__ import key, serve

GREETING = """The offline stack answers at http://{host}:{port} (Ctrl-C ends it).

  model   http://{host}:{port}/v1      any OpenAI client: OpenAI(base_url="http://{host}:{port}/v1", api_key="{key}")
                                       (chat completions, responses, embeddings)
  search  http://{host}:{port}/search  Tavily's request and answer; so does /extract
  pages   any host of the world, named in the Host header
  counts  http://{host}:{port}/stats

  curl http://{host}:{port}/v1/chat/completions -H 'authorization: Bearer {key}' \\
    -H 'content-type: application/json' \\
    -d '{{"model": "offline-1", "messages": [{{"role": "user", "content": "Hello"}}]}}'
"""


def _port(text: str) -> int:
    """A port from 0 (any free one) to 65535."""
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; choose 0 (any free one) to 65535")
    return port


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of tokens; write 1 or more")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8808, help="port; 0 takes a free one (default: %(default)s)")
    parser.add_argument(
        "--world", metavar="PATH", help="pages.jsonl or its folder (default: the world that comes with aiq)"
    )
    parser.add_argument(
        "--pages", metavar="FILE", action="append", default=[], help="further pages, as offline.pages has them"
    )
    parser.add_argument(
        "--api-key", metavar="KEY", type=key, help="refuse model and search requests without this bearer token"
    )
    parser.add_argument("--faults", metavar="JSON", default="{}", help="rates of planted faults: '{\"http_429\": 0.1}'")
    parser.add_argument("--seed", type=int, default=0, help="seed of the faults (default: %(default)s)")
    parser.add_argument(
        "--context-tokens", type=_count, default=131_072, help="longest prompt, in tokens (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    from aiq.offline.launch import page_files

    def greet(port: int) -> None:
        print(GREETING.format(host=args.host, port=port, key=args.api_key or "none"), flush=True)

    given = {"pages": page_files(args.world, args.pages, "--"), "faults": _faults(args.faults), "keep": True}
    options = argparse.Namespace(**{**vars(args), **given})
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(options, greet))
    print("ended")
    return 0


def _faults(text: str) -> dict[str, float]:
    from aiq.offline.faults import check

    try:
        rates = json.loads(text)
        faults = {str(name): float(rate) for name, rate in rates.items()}
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(f"--faults {text}: write a JSON object such as '{{\"http_429\": 0.1}}'") from None
    check(faults, "--faults: ")
    return faults
