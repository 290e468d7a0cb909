"""Serve the offline stack for other clients.

`aiq offline` answers OpenAI chat completions, a Tavily-shaped search and web pages on this machine,
without a key or a network, until Ctrl-C.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from aiq.offline.__main__ import add_options, serve

GREETING = """The offline stack answers at http://{host}:{port} (Ctrl-C ends it).

  model   http://{host}:{port}/v1      any OpenAI client: OpenAI(base_url="http://{host}:{port}/v1", api_key="{key}")
                                       (chat completions, responses, embeddings)
  search  http://{host}:{port}/search  Tavily's request and answer; so does /extract
  pages   any host of the closed world, named in the Host header
  counts  http://{host}:{port}/stats

  curl http://{host}:{port}/v1/chat/completions -H 'authorization: Bearer {key}' \\
    -H 'content-type: application/json' \\
    -d '{{"model": "offline-1", "messages": [{{"role": "user", "content": "Hello"}}]}}'
"""


def add_arguments(parser: ArgumentParser) -> None:
    add_options(parser, port=8808)
    parser.add_argument("--world", metavar="PATH", help="pages.jsonl or its folder (default: the shipped one)")
    parser.add_argument("--pages", metavar="FILE", action="append", default=[], help="more pages, as offline.pages")


def run(args: Namespace) -> int:
    from aiq.offline.launch import page_files

    def greet(port: int) -> None:
        print(GREETING.format(host=args.host, port=port, key=args.api_key or "none"), flush=True)

    args.pages, args.keep = page_files(args.world, args.pages, "--"), True
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(args, greet))
    print("ended")
    return 0
