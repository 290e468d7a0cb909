"""Run an experiment, or a sweep of them with -m.

aiq run experiment=shallow_freshqa limit=10
aiq run -m experiment=shallow_freshqa agent.shallow.max_tool_iterations=1,3,5
aiq run resume=results/shallow_freshqa/RUN_ID
"""

from aiq.run import add_arguments, run

__all__ = ["add_arguments", "run"]
