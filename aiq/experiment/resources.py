"""What a run opens once and lends to its sessions: the offline stack, HTTP client, models, tools, checkpointer, store.

A checkpoint restores only types that are known to be harmless and those that an agent registers with
`with_allowlist`; everything else comes back as plain data, since somebody else may have written to the database.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aiq.cassettes.recorder import Recorder
from aiq.core import plugins
from aiq.core.errors import ConfigError, RunAborted, say
from aiq.core.events import EventLog
from aiq.core.files import resolve
from aiq.core.llm_settings import LlmSettings
from aiq.core.models import Models
from aiq.core.run_settings import CheckpointerSettings, RunSettings, TelemetrySettings
from aiq.core.session import ApprovingUser, Session
from aiq.core.tools import Toolbox, Web
from aiq.experiment.memory_store import BUSY_SECONDS, lazy_store
from aiq.experiment.recording import open_recorder
from aiq.experiment.telemetry import Telemetry
from aiq.llm.quirks import Forms
from aiq.llm.route import is_offline

CONNECT_SECONDS = 10
MOST_CONNECTIONS = 8
_SETUP_LOCK = 0x61_69_71  # "aiq": its holder in the database makes or migrates the tables


@asynccontextmanager
async def open_checkpointer(settings: CheckpointerSettings) -> AsyncIterator[Any]:
    """A LangGraph saver. In memory it is None unless the agent has loaded LangGraph, whose import costs 0.7 s.

    Raises ConfigError or RunAborted, in one line, if a database cannot be opened.
    """
    if settings.kind == "memory" and "langgraph" not in sys.modules:
        yield None
        return
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    if settings.kind == "sqlite":
        async with _sqlite(str(settings.path), serializer) as saver:
            yield saver
    elif settings.kind == "postgres":
        async with _postgres(str(settings.dsn_env), serializer) as saver:
            yield saver
    else:
        yield InMemorySaver(serde=serializer)


@asynccontextmanager
async def _sqlite(path: str, serializer: Any) -> AsyncIterator[Any]:
    """Raises ConfigError if the file cannot be a database; aiosqlite would report that at length from a thread."""
    import sqlite3

    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    try:
        with closing(sqlite3.connect(resolve(path), timeout=BUSY_SECONDS)) as probe:
            probe.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        raise ConfigError(f"checkpointer.path={path}: cannot be opened ({error}); its folder must exist") from None
    except sqlite3.DatabaseError as error:
        raise ConfigError(f"checkpointer.path={path}: not a SQLite file ({error}); name another") from None
    async with aiosqlite.connect(resolve(path), timeout=BUSY_SECONDS) as connection:
        saver, deadline = AsyncSqliteSaver(connection, serde=serializer), time.monotonic() + BUSY_SECONDS
        while not saver.is_setup:
            try:
                await saver.setup()  # its switch to the write-ahead log does not wait for other processes by itself
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
        await connection.execute("PRAGMA synchronous=NORMAL")  # safe with the write-ahead log, without a wait per step
        yield saver


@asynccontextmanager
async def _postgres(variable: str, serializer: Any) -> AsyncIterator[Any]:
    try:
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError:
        raise ConfigError("checkpointer=postgres needs more packages: pip install 'aiq-bench[postgres]'") from None
    dsn = os.environ.get(variable, "").strip()
    if not dsn:
        raise ConfigError(f"checkpointer.dsn_env={variable}: this environment variable is not set")
    options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    try:
        connection = await psycopg.AsyncConnection.connect(dsn, connect_timeout=CONNECT_SECONDS, **options)
    except psycopg.ProgrammingError:  # its message repeats the string
        raise ConfigError(f"${variable} is not a connection string such as postgresql://USER@HOST/DATABASE") from None
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise RunAborted(f"checkpointer=postgres: cannot connect to the database in ${variable}: {reason}") from None
    async with connection:  # closing it frees the lock
        await _take_setup_lock(connection)
        await AsyncPostgresSaver(connection).setup()
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        dsn, min_size=1, max_size=MOST_CONNECTIONS, open=False, kwargs=options
    )
    async with pool:
        yield AsyncPostgresSaver(pool, serde=serializer)


async def _take_setup_lock(connection: Any) -> None:
    """Take the lock that keeps two runs that start together from making the same tables.

    It polls instead of waiting: an index is built concurrently, which would wait for a waiting statement.
    """
    while True:
        row = await (await connection.execute("SELECT pg_try_advisory_lock(%s) AS ours", (_SETUP_LOCK,))).fetchone()
        if row["ours"]:
            return
        await asyncio.sleep(0.1)


@dataclass(frozen=True)
class Resources:
    """Lent to every session of a run; closed when the run ends. `judges_web`: without `web.deny`, which is for agents;
    `forms`: what was learned about structured output; `recorder`: the cassettes; `telemetry`: where spans
    go; `port`: where the offline stack listens, if it runs.
    """

    models: Models
    tools: Toolbox
    web: Web
    judges_web: Web
    checkpointer: Any
    store: Callable[[], Awaitable[Any]]
    forms: Forms
    recorder: Recorder
    telemetry: Telemetry | None
    port: int | None

    def session(self, settings: RunSettings, **own: Any) -> Session:
        """A session with these resources and the settings; `own`: further fields, or other values.

        By default nobody receives its events, and its user approves everything.
        """
        from aiq.citations.registry import SourceRegistry

        fields = {
            "run_seed": settings.seed,
            "now": settings.clock,
            "limits": settings.limits,
            "citations": settings.citations,
            "sources": SourceRegistry(),
            "events": EventLog(lambda event: None),
            "user": ApprovingUser(),
            "models": self.models,
            "tools": self.tools,
            "web": self.web,
            "checkpointer": self.checkpointer,
            "store": self.store,
        }
        return Session(**{**fields, **own})


@asynccontextmanager
async def open_resources(
    settings: RunSettings, collections: Sequence[str] = (), recorder: Recorder | None = None
) -> AsyncIterator[Resources]:
    """Start and open everything; `collections`: those that questions name; `recorder`: one that is already open.

    Raises RunAborted, in one line, if the model's endpoint refuses connections.
    """
    from aiq.llm.models import RunModels
    from aiq.llm.transport import open_client
    from aiq.tools.toolbox import build_web, open_toolbox

    async with AsyncExitStack() as exit_stack:
        if recorder is None:
            recorder = exit_stack.enter_context(open_recorder(settings))
        telemetry = await exit_stack.enter_async_context(_open_telemetry(settings.telemetry, recorder))
        libraries = asyncio.get_running_loop().run_in_executor(None, _load_libraries)
        port = None
        if needs_offline_stack(settings) and not recorder.replays:
            stack = plugins.load(settings.offline.target, "offline.target")(settings.offline, settings.seed)
            exit_stack.push_async_callback(stack.stop)
            port = await stack.start()
        forms = Forms(recorder.about.get("structured"))
        client = await exit_stack.enter_async_context(
            open_client(
                settings.llm,
                offline_port=port,
                forms=forms,
                wrap=recorder.transport,
                replayed=recorder.replays,
                other_connections=settings.web.max_connections,
                share=1 / settings.shard.of if settings.shard else 1.0,
            )
        )
        models = RunModels(settings.llm, client)
        if not recorder.replays:
            await models.check()
        web = build_web(settings, client, recorder.transport)
        open_web = settings.changed("web", deny=())
        judges_web = build_web(open_web, client, recorder.transport) if settings.web.deny else web
        await libraries
        tools = await exit_stack.enter_async_context(open_toolbox(settings, web, client, recorder, collections))
        saver = await exit_stack.enter_async_context(open_checkpointer(settings.checkpointer))
        store = await exit_stack.enter_async_context(lazy_store(settings.checkpointer))
        yield Resources(models, tools, web, judges_web, saver, store, forms, recorder, telemetry, port)


@asynccontextmanager
async def _open_telemetry(settings: TelemetrySettings, recorder: Recorder) -> AsyncIterator[Telemetry | None]:
    """None if nothing is to be sent, as in a replay, which opens no connection. Reports losses on stderr at its end."""
    if settings.otlp_endpoint is None or recorder.replays:
        yield None
        return
    telemetry = Telemetry(settings)
    try:
        yield telemetry
    finally:
        if losses := await asyncio.to_thread(telemetry.close):
            say(f"aiq: {losses}")


def needs_offline_stack(settings: RunSettings) -> bool:
    """Whether any endpoint of the run has a reserved host name, which the offline stack answers."""
    urls = (settings.llm.base_url, settings.search.base_url)
    return settings.web.kind == "offline" or any(is_offline(urlsplit(url or "").hostname or "") for url in urls)


def is_offline_model(settings: RunSettings) -> bool:
    """Whether the offline model answers, here or at an endpoint that `aiq offline` serves."""
    return is_offline(urlsplit(settings.llm.base_url).hostname or "") or is_offline_name(settings.llm.model)


def is_offline_name(model: str) -> bool:
    """Whether a model with this name is the offline one, wherever it is served."""
    return model.startswith("offline-")


def check_models(llm: LlmSettings, setting: str, models: Iterable[str]) -> None:
    """Raises ConfigError if the offline model would answer under another model's name."""
    if not is_offline(urlsplit(llm.base_url).hostname or ""):
        return
    for model in models:
        if not model.startswith("offline"):
            name = model if setting == "llm.model" else "MODEL"
            raise ConfigError(
                f"{setting}: '{model}' would be the offline model under another name, because llm=offline; add "
                f"llm=openai llm.model={name}, and llm.base_url=ADDRESS if it is not OpenAI's"
            )


def _load_libraries() -> None:
    """Import, while the stack starts, what would otherwise be counted in the first attempt's time (1 to 3 s)."""
    if not sys.modules.keys() & {"aiq.agents.ai_q", "aiq.agents.shannon"}:  # these do not use a stock client
        import openai.resources.chat.completions.completions  # noqa: F401  the client would load it on its first call
    if "langgraph" in sys.modules:
        import aiq.llm.chat  # noqa: F401
