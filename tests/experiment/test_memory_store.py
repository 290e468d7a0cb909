"""The store of memories as a run opens it: once, on first use; with and without SQLite's extensions."""

import asyncio
import importlib
import logging
import math
import sqlite3
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from aiq.core.run_settings import CheckpointerSettings
from aiq.experiment.memory_store import cosine_distance, lazy_store
from tests.settings import configured

LOADS = hasattr(sqlite3.Connection, "enable_load_extension")


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def settings(tmp_path: Path, **given: Any) -> CheckpointerSettings:
    return configured(CheckpointerSettings, **{"kind": "sqlite", "path": str(tmp_path / "c.db"), **given})


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [((1, 0), (2, 0), 0), ((1, 0), (0, 1), 1), ((1, 2), (-1, -2), 2), ((3, 4), (4, 3), 1 - 24 / 25)],
)
def test_the_distance_is_one_minus_the_cosine(one: Any, other: Any, distance: float) -> None:
    assert cosine_distance(packed(*one), packed(*other)) == pytest.approx(distance, abs=1e-12)


def test_a_vector_of_zeros_has_no_distance() -> None:
    assert cosine_distance(packed(0, 0), packed(1, 0)) is None


@pytest.mark.skipif(not LOADS, reason="this Python's SQLite loads no extensions")
def test_our_distance_equals_that_of_the_extension() -> None:
    sqlite_vec: Any = importlib.import_module("sqlite_vec")
    with sqlite3.connect(":memory:") as database:
        database.enable_load_extension(True)
        sqlite_vec.load(database)
        for seed in range(1, 20):
            x, y = (packed(*(math.sin(seed * k * n) for n in range(64))) for k in (1, 2))
            ((distance,),) = database.execute("SELECT vec_distance_cosine(?, ?)", (x, y)).fetchall()
            assert cosine_distance(x, y) == pytest.approx(distance, abs=1e-6)


async def test_the_store_is_opened_once_and_only_on_first_use(tmp_path: Path) -> None:
    n_threads = threading.active_count()
    async with lazy_store(settings(tmp_path)) as store:
        assert not (tmp_path / "c.db").exists()
        assert threading.active_count() == n_threads
        stores = await asyncio.gather(*(store() for _ in range(5)))
        assert len({id(opened_store) for opened_store in stores}) == 1
        await stores[0].aput(("a",), "k", {"v": 1}, index=False)
        assert (await stores[0].aget(("a",), "k")).value == {"v": 1}
    assert (tmp_path / "c.db").exists()


async def test_several_processes_can_create_the_tables_concurrently(tmp_path: Path) -> None:
    async def write(number: int) -> int:
        async with lazy_store(settings(tmp_path)) as store:
            await (await store()).aput(("a",), str(number), {"v": number}, index=False)
            return number

    assert await asyncio.gather(*map(write, range(6))) == list(range(6))
    async with lazy_store(settings(tmp_path)) as store:
        assert len(await (await store()).asearch(("a",), limit=10)) == 6


async def test_postgres_keeps_no_memories_and_a_run_that_needs_them_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with lazy_store(settings(tmp_path, kind="postgres", dsn_env="AIQ_TEST_DSN")) as store:
        assert caplog.records == []
        await store()
        await store()
        await (await store()).aput(("a",), "k", {"v": 1}, index=False)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == ["checkpointer=postgres: what agents remember ends with the run; checkpointer=sqlite keeps it"]
    assert not (tmp_path / "c.db").exists()
