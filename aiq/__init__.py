"""aiq: an evaluation harness for deep-research agents that ships the agents it measures."""

__version__ = "0.1.0"
