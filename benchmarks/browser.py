"""The browser of this machine, for Playwright to drive, which brings none of its own."""

import shutil

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Browsers to try, the cheapest first: headless Chromium takes half the processor time."""


def installed_browser() -> str | None:
    """The path of its program; None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)
