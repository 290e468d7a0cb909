"""Keys of endpoints, from the environment variables that config names. Their values reach no message."""

import os
import re

from aiq.core.errors import ConfigError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_key(variable: str, setting: str) -> str:
    """The key in the environment variable that `setting` names.

    Raises ConfigError when `variable` is no name of one (it may be the key itself, so it is not
    repeated), when it is not set, and when its value cannot stand in an HTTP header.
    """
    if not _VARIABLE.fullmatch(variable):
        raise ConfigError(f"{setting} must be the name of an environment variable that holds the key, not the key")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(f"{setting}={variable}: this environment variable is not set; export the key")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{setting}={variable}: its value is no key: it has spaces, line breaks or letters of no key")
    return key
