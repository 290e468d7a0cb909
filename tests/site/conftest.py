"""A real browser for the pages."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Browser = Callable[..., subprocess.CompletedProcess[str]]
"""(file, options) -> the page as HTML after it was loaded, on stdout, and what it logged, on stderr."""

InBrowser = Callable[..., str]
"""(page, script, window size) -> the page as HTML after the script ran at its end."""

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no chromium on this machine")

    def opened(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
        own = (f"--user-data-dir={tmp_path / 'profile'}", *options, "--dump-dom", file.as_uri())
        return subprocess.run([program, *_OPTIONS, *own], capture_output=True, text=True, timeout=120, check=True)

    return opened


@pytest.fixture
def in_browser(browser: Browser, tmp_path: Path) -> InBrowser:
    def shown(page: str, script: str, size: str = "1400,900") -> str:
        file = tmp_path / "page.html"
        assert page.count("</body>") == 1
        file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        return browser(file, f"--window-size={size}").stdout

    return shown
