"""aiq: an evaluation harness for deep-research agents that ships the agents it measures."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiq.experiment.compose import settings as settings
    from aiq.run import run_experiment
    from aiq.runs.frames import load_runs as load_runs

    run = run_experiment

__version__ = "0.1.0"


_MODULES = {"load_runs": "aiq.runs.frames", "settings": "aiq.experiment.compose"}


def __getattr__(name: str) -> Any:
    """`aiq.load_runs`, `aiq.run` and `aiq.settings`, imported on first use."""
    if name == "run":
        return importlib.import_module("aiq.run")  # a module that can be called
    if name not in _MODULES:
        raise AttributeError(f"module 'aiq' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULES[name]), name)
