"""The pytest plugin: the fixture `aiq_cassette`, whose recordings answer a test's agent instead of the network.

It is loaded by every pytest where aiq is installed, so it imports nothing before a test asks for the fixture.
"""

from collections.abc import Generator, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from aiq.testing import AiqCassette

_MODES: Final = ("off", "record", "replay", "auto", "refresh")
_MARKER: Final = (
    'aiq_cassette(dir="cassettes", mode="replay", ignored=()): of the fixture of that name: the folder of recordings '
    "beside the test's file, the mode without --aiq-cassette, and what may vary of requests"
)
_CASSETTE: Final = pytest.StashKey["AiqCassette"]()
_PASSED: Final = pytest.StashKey[bool]()
_ENDS: Final = (Exception, pytest.fail.Exception, pytest.skip.Exception)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("aiq").addoption(
        "--aiq-cassette",
        metavar="MODE",
        choices=_MODES,
        help="what aiq_cassette does, whatever markers say: replay (default), record, auto (record what is new), "
        "refresh (and forget what is not asked for), off",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def aiq_cassette(request: pytest.FixtureRequest) -> "Iterator[AiqCassette]":
    """The test's cassette: what goes through `client`, `openai()` and `research()` is recorded, or replayed."""
    from aiq.core.errors import UserError
    from aiq.testing import AiqCassette, safe_name

    item, path = request.node, request.path
    options = _options(item)
    within = "::".join(node.name for node in item.listchain() if isinstance(node, pytest.Class | pytest.Item))
    folder = path.parent / options["dir"] / path.stem / safe_name(within)
    try:
        cassette = AiqCassette(folder, item.nodeid, options["mode"], options["ignored"])
    except UserError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    item.stash[_CASSETTE], item.stash[_PASSED] = cassette, False
    yield cassette
    passed = item.stash[_PASSED]
    for note in cassette.close(passed=passed):
        item.warn(pytest.PytestWarning(note))
    if passed and (missed := cassette.missed):  # by a fixture that ended after the test
        pytest.fail(str(missed), pytrace=False)


def _options(item: pytest.Item) -> dict[str, Any]:
    """What the command line says, then the closest marker, then the plugin."""
    known: dict[str, Any] = {"dir": "cassettes", "mode": "replay", "ignored": ()}
    options: dict[str, Any] = {}
    for marker in item.iter_markers("aiq_cassette"):
        options = {**marker.kwargs, **options}
        if marker.args or not options.keys() <= known.keys():
            pytest.fail(f"{item.nodeid}: the marker aiq_cassette takes {', '.join(known)}, by name", pytrace=False)
    options = {**known, **options, "mode": item.config.getoption("--aiq-cassette") or options.get("mode", "replay")}
    listed = isinstance(options["ignored"], list | tuple) and all(isinstance(name, str) for name in options["ignored"])
    if options["mode"] not in _MODES or not listed or not isinstance(options["dir"], str | PathLike):
        modes = ", ".join(_MODES)
        text = f"{item.nodeid}: aiq_cassette: dir is a path, mode one of {modes}, and ignored a list of names"
        pytest.fail(text, pytrace=False)
    return options


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Other fixtures may ask for something, too."""
    return (yield from _watched(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test has passed where it did not ask for anything in vain."""
    result = yield from _watched(item)
    item.stash[_PASSED] = True
    return result


def _watched(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail with what was asked for in vain, whatever the test or its fixtures made of that."""
    try:
        result = yield
    except _ENDS as error:
        _fail_for_missed(item, error)
        raise
    _fail_for_missed(item)
    return result


def _fail_for_missed(item: pytest.Item, error: BaseException | None = None) -> None:
    """Say nothing where the test fails with that by itself: its traceback says more."""
    cassette = item.stash.get(_CASSETTE, None)
    missed = cassette.missed if cassette else None
    if missed and missed is not error:
        raise pytest.fail.Exception(str(missed), pytrace=False) from None
