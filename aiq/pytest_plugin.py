"""The pytest plugin: the fixture `aiq_cassette`, which answers a test's agent from recordings, not the network.

Every pytest loads it where aiq is installed, so it imports nothing until a test asks for the fixture.
"""

from collections.abc import Generator, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from aiq.testing import AiqCassette

_MODES: Final = ("off", "record", "replay", "auto", "refresh")
_MARKER: Final = (
    'aiq_cassette(dir="cassettes", mode="replay", ignored=()): options of the fixture: the folder of recordings '
    "beside the test's file, the mode unless --aiq-cassette is given, and the parts of requests that may differ"
)
_CASSETTE: Final = pytest.StashKey["AiqCassette"]()
_PASSED: Final = pytest.StashKey[bool]()
_OUTCOMES: Final = (Exception, pytest.fail.Exception, pytest.skip.Exception)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("aiq").addoption(
        "--aiq-cassette",
        metavar="MODE",
        choices=_MODES,
        help="what aiq_cassette does, overriding markers: replay (default), record, auto (record what is new), "
        "refresh (also forget what is no longer requested), off",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def aiq_cassette(request: pytest.FixtureRequest) -> "Iterator[AiqCassette]":
    """The test's cassette: records or replays what goes through `client`, `openai()` and `research()`."""
    from aiq.core.errors import UserError
    from aiq.testing import AiqCassette, safe_name

    item, path = request.node, request.path
    options = _options(item)
    test_name = "::".join(node.name for node in item.listchain() if isinstance(node, pytest.Class | pytest.Item))
    folder = path.parent / options["dir"] / path.stem / safe_name(test_name)
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
    """The options, from the command line, else the closest marker, else the plugin's defaults."""
    known: dict[str, Any] = {"dir": "cassettes", "mode": "replay", "ignored": ()}
    options: dict[str, Any] = {}
    for marker in item.iter_markers("aiq_cassette"):
        options = {**marker.kwargs, **options}
        if marker.args or not options.keys() <= known.keys():
            pytest.fail(f"{item.nodeid}: the marker aiq_cassette takes only {', '.join(known)}, by name", pytrace=False)
    options = {**known, **options, "mode": item.config.getoption("--aiq-cassette") or options.get("mode", "replay")}
    valid = isinstance(options["ignored"], list | tuple) and all(isinstance(name, str) for name in options["ignored"])
    if options["mode"] not in _MODES or not valid or not isinstance(options["dir"], str | PathLike):
        modes = ", ".join(_MODES)
        message = f"{item.nodeid}: aiq_cassette: dir must be a path, mode one of {modes}, ignored a list of names"
        pytest.fail(message, pytrace=False)
    return options


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Other fixtures may make requests, too."""
    return (yield from _run_checked(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test passes only if each of its requests was recorded."""
    result = yield from _run_checked(item)
    item.stash[_PASSED] = True
    return result


def _run_checked(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail with the requests that were not recorded, even if the test or its fixtures caught the error."""
    try:
        result = yield
    except _OUTCOMES as error:
        _fail_for_missed(item, error)
        raise
    _fail_for_missed(item)
    return result


def _fail_for_missed(item: pytest.Item, error: BaseException | None = None) -> None:
    """Do nothing if the test itself fails with that error: its traceback says more."""
    cassette = item.stash.get(_CASSETTE, None)
    missed = cassette.missed if cassette else None
    if missed and missed is not error:
        raise pytest.fail.Exception(str(missed), pytrace=False) from None
