"""Where shipped files are: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str) -> Path:
    """The folder `conf` or `benchmarks` (or a path below one) that came with aiq.

    In a checkout it lies beside the package, in a wheel under `aiq/_shipped`.
    """
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.exists() else _PACKAGE.parent / name


def resolve(path: str) -> Path:
    """A path from config: as it stands, or the shipped file where it starts with `benchmarks/` and is not here."""
    here = Path(path).expanduser()
    if not here.exists() and path.startswith("benchmarks/") and shipped(path).exists():
        return shipped(path)
    return here
