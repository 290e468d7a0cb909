"""An exchange: a request to the outside, and how it ended."""

import hashlib
from dataclasses import astuple, dataclass
from typing import Final

GIVEN_UP: Final = "given up"
"""The error of an exchange whose caller did not wait for the end; then a colon and the seconds a replay must wait."""

TIME_UP: Final = "time up"
"""The error of an exchange in flight when `limits.sample_seconds` were up."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and how it ended: an answer (`status`), an answer that broke off (and `error`), or only `error`.

    Bodies are without content encoding, headers limited to the allow-lists, and secrets removed. `error` is the name of
    the failure, a colon, and its message. `role`: who asked a model, empty for other requests. The call of a tool that
    does not use HTTP has the method TOOL, and its arguments and result as bodies.
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
        """128 bits of the SHA-256 of all fields."""
        return hashlib.sha256(repr(astuple(self)).encode("utf-8", "backslashreplace")).digest()[:16]
