"""The real offline stack in this process, keeping every request; config names it by `offline.target`."""

import json
import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aiq.core.settings import OfflineSettings
from aiq.offline.faults import Faults
from aiq.offline.launch import page_files
from aiq.offline.protocol.app import Stack, build_app
from aiq.offline.protocol.site import Site
from aiq.offline.protocol.work import Work, Workers

ASKED: list[dict[str, Any]] = []
"""Requests in order of arrival: `host`, `path`, and of chat completions `role` and `body`."""


def keeping(app: ASGIApp) -> ASGIApp:
    """`app`, with every HTTP request added to `ASKED`."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        messages: list[Message] = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        asked: dict[str, Any] = {"host": headers["host"].split(":")[0], "path": scope["path"]}
        if scope["path"] == "/v1/chat/completions":
            asked |= {"role": headers["x-aiq-role"], "body": json.loads(body)}
        ASKED.append(asked)

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await app(scope, again, send)

    return wrapped


class RecordingStack:
    def __init__(self, settings: OfflineSettings, seed: int) -> None:
        self._workers = Workers(Work(Faults(settings.faults, seed)))
        app = keeping(build_app(Stack(Site(page_files(settings.world, settings.pages)), self._workers)))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="stack", daemon=True
        )

    async def start(self) -> int:
        self._thread.start()
        return int(self._listener.getsockname()[1])

    async def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=10)
        self._listener.close()
        self._workers.close()
