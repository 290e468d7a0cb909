"""An exchange: what was asked of the outside, and what came of it."""

import hashlib
from dataclasses import astuple, dataclass
from typing import Final

GIVEN_UP: Final = "given up"
"""The error of an exchange that whoever asked did not wait for; after a colon how many seconds a replay is to wait."""

TIME_UP: Final = "time up"
"""The error of an exchange under way when `limits.sample_seconds` were up."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what came of it: an answer (`status`), an answer that broke off (and `error`), or only `error`.

    Bodies are as they were without content encoding, headers those of the allow-lists, secrets are gone. `error` is the
    name of the failure, a colon, and its message. `role`: who asked a model, empty for other requests. The call of a
    tool that speaks no HTTP has the method TOOL, its arguments and its result as bodies.
    """

    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: bytes = b""
    status: int | None = None
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""
    error: str | None = None
    role: str = ""

    @property
    def digest(self) -> bytes:
        """128 bits of SHA-256 over all of it."""
        return hashlib.sha256(repr(astuple(self)).encode("utf-8", "backslashreplace")).digest()[:16]
