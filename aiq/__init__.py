"""aiq: an evaluation harness for deep-research agents that ships the agents it measures."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiq.runs.frames import load_runs as load_runs

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`aiq.load_runs`, imported when it is first asked for."""
    if name == "load_runs":
        from aiq.runs.frames import load_runs

        return load_runs
    raise AttributeError(f"module 'aiq' has no attribute '{name}'")
