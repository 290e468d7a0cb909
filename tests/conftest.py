"""What all tests share: the socket guard, the folder of real benchmark data, and generated cases without a clock."""

import gc
import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from aiq.core.garbage import STARTUP_THRESHOLD
from aiq.offline.launch import OfflineStack, page_files
from aiq.offline.protocol.chat_completions import CONTEXT_TOKENS
from tests.composed_once import compose_once
from tests.forked import STACK

_REPOSITORY = Path(__file__).resolve().parent.parent
BUSY_MS = 60_000
"""Milliseconds that anything in a browser may take: a busy machine fails no test."""
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""What draws pages, the cheapest first: without windows it takes half the processor time."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a busy machine fails no test


_PARTS = {"citations", "core", "datasets", "judges", "llm", "offline", "runs", "stats", "tools"}
"""Folders whose tests are of one part of aiq; all others do whole runs, or have an agent do research."""
_SLOW_FIXTURES = {"offline_port", "shared_data", "world_port"}
"""They start processes, or bring real reports by the hundred."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make fast` leaves out: tests of more than one part, with such a fixture, or over generated cases.

    These run first: at the end each of several workers would wait for another's last one.
    """
    for item in items:
        generated = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        folder = item.path.relative_to(_REPOSITORY / "tests").parts[0]
        if folder not in _PARTS or generated or _SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_runtest_setup() -> None:
    """Tables are as wide as their contents: readline leaves the terminal's width to all that follows."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """No test may reach another machine: connections to anything but loopback are an error."""
    real_connect = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            raise AssertionError(f"a test tried to connect to {address[0]}; only loopback is allowed")
        real_connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", connect)
    yield
    patch.undo()


_WHOLE_PROMPTS = ("--context-tokens", str(CONTEXT_TOKENS))
"""The options of the stack that nearly all runs use."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Workers use one stack, which their controller starts: that takes seconds of computing, and so does its warmth."""
    if not hasattr(node.config, "one_stack"):
        running = port_of_stack(page_files(None, [])[0], *_WHOLE_PROMPTS)
        node.config.one_stack = next(running)
        node.config.add_cleanup(lambda: next(running, None))
    node.workerinput["one_stack"] = node.config.one_stack


@pytest.fixture(scope="session", autouse=True)
def one_stack(pytestconfig: pytest.Config) -> Iterator[Callable[..., int]]:
    """The port of an offline stack of the shipped world by its options, which all runs of this process share.

    Its answers depend on requests alone, its faults on their seed too. Runs over other pages start their own, and so do
    runs in processes of their own, if STACK names none to them.
    """
    given = getattr(pytestconfig, "workerinput", {})
    shared: dict[tuple[str, ...], tuple[Iterator[int], int]] = {}
    if "one_stack" in given:
        shared[_WHOLE_PROMPTS] = iter(()), given["one_stack"]
    start = OfflineStack.start

    def port(*options: str) -> int:
        if options not in shared:
            running = port_of_stack(page_files(None, [])[0], *options)
            shared[options] = running, next(running)
        return shared[options][1]

    async def start_or_share(self: OfflineStack) -> int:
        settings = self._settings
        if settings.world or settings.pages:
            return await start(self)
        faults = {name: rate for name, rate in settings.faults.items() if rate}
        drawn = ("--seed", str(self._seed), "--faults", json.dumps(faults)) if faults else ()
        return port("--context-tokens", str(settings.context_tokens), *drawn)

    patch = pytest.MonkeyPatch()
    patch.setattr(OfflineStack, "start", start_or_share)
    yield port
    patch.undo()
    for running, _ in shared.values():
        next(running, None)


def pytest_configure(config: pytest.Config) -> None:
    """From the start, since tests are composed for while they are collected, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore Ctrl-C
    gc.set_threshold(STARTUP_THRESHOLD)
    patch = pytest.MonkeyPatch()
    compose_once(patch)
    config.add_cleanup(patch.undo)


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the end: to look for garbage in it took a fifth of all tests."""
    gc.freeze()


def port_of_stack(pages: Path, *options: str) -> Iterator[int]:
    """The port of an offline stack with these options, a process that ends with the generator."""
    command = [sys.executable, "-m", "aiq.offline", "--pages", str(pages), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        yield int(json.loads(child.stdout.readline())["port"])
        child.stdin.close()


@pytest.fixture(scope="session")
def world_port(one_stack: Callable[..., int]) -> int:
    """The port of a stack over the shipped pages."""
    return one_stack(*_WHOLE_PROMPTS)


@pytest.fixture
def children_share_a_stack(world_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of `tests.forked` use the stack of this one, which takes them seconds to start."""
    monkeypatch.setenv(STACK, str(world_port))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser of this machine, driven by Playwright, beside whose loop no test of the module can run its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no chromium on this machine")
    playwright.expect.set_options(timeout=BUSY_MS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def window(chromium: Any) -> Any:
    """What pages are opened in."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    context.set_default_timeout(BUSY_MS)
    return context


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real benchmark data beside the checkout; tests that need it skip where it is absent."""
    folder = _REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no ../shared/data beside the checkout")
    return folder


def blocks(page: str, languages: Sequence[str]) -> Iterator[str]:
    """The code blocks of a Markdown page in these languages; an indented block has the language ``."""
    for fence in re.finditer(r"^```(\w*)\n(.*?)^```$|^((?: {4}.*\n)+)", page, re.DOTALL | re.MULTILINE):
        language, fenced, indented = fence.groups()
        if (language or "") in languages:
            yield fenced if indented is None else textwrap.dedent(indented)
