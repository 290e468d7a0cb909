"""A generated world for the tests of its properties."""

from pathlib import Path

import pytest

from aiq.offline.world.command import generate
from aiq.offline.world.entities import World
from aiq.offline.world.regions import build_world

SHIPPED = {"seed": 0, "questions": 120, "tasks": 12}


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped world, written anew."""
    folder = tmp_path_factory.mktemp("world")
    generate(folder, **SHIPPED)
    return folder


@pytest.fixture(scope="session")
def world() -> World:
    """The shipped world before it is rendered."""
    return build_world(0, english=8, chinese=4)
