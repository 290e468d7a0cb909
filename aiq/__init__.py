"""aiq: an evaluation harness for deep-research agents that ships the agents it measures."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiq.experiment.compose import settings as settings
    from aiq.runs.reader import load_runs as load_runs

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`aiq.load_runs` and `aiq.settings`, imported when they are first asked for."""
    if name == "load_runs":
        from aiq.runs.reader import load_runs

        return load_runs
    if name == "settings":
        from aiq.experiment.compose import settings

        return settings
    raise AttributeError(f"module 'aiq' has no attribute '{name}'")
