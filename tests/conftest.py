"""What all tests share: the socket guard, one offline stack, the browser, real benchmark data, and no deadlines."""

import gc
import ipaddress
import json
import os
import re
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
from benchmarks.browser import installed_browser
from tests.composed_once import compose_once
from tests.forked import STACK

_REPOSITORY = Path(__file__).resolve().parent.parent
BUSY_MS = 60_000
"""Milliseconds that anything in a browser may take: long, so that no test fails on a busy machine."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # so that no test fails on a busy machine


_PARTS = {"citations", "core", "datasets", "judges", "llm", "offline", "runs", "stats", "tools"}
"""Folders whose tests exercise a single part of aiq; the others do whole runs or let an agent do research."""
_SLOW_FIXTURES = {"offline_port", "shared_data", "world_port"}
"""Fixtures that start processes or load hundreds of real reports."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make fast` leaves out: tests of several parts, with slow fixtures, or over generated cases.

    They run first: at the end, one of them would keep the other workers waiting.
    """
    for item in items:
        generated = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        folder = item.path.relative_to(_REPOSITORY / "tests").parts[0]
        if folder not in _PARTS or generated or _SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_runtest_setup() -> None:
    """Unset COLUMNS, which readline sets to the terminal's width: tables must be as wide as their contents."""
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
"""The options of the offline stack that nearly all runs use."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The controller starts one stack for all workers: starting it and warming it up takes seconds of computing."""
    if not hasattr(node.config, "one_stack"):
        stack = port_of_stack(page_files(None, [])[0], *_WHOLE_PROMPTS)
        node.config.one_stack = next(stack)
        node.config.add_cleanup(lambda: next(stack, None))
    node.workerinput["one_stack"] = node.config.one_stack


@pytest.fixture(scope="session", autouse=True)
def one_stack(pytestconfig: pytest.Config) -> Iterator[Callable[..., int]]:
    """A function from options to the port of an offline stack over the shipped world, shared by this process's runs.

    Its answers depend only on the requests, its faults also on their seed. Runs over other pages start their own
    stack, and so do runs in child processes unless STACK names one.
    """
    worker_input = getattr(pytestconfig, "workerinput", {})
    stacks: dict[tuple[str, ...], tuple[Iterator[int], int]] = {}
    if "one_stack" in worker_input:
        stacks[_WHOLE_PROMPTS] = iter(()), worker_input["one_stack"]
    start = OfflineStack.start

    def port(*options: str) -> int:
        if options not in stacks:
            stack = port_of_stack(page_files(None, [])[0], *options)
            stacks[options] = stack, next(stack)
        return stacks[options][1]

    async def start_or_share(self: OfflineStack) -> int:
        settings = self._settings
        if settings.world or settings.pages:
            return await start(self)
        faults = {name: rate for name, rate in settings.faults.items() if rate}
        fault_options = ("--seed", str(self._seed), "--faults", json.dumps(faults)) if faults else ()
        return port("--context-tokens", str(settings.context_tokens), *fault_options)

    patch = pytest.MonkeyPatch()
    patch.setattr(OfflineStack, "start", start_or_share)
    yield port
    patch.undo()
    for stack, _ in stacks.values():
        next(stack, None)


def pytest_configure(config: pytest.Config) -> None:
    """Cache composing from the start, because configs are composed during collection, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes its background jobs ignore Ctrl-C
    gc.set_threshold(STARTUP_THRESHOLD)
    patch = pytest.MonkeyPatch()
    compose_once(patch)
    config.add_cleanup(patch.undo)


def pytest_collection_finish() -> None:
    """Exempt what exists before the first test from garbage collection, which took a fifth of the time of all tests."""
    gc.freeze()


def port_of_stack(pages: Path, *options: str) -> Iterator[int]:
    """Start an offline stack with these options and yield its port; the process ends with the generator."""
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
    """Let processes of `tests.forked` use this process's stack: starting their own would take seconds."""
    monkeypatch.setenv(STACK, str(world_port))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """This machine's browser, driven by Playwright, whose event loop keeps the module's tests from running theirs."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (program := installed_browser()) is None:
        pytest.skip("no chromium on this machine")
    playwright.expect.set_options(timeout=BUSY_MS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def window(chromium: Any) -> Any:
    """The browser context that pages are opened in."""
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
    """The code blocks of a Markdown page in these languages; the language of an indented block is the empty string."""
    for fence in re.finditer(r"^```(\w*)\n(.*?)^```$|^((?: {4}.*\n)+)", page, re.DOTALL | re.MULTILINE):
        language, fenced, indented = fence.groups()
        if (language or "") in languages:
            yield fenced if indented is None else textwrap.dedent(indented)
