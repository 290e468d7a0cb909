"""Seeds derived from names, so that equal things draw equal numbers on every machine."""

import hashlib


def derive(*parts: object) -> int:
    """A seed in 0 .. 2**31 - 1 from the parts' text; order and boundaries of the parts matter."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & 0x7FFF_FFFF
