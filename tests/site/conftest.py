"""A real browser for the pages."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

InBrowser = Callable[..., str]
"""(page, script, window size) -> the page as HTML after the script ran at its end."""

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture
def in_browser(tmp_path: Path) -> InBrowser:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium on this machine")

    def shown(page: str, script: str, size: str = "1400,900") -> str:
        file = tmp_path / "page.html"
        assert page.count("</body>") == 1
        file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        own = (f"--window-size={size}", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri())
        command = [browser, *_OPTIONS, *own]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    return shown
