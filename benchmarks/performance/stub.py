"""A model endpoint that costs next to nothing, in a separate process: `python stub.py`, which prints its port.

`/CALLS/MILLISECONDS/v1` is the base URL of a model that makes CALLS tool calls, one per reply, before it answers, and
waits MILLISECONDS before each reply. With the tool `task` (a deepagents orchestrator), it calls a planner and a
researcher instead. The answer is always the same, about 200 tokens. Uses only the standard library.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ANSWER = (
    "# The river\n\n"
    + "The river that flows through the town rises in the hills and reaches the sea after 88 km. " * 12
)
SUBAGENTS = ("planner-agent", "researcher-agent")


def reply(body: dict[str, Any], calls: int) -> dict[str, Any]:
    """The message of the model's next turn."""
    turn = sum(message["role"] == "tool" for message in body["messages"])
    tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
    name, arguments, limit = "search", {"query": f"river, part {turn}"}, calls
    if "task" in tools:
        agent, limit = SUBAGENTS[min(turn, 1)], len(SUBAGENTS)
        name, arguments = "task", {"description": "Find the river.", "subagent_type": agent}
    if name not in tools or turn >= limit:
        return {"role": "assistant", "content": ANSWER}
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call-{turn}", "type": "function", "function": call}],
    }


def answer(path: str, raw: bytes) -> tuple[bytes, float]:
    """The HTTP response to a request, and the seconds to wait before sending it."""
    calls, milliseconds = map(int, path.split("/")[1:3])
    content: dict[str, Any] = {"object": "list", "data": []}
    if raw:
        message = reply(json.loads(raw), calls)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": 200, "total_tokens": len(raw) // 4 + 200}
        content = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body, milliseconds / 1000 if raw else 0.0


class Connection(asyncio.Protocol):
    """One client, which sends each request only after the answer to the last one."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, raw = self._buffer.partition(b"\r\n\r\n")
        _, _, length = head.lower().partition(b"content-length:")
        if not end or len(raw) < int(length.split(b"\r\n")[0] or 0):
            return
        self._buffer = b""
        response, seconds = answer(head.split(b" ")[1].decode(), raw)
        if seconds:
            asyncio.get_running_loop().call_later(seconds, self._transport.write, response)
        else:
            self._transport.write(response)


@contextmanager
def running() -> Iterator[int]:
    """The port of an endpoint that runs inside the `with` block."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, __file__], **pipes) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the parent process is gone
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
