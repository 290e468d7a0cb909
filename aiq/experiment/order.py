"""The order in which people expect names with numbers in them: s2 before s10."""

import re


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key: runs of digits count as numbers and come before other text."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts)
