"""The offline model: a deterministic program that answers one request by reading it, not by knowing its sender.

It does five things, a file each: `read` the request, `follow` its instructions, `choose` a tool, `fill` a schema,
`write` a text. `answer` is how it reads: what a question asks, and what the material says to that.
"""

from aiq.offline.engine.respond import respond

__all__ = ["respond"]
